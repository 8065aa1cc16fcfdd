// `npm test`: types, lint, tests, in this order and each to its end, whatever became of the one
// before. The last line is the verdict: `N passed, N failed`, and `, N skipped` when some were.
// A property test that fails prints `{ seed, path }`; give both to its `fc.assert` to replay it.
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { findTestFiles, runTestFiles, type Tally, TEST_TIMEOUT_MS } from './bun-tests.ts'

const ROOT = resolve(import.meta.dir, '..')
const TEST_FOLDERS = ['packages', 'testing']

const HELP = `npm test -- [filter …]

Checks types (tsc), style (biome) and behaviour (bun test over ${TEST_FOLDERS.join(', ')}).
A filter is part of a path: only test files whose path contains one of the filters run.
A test may take ${TEST_TIMEOUT_MS / 1000} s unless it says otherwise. Exits 1 when anything failed.

  npm test                    everything
  npm test -- store           test files with "store" in their path
  npm test -- store/memory    the tests of one file
`

const tool = (name: string): string => join(ROOT, 'node_modules', '.bin', name)

async function checkWith(name: string, ...args: string[]): Promise<Tally> {
  const child = Bun.spawn({ cmd: [tool(name), ...args], cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] })
  const passed = (await child.exited) === 0
  return { passed: passed ? 1 : 0, failed: passed ? 0 : 1, skipped: [], problems: [] }
}

/** They wait for pages most of the time, and nothing in them goes by milliseconds. */
const isInBrowser = (file: string): boolean => /browser|openapi-page/.test(file)

/** Those in a browser run beside all others, which run one after the other because many measure time. */
async function runTests(filters: readonly string[]): Promise<Tally> {
  const files = findTestFiles(ROOT, TEST_FOLDERS, filters)
  const lanes = [files.filter((file) => !isInBrowser(file)), files.filter(isInBrowser)].filter(
    (lane) => lane.length > 0,
  )
  const tallies = await Promise.all(
    lanes.map((lane, position) =>
      runTestFiles({
        bun: tool('bun'),
        root: ROOT,
        files: lane,
        output: position === 0 ? 'inherit' : 'last',
      }),
    ),
  )
  if (tallies.length > 0) return tallies.reduce(together)
  const problem = `no test file has ${filters.map((filter) => `"${filter}"`).join(' or ')} in its path`
  return { passed: 0, failed: 1, skipped: [], problems: [problem] }
}

const together = (one: Tally, other: Tally): Tally => ({
  passed: one.passed + other.passed,
  failed: one.failed + other.failed,
  skipped: [...one.skipped, ...other.skipped],
  problems: [...one.problems, ...other.problems],
})

/** One heading before and one after; a tool that is missing or breaks is a failure like any other. */
async function part(name: string, toolName: string, run: () => Promise<Tally>): Promise<Tally> {
  console.log(`== ${name}`)
  const startedAt = performance.now()
  let result: Tally
  try {
    if (!existsSync(tool(toolName))) throw new Error(`${toolName} is not installed: run npm install`)
    result = await run()
  } catch (error) {
    result = { passed: 0, failed: 1, skipped: [], problems: [String(error)] }
  }
  for (const problem of result.problems) console.log(problem)
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  console.log(`== ${name}: ${result.failed === 0 ? 'ok' : 'FAILED'} in ${seconds} s\n`)
  return result
}

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    console.log(HELP)
    return 0
  }
  const unknown = args.find((arg) => arg.startsWith('-'))
  if (unknown !== undefined) {
    console.error(`unknown option ${unknown}; try --help`)
    return 2
  }
  const parts = [
    await part('types', 'tsc', () => checkWith('tsc', '--noEmit')),
    await part('lint', 'biome', () => checkWith('biome', 'check', '.')),
    await part('tests', 'bun', () => runTests(args)),
  ]
  const sum = (count: (tally: Tally) => number): number =>
    parts.reduce((total, tally) => total + count(tally), 0)
  const failed = sum((tally) => tally.failed)
  const skipped = parts.flatMap((tally) => tally.skipped)
  if (skipped.length > 0) console.log(`Skipped, with the reason in the title:\n  ${skipped.join('\n  ')}\n`)
  const verdict = `${sum((tally) => tally.passed)} passed, ${failed} failed`
  console.log(skipped.length > 0 ? `${verdict}, ${skipped.length} skipped` : verdict)
  return failed === 0 ? 0 : 1
}

process.exitCode = await main(process.argv.slice(2))
