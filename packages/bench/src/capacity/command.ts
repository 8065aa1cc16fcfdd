// `greendot-bench capacity`: how many machines a number of users needs, by the model and its constants.
// It asks no server and changes nothing; what it prints says where every figure comes from.
import { describeFlags, type Flag, parseFlags, wantsHelp } from '../platform/flags.ts'
import { EXIT, type ExitCode, type Outlet } from '../platform/outlet.ts'
import { type Read, shippedConstants } from './constants.ts'
import { withMeasured } from './measured.ts'
import { plan } from './model.ts'
import { describeConstants, describePlan, jsonOf, SECTIONS, type SectionName } from './report.ts'
import { ONLINE_USERS, readWorkload, WORKLOAD_FLAGS } from './workload.ts'

const FLAGS: readonly Flag[] = [
  ...WORKLOAD_FLAGS,
  { name: ONLINE_USERS, sign: '<n>', help: 'users online at the same time; --users follows from --online' },
  {
    name: 'measured',
    sign: '<result.json>',
    help: 'takes constants from a benchmark of yours; several with commas',
  },
  {
    name: 'kafka',
    sign: null,
    help: 'adds what the streaming deployment takes: owners, fan-out, Kafka, the log',
  },
  { name: 'only', sign: '<parts>', help: `prints some parts, with commas: ${SECTIONS.join(', ')}` },
  { name: 'constants', sign: null, help: 'prints the constants and where they come from' },
  { name: 'json', sign: null, help: 'prints everything as JSON' },
]

const HELP = [
  'greendot capacity: computes how many machines a number of users needs',
  '',
  'As in: greendot capacity --users 50000000 --contacts 100 --online 0.3',
  'Or for so many online at the same time: greendot capacity --online-users 50000000 --online 0.3',
  'Rates are those of the busiest hour. docs/capacity.md explains the model.',
  '',
  ...describeFlags(FLAGS),
].join('\n')

export interface CapacityWorld extends Outlet {
  /** Null where there is no such file. */
  readFile(path: string): string | null
}

export function runCapacity(argv: readonly string[], world: CapacityWorld): ExitCode {
  if (wantsHelp(argv)) {
    world.print(HELP)
    return EXIT.ok
  }
  const misuse = (problem: string): ExitCode => {
    world.complain(problem)
    return EXIT.usage
  }
  const parsed = parseFlags(argv, FLAGS)
  if (!parsed.ok) return misuse(parsed.problem)
  const { flags, words } = parsed
  if (words.length > 0) return misuse('capacity takes flags only, as in: greendot capacity --users 1000000')

  let constants = shippedConstants()
  for (const path of flags.text('measured')?.split(',') ?? []) {
    const text = world.readFile(path)
    if (text === null) return misuse(`--measured: there is no file ${path}`)
    const measured = withMeasured(constants, text, path)
    if (!measured.ok) return misuse(`--measured: ${measured.problem}`)
    constants = measured.value
  }
  if (flags.isOn('constants')) {
    if (flags.isOn('json')) world.print(JSON.stringify([...constants.values()], null, 2))
    else for (const line of describeConstants(constants.values())) world.print(line)
    return EXIT.ok
  }

  if (flags.all('users').length > 0 && flags.text(ONLINE_USERS) !== null)
    return misuse(`--${ONLINE_USERS}: says how many --users there are; leave one of them out`)
  const workload = readWorkload(flags.text)
  if (!workload.ok) return misuse(workload.problem)
  const sections = readSections(flags.text('only'), flags.isOn('kafka') === true)
  if (!sections.ok) return misuse(sections.problem)
  const planned = plan(workload.value, constants)
  if (!planned.ok) {
    world.complain(planned.problem)
    return EXIT.failed
  }
  if (flags.isOn('json'))
    world.print(JSON.stringify(jsonOf(planned.value, constants, sections.value), null, 2))
  else for (const line of describePlan(planned.value, constants, sections.value)) world.print(line)
  return EXIT.ok
}

/** All but Kafka, unless it is asked for. */
function readSections(only: string | null, hasKafka: boolean): Read<SectionName[]> {
  if (only === null) return { ok: true, value: SECTIONS.filter((name) => hasKafka || name !== 'kafka') }
  const words = only.split(',')
  const unknown = words.find((word) => !SECTIONS.some((name) => name === word))
  if (unknown !== undefined)
    return { ok: false, problem: `--only: there is no part ${unknown}; there are ${SECTIONS.join(', ')}` }
  return { ok: true, value: SECTIONS.filter((name) => words.includes(name)) }
}
