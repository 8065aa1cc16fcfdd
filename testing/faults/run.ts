// `npm run test:faults`: causes every fault of docs/failures.md on real servers with simulated users, and
// compares what watchers saw with what was true. The last lines are the table; the exit code is 1 when
// anything was not as expected.
import { readCommandLine } from '../services/command-line.ts'
import { findKafka } from '../services/kafka.ts'
import { findPostgres, startPostgres } from '../services/postgres.ts'
import { findRedis } from '../services/redis.ts'
import { within } from '../services/within.ts'
import { CASES } from './cases.ts'
import type { FaultContext, Outcome } from './fixture.ts'
import { runRandom } from './random/run/random.ts'
import { type Line, toTable } from './report.ts'

const CASE_MS_MAX = 240_000
const SEED_MAX = 1_000_000

const HELP = `npm run test:faults -- [case …] [--quick] [--users 2000] [--contacts 18]
npm run test:faults -- --random 40 [--seed 1] [--store redis|cluster] [--kafka]

Starts real greendot processes with a real Redis and PostgreSQL, breaks them and checks what watchers saw.
A case is its number or a part of its name; without any, all of them run, one after the other.
--quick takes 300 users and shorter outages. --random runs that many plans, each from its own seed: users with
several devices and choices, and two to four faults that overlap. --kafka is the streaming deployment, whose faults are
of Kafka and of owners too. A run that fails prints how to repeat it. GREENDOT_FAULTS_LOG=info shows the log of the servers.

${CASES.map(({ name, expectation }, index) => `${String(index + 1).padStart(2)}  ${name}\n      ${expectation}`).join('\n')}`

const { values, positionals } = readCommandLine({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    users: { type: 'string' },
    contacts: { type: 'string', default: '18' },
    random: { type: 'string' },
    seed: { type: 'string' },
    store: { type: 'string', default: 'redis' },
    kafka: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
})

const isStore = (text: string): text is 'redis' | 'cluster' => text === 'redis' || text === 'cluster'

const isChosen = (name: string, number: number): boolean =>
  positionals.length === 0 ||
  positionals.some((wanted) => (/^\d+$/.test(wanted) ? Number(wanted) === number : name.includes(wanted)))

const startedAt = performance.now()
const say = (line: string): void =>
  console.log(`${((performance.now() - startedAt) / 1000).toFixed(1).padStart(6)} s  ${line}`)

function broken(userCount: number, error: unknown): Outcome {
  const why = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return {
    userCount,
    falseTransitions: null,
    worstGhostMs: null,
    ghostMsMax: null,
    healMs: null,
    healMsMax: null,
    disagreements: null,
    notes: [],
    problems: [why],
  }
}

async function main(): Promise<number> {
  if (values.help) {
    console.log(HELP)
    return 0
  }
  const { random: runs, store } = values
  const count = Number(runs ?? 1)
  const seed = Number(values.seed ?? 1 + Math.floor(Math.random() * SEED_MAX))
  const isRandom = runs !== undefined
  if (isRandom && !(Number.isInteger(count) && count > 0 && Number.isInteger(seed) && isStore(store))) {
    console.error('--random and --seed take whole numbers, and --store takes redis or cluster; try --help')
    return 2
  }
  const chosen = CASES.map((one, index) => ({ ...one, number: index + 1 })).filter(({ name, number }) =>
    isChosen(name, number),
  )
  if (chosen.length === 0) {
    console.error(`no case is called ${positionals.join(' or ')}; try --help`)
    return 2
  }
  for (const found of [await findRedis(), await findPostgres()]) {
    if (found.state === 'missing') {
      console.error(found.why)
      return 1
    }
  }
  if (isRandom && isStore(store)) {
    const kafka = values.kafka ? await findKafka() : null
    if (kafka?.state === 'missing') {
      console.error(kafka.why)
      return 1
    }
    return (await runRandom({ count, seed, store, hasKafka: values.kafka })) === 0 ? 0 : 1
  }
  const postgres = await startPostgres({ settings: { max_connections: '200' } })
  const userCount = Number(values.users ?? (values.quick ? 300 : 2_000))
  const context: FaultContext = {
    userCount,
    contacts: Number(values.contacts),
    isQuick: values.quick,
    postgres,
    say: (line) => say(`  ${line}`),
  }
  const lines: Line[] = []
  const skipped: string[] = []
  for (const { name, number, expectation, needs, run } of chosen) {
    say(`${number}. ${name}: ${expectation}`)
    const found = await needs?.()
    if (found?.state === 'missing') {
      skipped.push(`${number}. ${name} is skipped: ${found.why}`)
      say(`  skipped: ${found.why}`)
      continue
    }
    const begunAt = performance.now()
    const outcome = await within(CASE_MS_MAX, name, run(context)).catch((error) => broken(userCount, error))
    lines.push({ number, name, tookMs: performance.now() - begunAt, outcome })
    for (const note of outcome.notes) say(`  ${note}`)
    for (const problem of outcome.problems) say(`  NOT AS EXPECTED: ${problem}`)
    say(outcome.problems.length === 0 ? '  ok' : '  FAILED')
  }
  await postgres.stop()
  const failed = lines.filter(({ outcome }) => outcome.problems.length > 0).length
  console.log(`\n${toTable(lines)}\n`)
  for (const line of skipped) console.log(line)
  console.log(`${lines.length - failed} as expected, ${failed} not, ${skipped.length} skipped`)
  return failed === 0 ? 0 : 1
}

process.exit(await main())
