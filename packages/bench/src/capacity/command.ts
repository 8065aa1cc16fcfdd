// `greendot capacity`: how many machines a number of people take, by the model and its constants. It
// asks no server and changes nothing; what it prints says where every figure comes from.

import {
  type Command,
  EXIT,
  type ExitCode,
  misuse,
  takeOptions,
  type World,
} from '../../../server/src/cli/command.ts'
import { shippedConstants } from './constants.ts'
import { withMeasured } from './measured.ts'
import { plan } from './model.ts'
import { describeConstants, describePlan, jsonOf } from './report.ts'
import { nearestFlag, readWorkload, WORKLOAD_FLAGS } from './workload.ts'

const SWITCHES = [
  { name: 'kafka', sign: null, help: 'adds what Kafka between gateways and trackers would carry' },
  { name: 'constants', sign: null, help: 'prints the constants and where they come from' },
  { name: 'json', sign: null, help: 'prints everything as JSON' },
] as const
const MEASURED = {
  name: 'measured',
  sign: '<result.json>',
  help: 'takes constants from a benchmark of yours; several with commas',
}

export const capacity: Command = {
  name: 'capacity',
  summary: 'computes how many machines so many people take',
  about: [
    'As in: greendot capacity --users 50000000 --contacts 100 --online 0.3',
    'Rates are those of the busiest hour. docs/capacity.md explains the model.',
  ],
  options: [...WORKLOAD_FLAGS.map(({ name, help }) => ({ name, sign: '<n>', help })), MEASURED, ...SWITCHES],
  takesSettings: false,
  run,
}

async function run(argv: readonly string[], world: World): Promise<ExitCode> {
  const taken = takeOptions(capacity, argv)
  if (!taken.ok) return misuse(taken.problem, world)
  const { values, rest } = taken
  const [stray] = rest
  if (stray !== undefined) return misuse(strayProblem(stray), world)
  const isOn = (name: string) => values.get(name) === 'on'

  let constants = shippedConstants()
  for (const path of values.get(MEASURED.name)?.split(',') ?? []) {
    const text = world.readFile(path)
    if (text === null) return misuse(`--measured: there is no file ${path}`, world)
    const measured = withMeasured(constants, text, path)
    if (!measured.ok) return misuse(`--measured: ${measured.problem}`, world)
    constants = measured.value
  }
  if (isOn('constants')) {
    if (isOn('json')) world.print(JSON.stringify([...constants.values()], null, 2))
    else for (const line of describeConstants(constants.values())) world.print(line)
    return EXIT.ok
  }

  const workload = readWorkload(values)
  if (!workload.ok) return misuse(workload.problem, world)
  const planned = plan(workload.value, constants)
  if (!planned.ok) {
    world.complain(planned.problem)
    return EXIT.failed
  }
  const options = { hasKafka: isOn('kafka') }
  if (isOn('json')) world.print(JSON.stringify(jsonOf(planned.value, constants, options), null, 2))
  else for (const line of describePlan(planned.value, constants, options)) world.print(line)
  return EXIT.ok
}

function strayProblem(stray: string): string {
  if (!stray.startsWith('--')) return 'capacity takes flags only, as in: greendot capacity --users 1000000'
  const guess = nearestFlag(
    stray,
    [MEASURED, ...SWITCHES].map(({ name }) => name),
  )
  const hint = guess === null ? '"greendot capacity --help" lists them all' : `did you mean --${guess}?`
  return `no such flag: ${stray.replace(/=.*/s, '')}; ${hint}`
}
