// `npm test`: types, lint and tests, side by side, each to its end. The last line is the verdict:
// `N passed, N failed`, and `, N skipped` if any were skipped.
// A property test that fails prints `{ seed, path }`; give both to its `fc.assert` to replay it.
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { findTestFiles, runTestFiles, type Tally, TEST_TIMEOUT_MS } from './bun-tests.ts'
import { readCommandLine } from './services/command-line.ts'
import { NO_INSTALLING } from './services/install.ts'
import { findKafka } from './services/kafka.ts'
import { findPostgres } from './services/postgres.ts'
import { findRedis } from './services/redis.ts'
import { findCaddy } from './services/tools/caddy.ts'
import { findChromium, installHeadlessShell } from './services/tools/chromium.ts'
import { findDeno } from './services/tools/deno.ts'
import { findGrpcio } from './services/tools/grpcio.ts'
import { findGrpcurl } from './services/tools/grpcurl.ts'
import { findKafkaPython } from './services/tools/kafka-python.ts'
import { findNginx } from './services/tools/nginx.ts'
import { findOtlpReceiver } from './services/tools/otlp.ts'
import { findPromtool } from './services/tools/promtool.ts'
import { findSchemathesis } from './services/tools/schemathesis.ts'

const ROOT = resolve(import.meta.dir, '..')
const TEST_FOLDERS = ['packages', 'testing']
/** More than there are cores, because many tests wait for a delay or for another process. */
const LANES = Math.min(availableParallelism(), 8) + 2

const HELP = `npm test -- [filter …]

Checks types (tsc), style (biome) and behaviour (bun test over ${TEST_FOLDERS.join(', ')}).
A filter is part of a path: only test files whose path contains one of the filters run.
${LANES} files run at a time. A test may take ${TEST_TIMEOUT_MS / 1000} s unless it says otherwise; that
ends tests that hang and says nothing about speed. Exits 1 if anything failed.

  npm test                        everything
  npm test -- store               test files with "store" in their path
  npm test -- store/memory        the tests of one file
  npm test -- --update-timings    also writes testing/timings.json, which starts the slowest files first
`

const { values, positionals: filters } = readCommandLine({
  allowPositionals: true,
  options: {
    'update-timings': { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
})

const tool = (name: string): string => join(ROOT, 'node_modules', '.bin', name)

/** The output is kept until the end, so that it does not mix with the tests that run meanwhile. */
async function checkWith(name: string, ...args: string[]): Promise<Tally> {
  const child = Bun.spawn({ cmd: [tool(name), ...args], cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] })
  const output = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  process.stdout.write(output.join(''))
  const passed = (await child.exited) === 0
  return { passed: passed ? 1 : 0, failed: passed ? 0 : 1, skipped: [], problems: [] }
}

/** Packages of the system. They are installed one after the other, because the package manager allows only one. */
const PACKAGED = [
  findRedis,
  findPostgres,
  findChromium,
  findNginx,
  findCaddy,
  findPromtool,
  installHeadlessShell,
]
/** Fetched or built in a folder of their own. */
const FETCHED = [
  findDeno,
  findSchemathesis,
  findKafka,
  findKafkaPython,
  findGrpcio,
  findGrpcurl,
  findOtlpReceiver,
]

/** Once and before all tests, so that test processes that run side by side only have to look. */
async function installServices(): Promise<void> {
  const installPackages = async () => {
    for (const install of PACKAGED) await install()
  }
  await Promise.all([installPackages(), ...FETCHED.map((fetch) => fetch())])
}

async function runTests(): Promise<Tally> {
  const files = findTestFiles(ROOT, TEST_FOLDERS, filters)
  if (files.length === 0) {
    const problem = `no test file has ${filters.map((filter) => `"${filter}"`).join(' or ')} in its path`
    return { passed: 0, failed: 1, skipped: [], problems: [problem] }
  }
  // A part of the tests may need none of them.
  if (filters.length === 0) await installServices()
  return runTestFiles({
    bun: tool('bun'),
    root: ROOT,
    files,
    lanes: LANES,
    timings: join(ROOT, 'testing', 'timings.json'),
    env: filters.length === 0 ? { [NO_INSTALLING]: '1' } : {},
    updateTimings: values['update-timings'],
    output: 'inherit',
  })
}

/** A line when it starts and one when it ends; a tool that is missing or breaks is a failure. */
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

async function main(): Promise<number> {
  if (values.help) {
    console.log(HELP)
    return 0
  }
  const parts = await Promise.all([
    part('types', 'tsc', () => checkWith('tsc', '--noEmit')),
    part('lint', 'biome', () => checkWith('biome', 'check', '.')),
    part('tests', 'bun', runTests),
  ])
  const sum = (count: (tally: Tally) => number): number =>
    parts.reduce((total, tally) => total + count(tally), 0)
  const failed = sum((tally) => tally.failed)
  const skipped = parts.flatMap((tally) => tally.skipped)
  if (skipped.length > 0) console.log(`Skipped, with the reason in the title:\n  ${skipped.join('\n  ')}\n`)
  const verdict = `${sum((tally) => tally.passed)} passed, ${failed} failed`
  console.log(skipped.length > 0 ? `${verdict}, ${skipped.length} skipped` : verdict)
  return failed === 0 ? 0 : 1
}

process.exitCode = await main()
