// Runs test files with `bun test`, several at a time, and counts the results, for `run.ts`. The counts
// come from the JUnit report and are compared with the files that should have run: a file that is missing
// from the report failed, whatever the exit code says. A file that does not load, a test that exits the
// process and a killed run therefore never look like success.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Tally {
  passed: number
  failed: number
  /** Full titles with their file; a title carries the reason. */
  skipped: string[]
  /** Failures that belong to no single test, as sentences. */
  problems: string[]
}

export interface TestRun {
  bun: string
  /** Working directory; `files` are relative to it. */
  root: string
  files: readonly string[]
  /** Files that run at the same time, each in a process and with globals of its own. */
  lanes: number
  /** A JSON file with the duration of each file, so that the slowest start first. */
  timings?: string
  updateTimings?: boolean
  env?: Record<string, string>
  /** Bun prints the output of a file when the file has ended. */
  output: 'inherit' | 'ignore'
}

/** Only ends tests that hang: on a busy machine any test may take several times as long as usual. */
export const TEST_TIMEOUT_MS = 60_000

/** Test files below `folders`, sorted; with filters, those whose path contains one of them. */
export function findTestFiles(
  root: string,
  folders: readonly string[],
  filters: readonly string[],
): string[] {
  const pattern = new Bun.Glob(`{${folders.join(',')}}/**/*.{test,spec}.{ts,tsx}`)
  return [...pattern.scanSync({ cwd: root })]
    .filter((file) => !/(^|\/)(node_modules|dist)\//.test(file))
    .filter((file) => filters.length === 0 || filters.some((filter) => file.includes(filter)))
    .sort()
}

export async function runTestFiles(run: TestRun): Promise<Tally> {
  const folder = mkdtempSync(join(tmpdir(), 'greendot-test-'))
  const reportFile = join(folder, 'report.xml')
  try {
    const child = Bun.spawn({
      cmd: [
        run.bun,
        'test',
        // Processes started by tests end with the run, also when it is interrupted.
        '--no-orphans',
        `--timeout=${TEST_TIMEOUT_MS}`,
        `--parallel=${run.lanes}`,
        ...(run.timings === undefined ? [] : [`--timings=${run.timings}`]),
        ...(run.updateTimings ? ['--update-timings'] : []),
        '--reporter=junit',
        `--reporter-outfile=${reportFile}`,
        ...run.files.map((file) => `./${file}`),
      ],
      cwd: run.root,
      env: { ...process.env, ...run.env },
      stdio: ['ignore', run.output, run.output],
    })
    await child.exited
    const ended = child.signalCode === null ? `exit code ${child.exitCode}` : `signal ${child.signalCode}`
    return tally(readReport(reportFile), run.files, ended)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function readReport(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return null
  }
}

/** Exported for its tests. `ended` is how the process went: `exit code 0` or not. */
export function tally(report: string | null, files: readonly string[], ended: string): Tally {
  const totals = report?.match(/<testsuites\b[^>]*/)?.[0]
  if (report === null || totals === undefined) {
    const problem = `the test process ended early (${ended}) and left no report: nothing it ran counts`
    return { passed: 0, failed: 1, skipped: [], problems: [problem] }
  }
  const reported = new Set(
    Array.from(report.matchAll(/<testsuite\b[^>]*/g), ([tag]) => attribute(tag, 'file')),
  )
  const problems = files
    .filter((file) => !reported.has(file))
    .map((file) => `${file} reported no tests: it did not load, or it holds none`)
  const failures = Number(attribute(totals, 'failures'))
  const skipped = skippedTitles(report)
  if (ended !== 'exit code 0' && failures + problems.length === 0) {
    problems.push(`all tests passed and yet the test process ended with ${ended}`)
  }
  return {
    passed: Number(attribute(totals, 'tests')) - failures - skipped.length,
    failed: failures + problems.length,
    skipped,
    problems,
  }
}

// Values are escaped by the writer, so no `<` or `>` appears inside a tag.
function skippedTitles(report: string): string[] {
  const titles: string[] = []
  const groups: string[] = []
  for (const [tag] of report.matchAll(/<\/?testsuite\b[^>]*>|<testcase\b[^>]*>\s*<skipped/g)) {
    if (tag.startsWith('</')) groups.pop()
    else if (tag.startsWith('<testsuite')) groups.push(attribute(tag, 'name'))
    else {
      const [file, ...rest] = groups
      titles.push(`${file}: ${[...rest, attribute(tag, 'name')].join(' > ')}`)
    }
  }
  return titles
}

function attribute(tag: string, name: string): string {
  const value = tag.match(new RegExp(`\\s${name}="([^"]*)"`))?.[1]
  if (value === undefined) throw new Error(`no ${name} in the test report: ${tag}`)
  return value
    .replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))
    .replace(/&(lt|gt|quot|apos);/g, (_, entity: string) => ENTITIES[entity]!)
    .replaceAll('&amp;', '&')
}

const ENTITIES: Record<string, string> = { lt: '<', gt: '>', quot: '"', apos: "'" }
