// `npm run bench:million`: as many users as one machine holds, load included. All connect, beat and watch each other;
// some change; then one gateway is killed, and then Redis restarts. It says what every part took, how long changes took
// to arrive, and whether a user was shown as offline who was not.
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { machine, type Result, versions } from '../figures/result.ts'
import { describeFlags, type Flag, readFlags } from '../platform/flags.ts'
import { watchOthers } from '../platform/others.ts'
import { createProgress } from '../platform/progress.ts'
import { createScope } from '../platform/scope.ts'
import { summary } from '../report/summary.ts'
import { documentProblem, fillDocument, withoutOutput, writeResults } from '../report/write.ts'
import { type MillionOptions, measureMillion } from './phases.ts'

const FLAGS: readonly Flag[] = [
  { name: 'users', sign: '<n>', help: 'users who connect', fallback: '1000000' },
  { name: 'contacts', sign: '<n>', help: 'users that each watches', fallback: '18' },
  { name: 'graph', sign: '<ring|random>', help: 'who watches whom', fallback: 'ring' },
  {
    name: 'placement',
    sign: '<near|any>',
    help: 'neighbours of the ring on one gateway, or all gateways on one port',
    fallback: 'near',
  },
  {
    name: 'per-process',
    sign: '<n>',
    help: 'connections of a gateway and of a load process',
    fallback: '17000',
  },
  { name: 'rate', sign: '<n>', help: 'connections a second while they come', fallback: '600' },
  { name: 'changes', sign: '<n>', help: 'changes a second', fallback: '200' },
  {
    name: 'server',
    sign: '<path>',
    help: 'the script of another server, as greendot.js of the built package',
  },
  { name: 'minutes', sign: '<n>', help: 'minutes of beats and changes', fallback: '10' },
  { name: 'out', sign: '<path>', help: 'folder, or JSON file, for the report with its charts' },
  { name: 'document', sign: '<path>', help: 'document with a place for the table' },
]

const HELP = [
  'npm run bench:million -- [flags]',
  '',
  'Starts Redis, gateways and a load in C (it needs a C compiler) on this machine, and stops them.',
  '',
  ...describeFlags(FLAGS),
].join('\n')

const { flags } = readFlags(FLAGS, { names: [], help: HELP })
const count = (name: string): number => {
  const value = Number(flags.text(name))
  if (value > 0) return value
  console.error(`--${name}: a number above 0`)
  process.exit(2)
}
const graph = flags.text('graph')
if (graph !== 'ring' && graph !== 'random') {
  console.error('--graph: ring or random')
  process.exit(2)
}

const placement = flags.text('placement')
if (placement !== 'near' && placement !== 'any') {
  console.error('--placement: near or any')
  process.exit(2)
}

const server = flags.text('server')
if (server !== null && !statSync(server, { throwIfNoEntry: false })?.isFile()) {
  console.error(`--server: there is no file ${server}`)
  process.exit(2)
}

const document = flags.text('document')
const problem = document === null ? null : documentProblem(document, ['million'])
if (problem !== null) {
  console.error(problem)
  process.exit(2)
}

const out = flags.text('out')
if (out?.endsWith('.md') === true) {
  console.error('--out: a folder or a JSON file; --document names the document for the table')
  process.exit(2)
}

const scope = createScope()
const progress = createProgress(process.stderr)
const folder = mkdtempSync(join(tmpdir(), 'greendot-million-'))
scope.add(() => rmSync(folder, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, () => void scope.close().finally(() => process.exit(130)))
const settings = {
  users: count('users'),
  contacts: count('contacts'),
  graph,
  placement,
  perProcess: count('per-process'),
  connectsPerSecond: count('rate'),
  changesPerSecond: count('changes'),
  minutes: count('minutes'),
} as const
const options: MillionOptions = { ...settings, folder, program: server === null ? null : resolve(server) }
const othersPercent = watchOthers()
const date = new Date().toISOString()
const outcome = await measureMillion(options, { scope, progress }).finally(() => scope.close())
progress.end()
const result: Result = {
  scenario: 'million',
  subject: 'Greendot',
  date,
  command: `npm run bench:million -- ${withoutOutput(process.argv.slice(2)).join(' ')}`,
  machine: machine(),
  versions: versions(options.program),
  settings,
  constants: {},
  othersPercent: othersPercent(),
  ...outcome,
}
console.log(summary(result))
if (document !== null) fillDocument(document, [result], null)
if (out !== null) for (const file of await writeResults(out, [result])) console.error(`written: ${file}`)
process.exit(outcome.problems.length > 0 ? 1 : 0)
