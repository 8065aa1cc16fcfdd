// `npm run bench:compare -- --base <folder>`: this checkout beside another one, in one run. The servers of both
// take turns, round by round, so that a machine that slows down slows both; ratios are made within a round.
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { median } from '../micro/measure.ts'
import { describeFlags, type Flag, readFlags } from '../platform/flags.ts'
import { BenchProblem } from '../platform/problem.ts'
import { createScope } from '../platform/scope.ts'
import { amount, columns } from '../platform/table.ts'
import { findGreendot, startGreendot } from '../subject/greendot.ts'
import { FIGURES, type Figures, measure } from './measure.ts'

const SERVER_CORE = 0
const CLI = 'packages/server/src/cli.ts'

const FLAGS: readonly Flag[] = [
  { name: 'base', sign: '<folder>', help: 'another checkout, with its dependencies installed' },
  { name: 'rounds', sign: '<n>', help: 'rounds, each with both servers', fallback: '3' },
  { name: 'users', sign: '<n>', help: 'users that connect as fast as possible', fallback: '2000' },
  { name: 'seconds', sign: '<n>', help: 'length of each timed part', fallback: '5' },
]
const HELP = [
  'npm run bench:compare -- --base <folder> [flags]',
  '',
  'Connects, snapshots and queries of two checkouts, beside each other in one run. Takes about 30 s a round.',
  '',
  ...describeFlags(FLAGS),
].join('\n')

const { flags } = readFlags(FLAGS, { names: [], help: HELP })
const base = flags.text('base')
const rounds = Number(flags.text('rounds'))
const size = { fast: Number(flags.text('users')), seconds: Number(flags.text('seconds')) }
if (base === null) refuse('--base: needs the folder of another checkout')
if (!(rounds >= 1 && size.fast >= 1 && size.seconds >= 1))
  refuse('--rounds, --users and --seconds: whole numbers from 1')
const baseProgram = resolve(base, CLI)
if (!existsSync(baseProgram)) refuse(`--base: there is no ${CLI} in ${base}`)
if (!existsSync(join(base, 'node_modules'))) refuse(`--base: ${base} has no node_modules; npm install there`)

const PROGRAMS = { base: baseProgram, now: findGreendot() }
type Side = keyof typeof PROGRAMS

const found: Record<Side, Figures[]> = { base: [], now: [] }
const scope = createScope()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void scope.close().finally(() => process.exit(130)))
}
try {
  for (let round = 0; round < rounds; round++) {
    // The order alternates, so that neither side is always second.
    const sides: Side[] = round % 2 === 0 ? ['base', 'now'] : ['now', 'base']
    for (const side of sides) {
      console.error(`round ${round + 1} of ${rounds}: ${side}`)
      found[side].push(await measureOnce(PROGRAMS[side]))
    }
  }
} catch (error) {
  if (!(error instanceof BenchProblem)) throw error
  console.error(error.message)
  process.exit(1)
} finally {
  await scope.close()
}

const rows = (Object.keys(FIGURES) as (keyof Figures)[]).map((key) => {
  const of = (side: Side) => median(found[side].map((figures) => figures[key]))
  const ratio = median(found.now.map((figures, round) => figures[key] / found.base[round]![key]))
  return [FIGURES[key], amount(of('base')), amount(of('now')), ratio.toFixed(2)]
})
for (const row of columns([['', 'base', 'now', 'now/base'], ...rows])) console.log(row)
console.log(`Medians of ${rounds} rounds; base is ${resolve(base)}.`)
process.exit(0)

async function measureOnce(program: string): Promise<Figures> {
  const spec = { gateways: 1, redis: null, port: null, core: SERVER_CORE, settings: [], program }
  try {
    return await measure(await startGreendot(spec, scope), size)
  } finally {
    await scope.close()
  }
}

function refuse(problem: string): never {
  console.error(problem)
  process.exit(2)
}
