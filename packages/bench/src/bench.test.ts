// One small scenario through the command line, with a real server and real load processes.
import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FIGURES } from './compare/measure.ts'
import type { Result } from './figures/result.ts'

const folder = mkdtempSync(join(tmpdir(), 'greendot-bench-test-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const CLI = join(import.meta.dir, 'cli.ts')

const bench = (...argv: string[]) => run(CLI, ...argv)

async function run(script: string, ...argv: string[]) {
  const child = Bun.spawn([process.execPath, script, ...argv], { stdio: ['ignore', 'pipe', 'pipe'] })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { out, err, code: await child.exited }
}

test('[C9, X7] churn of 50 users: every watcher receives every change, and the report is written', async () => {
  const flags = ['--users', '50', '--contacts', '6', '--rate', '50', '--seconds', '1', '--no-pin']
  const document = join(folder, 'document.md')
  writeFileSync(document, '# Title\n\n<!-- table: few -->\n<!-- /table -->\n\nText.\n')
  const outs = ['--out', folder, '--out', document, '--table', 'few']
  const { out, err, code } = await bench('churn', ...flags, '--loads', '2', '--exact', '50', ...outs)
  expect({ code, err }).toMatchObject({ code: 0 })
  expect(out).toContain('no errors')
  const result = JSON.parse(readFileSync(join(folder, 'churn.json'), 'utf8')) as Result
  expect(result.problems).toEqual([])
  if (process.platform === 'linux') expect(result.othersPercent).toBeGreaterThanOrEqual(0)
  expect(result).toMatchObject({ scenario: 'churn', subject: 'Greendot', settings: { users: 50 } })
  // The measured second: 50 changes, each with 6 watchers; all are counted when a newer one took their place.
  expect(result.curves[0]!.count).toBe(50 * 6)
  const figures = Object.fromEntries(result.figures.map(({ name, value }) => [name, value]))
  expect(figures.deliveries_per_second).toBeGreaterThan(0)
  expect(figures.churn_p99_ms).toBeGreaterThan(0)
  expect(readFileSync(join(folder, 'report.html'), 'utf8')).toContain('id="results"')
  const filled = readFileSync(document, 'utf8')
  expect(filled).toMatch(/^# Title\n\n<!-- table: few -->\n\n\|[\s\S]+\n\n<!-- \/table -->\n\nText\.\n$/)
  expect(filled).toContain(`\`npx greendot bench churn ${flags.join(' ')} --loads 2 --exact 50\``)
})

/** A status as JSON takes about 190. What counts is all that a connection receives, so also its user's own view. */
const COMPACT_BYTES_MAX = 70

test('[C9, C10] in the compact encoding every change arrives too, in few bytes', async () => {
  const flags = ['--users', '50', '--contacts', '12', '--rate', '50', '--seconds', '1', '--no-pin']
  const file = join(folder, 'compact.json')
  const more = ['--exact', '50', '--encoding', 'compact', '--out', file]
  const { code, err } = await bench('churn', ...flags, ...more)
  expect({ code, err }).toMatchObject({ code: 0 })
  const { figures, problems, curves } = JSON.parse(readFileSync(file, 'utf8')) as Result
  expect(problems).toEqual([])
  expect(curves[0]!.count).toBe(50 * 12)
  const bytes = figures.find(({ name }) => name === 'bytes_per_delivery')!.value
  expect(bytes).toBeGreaterThan(0)
  expect(bytes).toBeLessThan(COMPACT_BYTES_MAX)
})

test('[C9] connect times users while all others are connected', async () => {
  const file = join(folder, 'connect.json')
  const flags = ['--users', '40', '--contacts', '4', '--rate', '40', '--seconds', '1', '--no-pin']
  const { code, err } = await bench('connect', ...flags, '--out', file)
  expect({ code, err }).toMatchObject({ code: 0 })
  const { figures, curves } = JSON.parse(readFileSync(file, 'utf8')) as Result
  const value = (wanted: string) => figures.find(({ name }) => name === wanted)?.value
  expect([value('connected'), value('connect_arrivals'), curves[0]!.count]).toEqual([40, 40, 40])
  for (const percentile of [90, 95, 99]) expect(value(`connect_p${percentile}_ms`)).toBeGreaterThan(0)
})

test('[X7] a document without a place for the table is refused before anything is measured', async () => {
  const { err, code } = await bench('idle', '--out', join(folder, 'none.md'))
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('there is no document') })
  const document = join(folder, 'empty.md')
  writeFileSync(document, '# Title\n')
  const again = await bench('idle', '--out', document)
  expect(again).toMatchObject({ code: 2, err: expect.stringContaining('add <!-- table: idle -->') })
})

test('[C9] a port that is in use is reported in one line', async () => {
  const taken = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const { err, code } = await bench('churn', '--users', '10', '--contacts', '2', '--port', String(taken.port))
  taken.stop(true)
  expect(code).toBe(1)
  expect(err).toContain(`the server did not start`)
  expect(err).toContain(String(taken.port))
})

test('[X7] a checkout compared with itself has both columns and a ratio for each figure', async () => {
  const script = join(import.meta.dir, 'compare/run.ts')
  const base = join(import.meta.dir, '../../..')
  const flags = ['--rounds', '1', '--users', '20', '--seconds', '1']
  const { out, code } = await run(script, '--base', base, ...flags)
  expect(code).toBe(0)
  const rows = out.split('\n').filter((row) => /[\d.,]+ +[\d.,]+ +\d+\.\d\d$/.test(row))
  expect(rows.map((row) => row.split(/ {2,}/)[0])).toEqual(Object.values(FIGURES))
  const { err, code: refused } = await run(script, '--base', folder)
  expect([refused, err]).toEqual([2, expect.stringContaining('there is no packages/server/src/cli.ts')])
})
