// `greendot-bench <scenario …>`: starts a server for each scenario, runs it, prints the figures and writes
// the report. Everything that was started is stopped, also after Ctrl-C.

import { resolve } from 'node:path'
import { CATALOG, type ScenarioName } from './catalog.ts'
import { machine, type Outcome, type Result, versions } from './figures/result.ts'
import { createLoad } from './load/load-worker.ts'
import { takeOrders } from './load/worker.ts'
import { FLAGS, loadsFor, type Options, parseOptions, timedUsers } from './options.ts'
import { describeFlags, wantsHelp } from './platform/flags.ts'
import { watchOthers } from './platform/others.ts'
import { EXIT, type ExitCode, type Outlet } from './platform/outlet.ts'
import { BenchProblem } from './platform/problem.ts'
import { filesMax } from './platform/proc.ts'
import { createProgress } from './platform/progress.ts'
import { createScope } from './platform/scope.ts'
import { summary } from './report/summary.ts'
import { documentProblem, fillDocument, isDocument, withoutOutput, writeResults } from './report/write.ts'
import type { Bench } from './scenarios/scenario.ts'
import { SCENARIOS } from './scenarios/scenarios.ts'
import { createBareServer } from './subject/bare-server.ts'
import { startGreendot } from './subject/greendot.ts'

const WORKER = '--worker'

const HELP = [
  'greendot bench: measures a server under load and writes a report',
  '',
  'As in: greendot bench churn --users 5000 --contacts 18 --rate 1000 --out report',
  'Starts a server and load generators on this machine, one scenario after the other, and stops them.',
  '',
  ...Object.entries(CATALOG).map(([name, summary]) => `  ${name.padEnd(11)}  ${summary}`),
  '  capacity     how many machines a number of users needs; it has a --help of its own',
  '',
  ...describeFlags(FLAGS),
].join('\n')

export async function runBench(argv: readonly string[], outlet: Outlet): Promise<ExitCode> {
  if (argv[0] === WORKER) return takeOrders(argv[1] === 'bare' ? createBareServer() : createLoad())
  if (wantsHelp(argv)) {
    outlet.print(HELP)
    return EXIT.ok
  }
  const parsed = parseOptions(argv)
  if (!parsed.ok) {
    outlet.complain(parsed.problem)
    return EXIT.usage
  }
  const { options } = parsed
  const documents = options.out.filter(isDocument)
  const tables = options.table === null ? options.scenarios : [options.table]
  for (const path of documents) {
    const problem = documentProblem(path, tables)
    if (problem === null) continue
    outlet.complain(problem)
    return EXIT.usage
  }
  const tooFew = filesProblem(options)
  if (tooFew !== null) {
    outlet.complain(tooFew)
    return EXIT.failed
  }
  const progress = createProgress(process.stderr)
  const scope = createScope()
  const isInterrupted = onInterrupt(async () => {
    progress.end()
    await scope.close()
    process.exit(130)
  })
  const results: Result[] = []
  try {
    for (const name of options.scenarios) {
      const result = await runScenario(name, { options, scope, progress }, argv)
      progress.end()
      outlet.print(summary(result))
      results.push(result)
    }
  } catch (error) {
    progress.end()
    // Errors of processes that are being stopped are expected.
    if (isInterrupted()) return new Promise<never>(() => {})
    if (!(error instanceof BenchProblem)) throw error
    outlet.complain(error.message)
    return EXIT.failed
  } finally {
    await scope.close()
    await writeAll(options, results, (file) => progress.say(`written: ${file}`))
  }
  return results.some(({ problems }) => problems.length > 0) ? EXIT.failed : EXIT.ok
}

async function writeAll(options: Options, results: readonly Result[], onWritten: (file: string) => void) {
  if (results.length === 0) return
  for (const path of options.out) {
    if (!isDocument(path)) for (const file of await writeResults(path, results)) onWritten(file)
    else {
      fillDocument(path, results, options.table)
      onWritten(path)
    }
  }
}

async function runScenario(name: ScenarioName, bench: Bench, argv: readonly string[]): Promise<Result> {
  const { options, scope, progress } = bench
  const scenario = SCENARIOS[name]
  const date = new Date().toISOString()
  const othersPercent = watchOthers()
  progress.show(`${name}: starting the server`)
  const program = options.server === null ? null : resolve(options.server)
  const subject = await startGreendot(
    {
      ...(program === null ? {} : { program }),
      gateways: options.gateways,
      redis: options.redisUrl !== null ? { url: options.redisUrl } : options.redis ? 'own' : null,
      kafka: options.kafkaBrokers !== null ? { brokers: options.kafkaBrokers } : options.kafka ? 'own' : null,
      port: options.port,
      core: options.serverCore,
      encoding: options.encoding,
      settings: [...(scenario.settings ?? []), ...options.settings],
    },
    scope,
  )
  const outcome: Outcome = await scenario.run(subject, bench)
  await scope.close()
  return {
    scenario: name,
    subject: subject.title,
    date,
    command: `greendot bench ${withoutOutput(argv).join(' ')}`,
    machine: machine(),
    versions: versions(program),
    settings: { ...options },
    constants: {},
    othersPercent: othersPercent(),
    ...outcome,
  }
}

/** Besides connections a process has the files of its program, its database and its channels. */
const OTHER_FILES = 200

function filesProblem(options: Options): string | null {
  const { gateways, scenarios } = options
  const users = options.users + (scenarios.includes('connect') ? timedUsers(options) : 0)
  const needed = Math.ceil(users / Math.min(gateways, loadsFor({ ...options, users }))) + OTHER_FILES
  const max = filesMax()
  if (needed <= max) return null
  return (
    `a process may open ${max} files here, and ${needed} are needed: raise the limit (ulimit -n ${needed}), ` +
    'or spread the users over more --gateways and --loads'
  )
}

/** The first Ctrl-C stops in order, a second one at once. */
function onInterrupt(stop: () => Promise<void>): () => boolean {
  let asked = false
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (asked) process.exit(130)
      asked = true
      void stop()
    })
  }
  return () => asked
}
