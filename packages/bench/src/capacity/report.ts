// The plan in words and columns. Each line names the constants in its formula by number, and a list below
// says what each is and where it comes from; `~` marks lines that rest on an assumption somewhere.
import type { ConstantName } from './constant-names.ts'
import { type Constant, type Constants, isAssumption } from './constants.ts'
import type { Plan } from './model.ts'
import type { Figure } from './sheet.ts'

interface Line {
  label: string
  value: string
  figure: Figure
  note: string
}

/** The parts of a plan, in the order in which they are shown. */
export const SECTIONS = ['traffic', 'gateways', 'redis', 'postgres', 'kafka', 'textbook', 'costs'] as const
export type SectionName = (typeof SECTIONS)[number]

interface Section {
  name: SectionName
  title: string
  lines: Line[]
}

const line = (figure: Figure, note = ''): Line => ({
  label: figure.label,
  value: shown(figure),
  figure,
  note,
})
const within = (figures: Record<string, Figure>): Line[] =>
  Object.values(figures)
    .filter(({ value }) => value > 0)
    .map((figure) => ({ ...line(figure), label: `  ${figure.label}` }))

const sectionsOf = (plan: Plan, names: readonly SectionName[]): Section[] =>
  allSections(plan).filter(({ name }) => names.includes(name))

function allSections(plan: Plan): Section[] {
  const { workload, traffic, gateways, redis, postgres, streaming, textbook, drivers } = plan
  const { cores, memoryGb, redisMemoryGb, reserve, replicas } = workload
  const spent = drivers.reduce((sum, { value }) => sum + value, 0)
  return [
    {
      name: 'traffic',
      title: 'Traffic in the busiest hour',
      lines: Object.values(traffic).map((figure: Figure) => line(figure)),
    },
    {
      name: 'gateways',
      title: `Gateways of ${cores} ${cores === 1 ? 'core' : 'cores'} and ${memoryGb} GB`,
      lines: [
        line(gateways.machines, `${reserve} of them in reserve; decided by ${gateways.limit}`),
        line(gateways.processes),
        line(gateways.processConnections),
        line(gateways.cores),
        ...within(gateways.cpu),
        line(gateways.memoryBytes),
        ...within(gateways.memory),
        line(gateways.interested),
        line(gateways.pairs),
        line(gateways.messages),
      ],
    },
    {
      name: 'redis',
      title: `Redis of ${redisMemoryGb} GB`,
      lines: [
        line(redis.masters),
        line(redis.shards),
        line(redis.servers, `${replicas} for each master`),
        line(gateways.commits),
        line(gateways.registrations),
        line(redis.cores),
        ...within(redis.cpu),
        line(redis.memoryBytes),
        ...within(redis.memory),
      ],
    },
    {
      name: 'postgres',
      title: 'PostgreSQL',
      lines: Object.values(postgres).map((figure: Figure) => line(figure)),
    },
    {
      name: 'kafka',
      title: 'The streaming deployment, besides',
      lines: Object.values(streaming).map((figure: Figure) => line(figure)),
    },
    {
      name: 'textbook',
      title: 'The textbook design: a key for each heartbeat, a channel for each user',
      lines: [
        line(textbook.writes, `here ${shown(gateways.commits)}`),
        line(textbook.cores, `here ${shown(redis.cores)}`),
        ...within(textbook.cpu),
        line(textbook.coresOneByOne),
        line(textbook.memoryBytes, `here ${shown(redis.memoryBytes)}`),
        line(textbook.masters, `here ${shown(redis.masters)}`),
        line(textbook.gatewayCores, 'here 0'),
        line(textbook.silentSeconds, `here ${(2 * workload.heartbeatMs) / 1000}`),
      ],
    },
    {
      name: 'costs',
      title: 'What it costs, most first',
      lines: drivers.map((figure) => line(figure, `${((figure.value / spent) * 100).toFixed(0)} %`)),
    },
  ]
}

