// `npm run bench:check`: the regression guard. Measures ratios, each within one run, holds them against
// packages/bench/src/check/ratios.json and fails when one fell further than its tolerance. Never looks at absolute times.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runMicros } from '../micro/all.ts'
import { commits } from '../micro/commits.ts'
import { heartbeats } from '../micro/heartbeats.ts'
import type { Micro, Reading, Scale } from '../micro/measure.ts'
import { queries } from '../micro/queries.ts'
import { steps } from '../micro/steps.ts'
import { readFlags } from '../platform/flags.ts'
import { columns, percent } from '../platform/table.ts'
import { better, isFailure, judge, type StoredRatios, updated, type Verdict } from './ratios.ts'
import { CHURN, churnRatio, FANOUT, fanoutRatio } from './scenario-ratios.ts'

const RATIOS_FILE = join(import.meta.dir, 'ratios.json')
const SCALE: Scale = { rounds: 5, roundMs: 400 }

interface Guard {
  micro: Micro
  /** What its readings are called. */
  ratios: readonly string[]
}

const GUARDS: readonly Guard[] = [
  { micro: steps, ratios: ['step'] },
  {
    micro: heartbeats,
    ratios: ['heartbeats, 16 a segment', 'heartbeats, 1 a segment', 'heartbeat handler'],
  },
  { micro: queries, ratios: ['query of 200, inside', 'query of 200, HTTP'] },
  { micro: commits, ratios: ['commits to Redis'] },
  { micro: churnRatio, ratios: [CHURN] },
  { micro: fanoutRatio, ratios: [FANOUT] },
]

const HELP = `npm run bench:check -- [name …] [--update]

Measures how Greendot compares with the bare runtime and the bare script, each pair in one run, and
compares these ratios with packages/bench/src/check/ratios.json. Takes about a minute; leave the machine alone meanwhile.
Exits with 1 when a ratio fell by more than its tolerance. Names: ${GUARDS.map(({ micro }) => micro.name).join(', ')}.

  --update  stores the ratios measured now; tolerances stay as they are, and are yours to edit
  --help    this text`

const { flags, words } = readFlags([{ name: 'update', sign: null, help: '' }], {
  names: GUARDS.map(({ micro }) => micro.name),
  help: HELP,
})

const stored = JSON.parse(readFileSync(RATIOS_FILE, 'utf8')) as StoredRatios
const isChosen = ({ micro }: Guard) => words.length === 0 || words.includes(micro.name)
const missing = GUARDS.filter((guard) => isChosen(guard) && guard.micro.missing() !== null)
const chosen = GUARDS.filter((guard) => isChosen(guard) && !missing.includes(guard))
const skipped = new Set(GUARDS.filter((guard) => !chosen.includes(guard)).flatMap(({ ratios }) => ratios))
const measure = async (guards: readonly Guard[]): Promise<Reading[]> =>
  (
    await runMicros(
      guards.map(({ micro }) => micro),
      SCALE,
      ({ name }) => console.error(`measuring ${name}`),
    )
  ).readings

let readings = await measure(chosen)
let verdicts = judge(readings, stored, skipped)
const fallen = GUARDS.filter(({ ratios }) =>
  verdicts.some(({ name, result }) => result === 'fell' && ratios.includes(name)),
)
if (fallen.length > 0 && !flags.isOn('update')) {
  console.error('looking a second time at what fell')
  readings = better(readings, await measure(fallen))
  verdicts = judge(readings, stored, skipped)
}

for (const row of columns([['', 'now', 'stored', 'floor', ''], ...verdicts.map(rowOf)])) console.log(row)
for (const { micro } of missing) console.log(`${micro.name}: left out, because ${micro.missing()}`)
if (flags.isOn('update')) {
  writeFileSync(RATIOS_FILE, `${JSON.stringify(updated(readings, stored, skipped), null, 2)}\n`)
  console.log('stored in packages/bench/src/check/ratios.json')
} else if (verdicts.some(isFailure)) {
  console.log('\nA ratio fell. If that is the price of something worth it, store it: --update')
  process.exit(1)
}

function rowOf({ name, now, stored, floor, result }: Verdict): string[] {
  const shown = (ratio: number | null) => (ratio === null ? '' : percent(ratio))
  const word = result === 'fell' ? 'FELL' : result === 'new' ? 'new, not stored' : result
  return [name, shown(now), shown(stored), shown(floor), word]
}
