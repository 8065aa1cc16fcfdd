// `npm run bench:check`: the regression guard. Ratios are measured within one run and held against
// ratios.json; they fail when one fell by more than its tolerance. Bounds are fixed (bounds.json); they fail
// when a value is over. Whatever fails is measured a second time, and the better value counts.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commits } from '../micro/commits.ts'
import { heartbeats } from '../micro/heartbeats.ts'
import type { Micro, Reading, Scale } from '../micro/measure.ts'
import { queries } from '../micro/queries.ts'
import { steps } from '../micro/steps.ts'
import { describeFlags, type Flag, readFlags } from '../platform/flags.ts'
import { amount, columns, percent } from '../platform/table.ts'
import { BOUND_GROUPS, runInChild } from './bound-groups.ts'
import bounds from './bounds.json' with { type: 'json' }
import { type BoundGroup, type BoundVerdict, judgeBounds, lower, type Value } from './bounds.ts'
import { better, isFailure, judge, type StoredRatios, updated, type Verdict } from './ratios.ts'
import { CHURN, churnRatio, FANOUT, fanoutRatio } from './scenario-ratios.ts'

const RATIOS_FILE = join(import.meta.dir, 'ratios.json')
const SCALE: Scale = { rounds: 5, roundMs: 400 }

interface Guard {
  micro: Micro
  /** The names of its readings. */
  ratios: readonly string[]
}

const GUARDS: readonly Guard[] = [
  { micro: steps, ratios: ['step'] },
  {
    micro: heartbeats,
    ratios: ['heartbeats, 16 a segment', 'heartbeats, 1 a segment', 'heartbeat handler'],
  },
  { micro: queries, ratios: ['query of 200, inside', 'query of 200, HTTP'] },
  { micro: commits, ratios: ['commits to Redis', 'commits with a duty'] },
  { micro: churnRatio, ratios: [CHURN] },
  { micro: fanoutRatio, ratios: [FANOUT] },
]

const FLAGS: readonly Flag[] = [
  { name: 'update', sign: null, help: 'stores the ratios of this run; tolerances and bounds stay' },
]
const NAMES = [...GUARDS.map(({ micro }) => micro.name), ...BOUND_GROUPS.map(({ name }) => name)]
const HELP = [
  'npm run bench:check -- [name …] [flags]',
  '',
  'Compares Greendot with the bare runtime and the bare script, each pair in one run, and these ratios with',
  'the stored ones; then holds blocks of the event loop and late deadlines against their bounds. Takes about',
  'two minutes; leave the machine alone meanwhile. Exits with 1 when something fell or is over its bound.',
  `Names: ${NAMES.join(', ')}.`,
  '',
  ...describeFlags(FLAGS),
].join('\n')

const { flags, words } = readFlags(FLAGS, { names: NAMES, help: HELP })
const isChosen = (name: string): boolean => words.length === 0 || words.includes(name)
const isUpdate = flags.isOn('update') === true

const stored = JSON.parse(readFileSync(RATIOS_FILE, 'utf8')) as StoredRatios
const missing = GUARDS.filter(({ micro }) => isChosen(micro.name) && micro.missing() !== null)
const guards = GUARDS.filter((guard) => isChosen(guard.micro.name) && !missing.includes(guard))
const groups = BOUND_GROUPS.filter(({ name }) => isChosen(name))
const skipped = new Set(GUARDS.filter((guard) => !guards.includes(guard)).flatMap(({ ratios }) => ratios))

const startedAt = performance.now()
let done = 0
let planned = guards.length + groups.length
function showProgress(name: string): void {
  done += 1
  console.error(`${done} of ${planned}: measuring ${name}`)
}

async function measureRatios(some: readonly Guard[]): Promise<Reading[]> {
  const readings: Reading[] = []
  for (const { micro } of some) {
    showProgress(micro.name)
    readings.push(...(await micro.run(SCALE)))
  }
  return readings
}

async function measureBounds(some: readonly BoundGroup[]): Promise<Value[]> {
  const values: Value[] = []
  for (const group of some) {
    showProgress(group.name)
    values.push(...(await runInChild(group)))
  }
  return values
}

let readings = await measureRatios(guards)
let values = await measureBounds(groups)
let verdicts = judge(readings, stored, skipped)
let boundVerdicts = judgeBounds(values, bounds)

const fallen = GUARDS.filter(({ ratios }) =>
  verdicts.some(({ name, result }) => result === 'fell' && ratios.includes(name)),
)
const over = BOUND_GROUPS.filter((group) =>
  boundVerdicts.some(({ name, result }) => result === 'over' && group.bounds.includes(name)),
)
if (fallen.length + over.length > 0 && !isUpdate) {
  planned += fallen.length + over.length
  console.error('a second time what failed')
  readings = better(readings, await measureRatios(fallen))
  values = lower(values, await measureBounds(over))
  verdicts = judge(readings, stored, skipped)
  boundVerdicts = judgeBounds(values, bounds)
}

const shown = verdicts.filter(({ result }) => result !== 'skipped')
if (shown.length > 0) print([['ratio', 'now', 'stored', 'floor', ''], ...shown.map(ratioRow)], 4)
if (shown.length > 0 && boundVerdicts.length > 0) console.log()
if (boundVerdicts.length > 0) print([['bound', 'now', 'at most', '', ''], ...boundVerdicts.map(boundRow)], 3)
for (const { micro } of missing) console.log(`${micro.name}: left out, because ${micro.missing()}`)
console.error(`took ${Math.round((performance.now() - startedAt) / 1000)} s`)
const isOver = boundVerdicts.some(({ result }) => result === 'over')
if (isUpdate) {
  writeFileSync(RATIOS_FILE, `${JSON.stringify(updated(readings, stored, skipped), null, 2)}\n`)
  console.log('the ratios are stored in packages/bench/src/check/ratios.json')
} else if (verdicts.some(isFailure))
  console.log('\nA ratio fell. If that is the price of something worth it, store it: --update')
if (isOver)
  console.log('\nA value is over its bound; packages/bench/src/check/bounds.json has the reason of each.')
process.exit(isOver || (!isUpdate && verdicts.some(isFailure)) ? 1 : 0)

function print(rows: readonly string[][], textFrom: number): void {
  for (const row of columns(rows, textFrom)) console.log(row)
}

function ratioRow({ name, now, stored, floor, result }: Verdict): string[] {
  const share = (ratio: number | null) => (ratio === null ? '' : percent(ratio))
  const word = result === 'fell' ? 'FELL' : result === 'new' ? 'new, not stored' : result
  return [name, share(now), share(stored), share(floor), word]
}

function boundRow({ name, value, detail, bound, result }: BoundVerdict): string[] {
  const word = result === 'over' ? 'OVER' : result
  return [
    name,
    amount(value),
    amount(bound.max),
    bound.unit,
    detail === undefined ? word : `${word} (${detail})`,
  ]
}