export function describePlan(plan: Plan, constants: Constants, names: readonly SectionName[]): string[] {
  const sections = sectionsOf(plan, names)
  const all = sections.flatMap(({ lines }) => lines)
  const numbers = new Map<ConstantName, number>()
  for (const { figure } of all) {
    for (const name of figure.uses) if (!numbers.has(name)) numbers.set(name, numbers.size + 1)
  }
  const restsOnGuess = ({ restsOn }: Figure) => restsOn.some((name) => isAssumption(constants.get(name)!))
  const labelWidth = Math.max(...all.map(({ label }) => label.length))
  const valueWidth = Math.max(...all.map(({ value }) => value.length))
  const described = sections.flatMap(({ title, lines }) => [
    '',
    title,
    ...lines.map(({ label, value, figure, note }) => {
      const mark = restsOnGuess(figure) ? '~' : ' '
      const from = figure.uses.map((name) => numbers.get(name)).join(' ')
      const aside = [note, from === '' ? '' : `[${from}]`].filter((part) => part !== '').join('  ')
      return ` ${mark} ${label.padEnd(labelWidth)}  ${value.padEnd(valueWidth)}  ${aside}`.trimEnd()
    }),
  ])
  const used = [...numbers.keys()].map((name) => constants.get(name)!)
  return [
    summary(plan),
    ...described,
    ...plan.warnings.flatMap((warning) => ['', `Mind: ${warning}.`]),
    '',
    'Constants, by the numbers in brackets; ~ is an assumption, and marks whatever rests on one',
    ...describeConstants(used, (constant) => `[${numbers.get(constant.name)}]`),
  ]
}

/** The same for programs: exact values, and for each figure what it rests on. */
export function jsonOf(plan: Plan, constants: Constants, names: readonly SectionName[]): object {
  const sections = sectionsOf(plan, names).map(({ title, lines }) => ({
    title,
    figures: lines.map(({ figure: { label, value, unit, uses, restsOn } }) => {
      const assumes = restsOn.filter((name) => isAssumption(constants.get(name)!))
      return { label, value, unit, uses, assumes }
    }),
  }))
  const { workload, gateways, warnings } = plan
  return { workload, limit: gateways.limit, sections, warnings, constants: [...constants.values()] }
}

function summary({ workload }: Plan): string {
  const { users, online, contacts, devices, changes, connects, utilisation, encoding } = workload
  const share = `${+(online * 100).toFixed(2)} % online`
  const busy = `${changes} changes and ${connects} connects an hour`
  const load = `${users.toLocaleString('en')} users, ${share}, ${contacts} contacts and ${devices} ${devices === 1 ? 'connection' : 'connections'} each`
  return `${load}; ${busy}; ${encoding === 'json' ? 'JSON' : encoding} frames; machines ${+(utilisation * 100).toFixed(0)} % full`
}

export function describeConstants(
  constants: Iterable<Constant>,
  lead: (constant: Constant) => string = () => '',
): string[] {
  const listed = [...constants]
  const places = new Set(listed.filter((one) => !isAssumption(one)).map(placeOf))
  // Printed once where all were measured together.
  const origin = (one: Constant) =>
    isAssumption(one) || places.size === 1 ? one.from : `${one.from}; ${placeOf(one)}`
  const rows = listed.map((one) => [
    ` ${isAssumption(one) ? '~' : ' '} ${lead(one)}`,
    one.name,
    `${one.value.toLocaleString('en')} ${one.unit}`,
    origin(one),
  ])
  const width = (column: number) => Math.max(0, ...rows.map((row) => row[column]!.length))
  const widths = [0, 1, 2].map(width)
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
  return places.size === 1 ? [...lines, `   measured on ${[...places][0]}`] : lines
}

const placeOf = ({ machine, measuredAt }: Constant): string =>
  [machine ?? 'a machine that is not named', measuredAt].filter(Boolean).join('; ')

/** Three digits that count, and sizes in a fitting unit. */
function shown({ value, unit }: Figure): string {
  if (unit === 'bytes' || unit === 'bytes a second') {
    return `${size(value)}${unit === 'bytes' ? '' : ' a second'}`
  }
  const text = Number.isInteger(value)
    ? value.toLocaleString('en')
    : value.toLocaleString(
        'en',
        value >= 100 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 3 },
      )
  return unit === '' ? text : `${text} ${unit}`
}

const SIZES = [
  [1e12, 'TB'],
  [1e9, 'GB'],
  [1e6, 'MB'],
  [1e3, 'KB'],
] as const

function size(bytes: number): string {
  const [factor, name] = SIZES.find(([factor]) => bytes >= factor) ?? [1, 'bytes']
  return `${(bytes / factor).toLocaleString('en', { maximumSignificantDigits: 3 })} ${name}`
}
