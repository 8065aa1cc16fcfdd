// The constants of the capacity model, each with where it comes from: a command that measures it, the
// machine and the day, or "assumption". The model has no other numbers.
import { z } from 'zod'
import { CONSTANT_NAMES, type ConstantName } from './constant-names.ts'
import table from './constants.json' with { type: 'json' }

const ASSUMPTION = 'assumption'

export interface Constant {
  name: ConstantName
  value: number
  unit: string
  /** The command that measures it, or "assumption". */
  from: string
  /** Null for an assumption. */
  machine: string | null
  measuredAt: string | null
}

export type Constants = ReadonlyMap<ConstantName, Constant>

export type Read<Value> = { ok: true; value: Value } | { ok: false; problem: string }

const positive = z.number().positive().finite()

const rows = z.array(
  z.strictObject({
    name: z.enum(CONSTANT_NAMES),
    value: positive,
    unit: z.string().min(1),
    from: z.string().min(1),
    machine: z.string().nullable(),
    measuredAt: z.string().nullable(),
  }),
)

/** The table that ships. A missing row is a bug, so it throws. */
export function shippedConstants(): Constants {
  const constants = new Map(rows.parse(table).map((constant) => [constant.name, constant]))
  for (const name of CONSTANT_NAMES) if (!constants.has(name)) throw new Error(`${name} has no value`)
  return constants
}

export const isAssumption = ({ from }: Pick<Constant, 'from'>): boolean => from === ASSUMPTION
