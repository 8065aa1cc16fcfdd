// Constants from the result of a benchmark, in the place of those that ship. A name that the model does
// not know is refused, so that a misspelt name does not leave the old value in place.
import { z } from 'zod'
import { nearestName } from '../../../server/src/platform/config/nearest-name.ts'
import { CONSTANT_NAMES, type ConstantName } from './constant-names.ts'
import type { Constant, Constants, Read } from './constants.ts'

/** Other fields of a result are ignored. */
const result = z.object({
  command: z.string().optional(),
  date: z.string().optional(),
  versions: z.object({ commit: z.string().optional() }).optional(),
  machine: z
    .union([z.string(), z.object({ cpu: z.string(), cores: z.number(), memoryBytes: z.number() })])
    .optional(),
  constants: z.record(z.string(), z.object({ value: z.number().positive().finite() })),
})

/** The constants with those of a result in their place. */
export function withMeasured(constants: Constants, text: string, path: string): Read<Constants> {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return { ok: false, problem: `${path} is not JSON` }
  }
  const parsed = result.safeParse(json)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    return { ok: false, problem: `${path}: ${issue?.path.join('.') || 'the result'}: ${issue?.message}` }
  }
  const { constants: measured, ...origin } = parsed.data
  const names = Object.keys(measured)
  if (names.length === 0) return { ok: false, problem: `${path} holds no constants` }
  const unknown = names.find((name) => !isConstant(name))
  if (unknown !== undefined) {
    const guess = nearestName(unknown, CONSTANT_NAMES)
    const hint = guess === null ? '' : `; did you mean ${guess}?`
    return { ok: false, problem: `${path}: there is no constant ${unknown}${hint}` }
  }
  const merged = new Map(constants)
  for (const name of names.filter(isConstant)) {
    // More digits would claim more than was measured.
    const value = Number(measured[name]!.value.toPrecision(4))
    merged.set(name, { ...constants.get(name)!, value, ...placeOf(origin, path) })
  }
  return { ok: true, value: merged }
}

const isConstant = (name: string): name is ConstantName =>
  (CONSTANT_NAMES as readonly string[]).includes(name)

type Origin = Omit<z.infer<typeof result>, 'constants'>

function placeOf(origin: Origin, path: string): Pick<Constant, 'from' | 'machine' | 'measuredAt'> {
  const { command, date, machine, versions } = origin
  const commit = versions?.commit === undefined ? '' : `, commit ${versions.commit}`
  const words =
    typeof machine === 'object'
      ? `${machine.cores} cores of ${machine.cpu}, ${Math.round(machine.memoryBytes / 2 ** 30)} GiB`
      : machine
  return {
    from: `${command ?? path}${commit}`,
    machine: words ?? null,
    measuredAt: date?.slice(0, 10) ?? null,
  }
}
