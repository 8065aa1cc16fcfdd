// `npm run test:simulation`: runs seeds of the simulation, replays one, or plants a bug and looks how fast it is caught.
import { readCommandLine } from '../../services/command-line.ts'
import type { FaultKind } from '../faults/plan-faults.ts'
import { catchPlanted, PLANTED } from '../planted/planted.ts'
import type { Planted } from '../planted/planting.ts'
import { PROOFS } from '../planted/proofs.ts'
import { keepPlan } from '../run/named-plans.ts'
import { planOf } from '../run/plan.ts'
import { runPlan } from '../run/run-plan.ts'
import { measure } from './measure.ts'
import { describeFailure, describePlan } from './report.ts'
import { jobsByDefault, runHere, runSeeds } from './run-seeds.ts'

const SEEDS = 1_000
const SEED_MAX = 0xffff_ffff

const HELP = `npm run test:simulation -- [options]

Runs whole deployments in one process on a virtual clock, with crashes, partitions, wrong clocks and lost data, and
checks the bounds of SPEC.md (B1 to B8). The same seed is the same run.

  --seeds <n>       how many seeds (${SEEDS})
  --from <n>        the first seed (a new one each time)
  --seed <n>        replays one seed, makes it smaller, and prints its timeline
  --whole           with --seed: as it is, not made smaller
  --keep <name>     with --seed: keeps the smaller plan as testing/simulation/run/named/<name>.json
  --jobs <n>        processes (one for each core)
  --plant <name>    with a bug that is planted; --plant list shows them
  --planted         plants all of them in turn, and says which checks noticed each, after how many seeds
  --measure         how long users who are gone are shown around one fault, with a lease of 3 s and a delay of 1.5 s
  --help            this text

Exits 1 if a seed failed.`

/** Of each bug. */
const PLANTED_SEEDS = 2_000
/** After the one that caught it, to see which other checks notice it. */
const MORE_SEEDS = 15

/** The faults that are measured with real processes too, and for how long. */
const MEASURED: readonly [FaultKind, number][] = [
  ['gateway crashed with its clients', 5_000],
  ['node restarted empty', 1_000],
  ['store emptied', 1_000],
  ['node away', 30_000],
  ['failover', 10_000],
  ['archive away', 30_000],
  ['process cut off', 15_000],
]
const MEASURED_SEEDS = 100

const { values, positionals } = readCommandLine({
  allowPositionals: true,
  options: {
    seeds: { type: 'string' },
    from: { type: 'string' },
    seed: { type: 'string' },
    jobs: { type: 'string' },
    whole: { type: 'boolean', default: false },
    keep: { type: 'string' },
    plant: { type: 'string' },
    planted: { type: 'boolean', default: false },
    measure: { type: 'boolean', default: false },
    // How this program starts itself, with the seeds as words.
    worker: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
})

const NUMBERS = ['seeds', 'from', 'seed', 'jobs'] as const

const isNumber = (text: string): boolean => {
  const value = Number(text)
  return text.trim() !== '' && Number.isInteger(value) && value >= 0 && value <= SEED_MAX
}

function problemOf(): string | null {
  if (positionals.length > 0) return `unknown word ${positionals[0]}; try --help`
  const wrong = NUMBERS.find((name) => !isNumber(values[name] ?? '0'))
  return wrong === undefined ? null : `--${wrong} needs a whole number from 0 to ${SEED_MAX}`
}

function numberOf(name: (typeof NUMBERS)[number]): number | null {
  const text = values[name]
  return text === undefined ? null : Number(text)
}

async function main(): Promise<number> {
  if (values.help) {
    console.log(HELP)
    return 0
  }
  const plantName = values.plant ?? null
  const planted = PLANTED.find(({ name }) => name === plantName) ?? null
  if (values.worker) return work(positionals, planted)
  const problem = problemOf()
  if (problem !== null) {
    console.error(problem)
    return 2
  }
  if (values.measure) return measureAll()
  if (values.planted) return plantAll(numberOf('from') ?? 1, numberOf('seeds') ?? PLANTED_SEEDS)
  if (plantName !== null && planted === null) {
    for (const { name, breaks } of PLANTED) console.log(`${name} (${breaks})`)
    return plantName === 'list' ? 0 : 2
  }
  const seed = numberOf('seed')
  if (seed !== null) return replay(seed, planted, values.whole, values.keep ?? null)
  const from = numberOf('from') ?? Math.floor(Math.random() * 1_000_000) * 1_000
  const jobs = Math.max(1, numberOf('jobs') ?? jobsByDefault())
  console.log(`seeds from ${from}${planted === null ? '' : `, with a bug: ${planted.name}`}`)
  const failed = await runSeeds({ seeds: numberOf('seeds') ?? SEEDS, from, jobs, planted })
  return failed === 0 ? 0 : 1
}

/** As the table of docs/simulation.md. */
function plantAll(from: number, seedsMax: number): number {
  let missed = 0
  const idle = new Set<string>(Object.keys(PROOFS))
  console.log('| bug | breaks | caught by | after seeds |\n| --- | --- | --- | --- |')
  for (const planted of PLANTED) {
    const caught = catchPlanted(planted, from, seedsMax, MORE_SEEDS)
    if (caught === null) missed++
    for (const check of caught?.checks ?? []) idle.delete(check)
    const how = caught === null ? `nothing | ${seedsMax}` : `${caught.checks.join(', ')} | ${caught.seeds}`
    console.log(`| ${planted.name} | ${planted.breaks} | ${how} |`)
  }
  if (idle.size > 0) console.log(`\nno bug was noticed by: ${[...idle].join(', ')}`)
  return missed === 0 && idle.size === 0 ? 0 : 1
}

/** As the table of docs/simulation.md. */
function measureAll(): number {
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
  console.log('| fault | ghost / bound |\n| --- | --- |')
  for (const [kind, forMs] of MEASURED) {
    const { ghostMs, boundMs } = measure(kind, forMs, MEASURED_SEEDS)
    console.log(`| ${kind}, ${seconds(forMs)} | ${seconds(ghostMs)} / ${seconds(boundMs)} |`)
  }
  return 0
}

function replay(seed: number, planted: Planted | null, isWhole: boolean, keep: string | null): number {
  const plan = planOf(seed)
  const plant = planted?.plant
  const result = runPlan({ plan, ...(plant && { plant }) })
  if (result.violations.length === 0) {
    console.log(`seed ${seed} kept every promise: ${describePlan(plan)}; trace ${result.hash.toString(16)}`)
    return 0
  }
  const failure = { plan, result, plant, plantName: planted?.name ?? null, isShrunk: !isWhole }
  const described = describeFailure(failure)
  console.log(described.text)
  if (keep !== null) keepPlan(keep, described.plan)
  return 1
}

function work([from, to, step]: readonly string[], planted: Planted | null): number {
  for (const line of runHere(Number(from), Number(to), Number(step), planted))
    console.log(JSON.stringify(line))
  return 0
}

process.exitCode = await main()
