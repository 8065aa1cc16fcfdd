// `greendot bench`: reads the command line, starts a server for each scenario, runs it, says what was
// found and writes it down. Whatever was started is stopped, also after Ctrl-C.

import type { ScenarioName } from './catalog.ts'
import { machine, type Outcome, type Result, versions } from './figures/result.ts'
import { createLoad } from './load/load-worker.ts'
import { takeOrders } from './load/worker.ts'
import { loadsFor, type Options, parseOptions } from './options.ts'
import { BenchProblem } from './platform/problem.ts'
import { filesMax } from './platform/proc.ts'
import { createProgress } from './platform/progress.ts'
import { createScope } from './platform/scope.ts'
import { summary } from './report/summary.ts'
import { writeResults } from './report/write.ts'
import type { Bench } from './scenarios/scenario.ts'
import { SCENARIOS } from './scenarios/scenarios.ts'
import { createBareServer } from './subject/bare-server.ts'
import { startGreendot } from './subject/greendot.ts'

const WORKER = '--worker'

export interface Outlet {
  print(line: string): void
  complain(line: string): void
}

/** The exit code: 0 done, 1 failed or found a fault, 2 used wrongly. */
export async function runBench(argv: readonly string[], outlet: Outlet): Promise<0 | 1 | 2> {
  if (argv[0] === WORKER) return takeOrders(argv[1] === 'bare' ? createBareServer() : createLoad())
  const parsed = parseOptions(argv)
  if (!parsed.ok) {
    outlet.complain(parsed.problem)
    return 2
  }
  const { options } = parsed
  const tooFew = filesProblem(options)
  if (tooFew !== null) {
    outlet.complain(tooFew)
    return 1
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
    // Whatever breaks while everything is being stopped is no news.
    if (isInterrupted()) return new Promise<never>(() => {})
    if (!(error instanceof BenchProblem)) throw error
    outlet.complain(error.message)
    return 1
  } finally {
    await scope.close()
    if (options.out !== null && results.length > 0)
      for (const file of await writeResults(options.out, results)) progress.say(`written: ${file}`)
  }
  return results.some(({ problems }) => problems.length > 0) ? 1 : 0
}

async function runScenario(name: ScenarioName, bench: Bench, argv: readonly string[]): Promise<Result> {
  const { options, scope, progress } = bench
  const scenario = SCENARIOS[name]
  const date = new Date().toISOString()
  progress.show(`${name}: starting the server`)
  const subject = await startGreendot(
    {
      gateways: options.gateways,
      redis: options.redisUrl !== null ? { url: options.redisUrl } : options.redis ? 'own' : null,
      port: options.port,
      core: options.serverCore,
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
    command: `greendot bench ${argv.join(' ')}`,
    machine: machine(),
    versions: versions(),
    settings: { ...options },
    constants: {},
    ...outcome,
  }
}

/** Besides connections a process has the files of its program, its database and its channels. */
const OTHER_FILES = 200

function filesProblem(options: Options): string | null {
  const { users, gateways } = options
  const needed = Math.ceil(users / Math.min(gateways, loadsFor(options))) + OTHER_FILES
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
