// The list of metrics, the alerts and the dashboard, each beside the scrape of a running server: what they name is
// there. promtool checks the text format, the rules and their unit tests.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { STATUSES } from '@greendot/protocol'
import { loadConfig } from '../../packages/server/src/platform/config/config.ts'
import { connect } from '../clients/client.ts'
import { spawnServer, startServer } from '../clients/server.ts'
import { describeWithService } from '../services/describe.ts'
import { findRedis, startRedis } from '../services/redis.ts'
import { findPromtool } from '../services/tools/promtool.ts'
import { at, list, parse, type Yaml } from './deploy-yaml.ts'
import { blocksOf, documentOf, plain, ROOT, rowsOf, section } from './docs-text.ts'
import { comparedIn, familiesIn, labelsIn, metricsIn, type ScrapedFamily } from './scrapes.ts'

const RULES = 'deploy/prometheus/alerts.yml'
const RULE_TESTS = 'deploy/prometheus/alerts.test.yml'
const DASHBOARD = 'deploy/grafana/greendot.json'
/** Set by Prometheus itself. */
const SCRAPER_LABELS = ['instance', 'job']
/** Labels with any values: bounds, names of processes, and the status of an answer. */
const OPEN_LABELS = ['le', 'worker', ...SCRAPER_LABELS]
const HTTP_STATUS = /^[1-5][0-9.]{2}$/

interface Panel {
  type: string
  title: string
  description?: string
  gridPos: { x: number; y: number; w: number; h: number }
  targets?: { expr: string }[]
}

const rules = list(at(list(at(parse(documentOf(RULES)), 'groups'))[0]!, 'rules'))
const textAt = (node: Yaml, keys: string) => String(at(node, keys))
const panels = (JSON.parse(documentOf(DASHBOARD)) as { panels: Panel[] }).panels
const charts = panels.filter(({ type }) => type !== 'row')
/** Grafana fills in its variables. */
const filledIn = (expression: string) =>
  expression.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*')
const expressions = [
  ...rules.map((rule) => [textAt(rule, 'alert'), textAt(rule, 'expr')] as const),
  ...charts.flatMap(({ title, targets }) => targets!.map(({ expr }) => [title, filledIn(expr)] as const)),
]

let scrape: string
beforeAll(async () => {
  // A history makes the log have a consumer.
  const server = await startServer({ history_days: 1 })
  const client = await connect(server.url, 'alice')
  const read = async () => (await fetch(`${server.url}/metrics`)).text()
  // The first answer of all is counted when it is given.
  await read()
  scrape = await read()
  client.close()
  await server.stop()
})

/** The rows of docs/operations.md below a heading, beside what was scraped. */
function expectDocumented(heading: string, families: ReadonlyMap<string, ScrapedFamily>): void {
  const documented = rowsOf(section('docs/operations.md', heading)).map(
    ([name, type, labels, unit, what]) => {
      expect([name, unit, what]).not.toContain('')
      return [plain(name!), type!, labels === '' ? [] : plain(labels!).split(', ').sort()]
    },
  )
  const exposed = Array.from(families, ([name, { type, labels }]) => [name, type, [...labels].sort()])
  expect(documented.sort()).toEqual(exposed.sort())
}

describe('docs/operations.md', () => {
  test('[X8] lists every metric with its type and labels', () =>
    expectDocumented('Metrics', familiesIn(scrape)))

  test('[X8] names the unit of a metric as the metric does', () => {
    for (const [name, , , unit] of rowsOf(section('docs/operations.md', 'Metrics'))) {
      if (/_seconds(_total)?`$/.test(name!))
        expect([name, unit!.toLowerCase()]).toEqual([name, expect.stringContaining('seconds')])
      if (/_bytes`$/.test(name!)) expect([name, unit]).toEqual([name, 'bytes'])
    }
  })

  test('[X8] turns traces on with settings that the program takes', () => {
    const [file] = blocksOf('docs/operations.md', 'json', section('docs/operations.md', 'Traces'))
    const loaded = loadConfig({ argv: ['--dev'], env: {}, readFile: () => file!.text })
    expect(loaded).toMatchObject({
      ok: true,
      config: { otlpEndpoint: 'http://127.0.0.1:4318', traceOneIn: 10 },
    })
  })

  test('[X8] says of every alert what users notice and what to do', () => {
    const rows = rowsOf(section('docs/operations.md', 'Alerts'))
    expect(rows.map(([name]) => plain(name!)).sort()).toEqual(
      rules.map((rule) => textAt(rule, 'alert')).sort(),
    )
    for (const row of rows) expect(row.every((cell) => cell !== '')).toBe(true)
  })
})

describe('alerts and dashboard', () => {
  test.each(expressions)('[X8] %s names metrics and labels that are scraped', (_, expression) => {
    const families = familiesIn(scrape)
    const ofWorkers = rowsOf(section('docs/operations.md', 'Several workers')).map(([name]) => plain(name!))
    const known = new Set(['le', 'worker', ...SCRAPER_LABELS])
    for (const name of metricsIn(expression)) {
      const family = families.get(name) ?? families.get(name.replace(/_bucket$/, ''))
      expect([name, family !== undefined || ofWorkers.includes(name)]).toEqual([name, true])
      // Only histograms have buckets.
      if (name.endsWith('_bucket')) expect([name, family!.type]).toEqual([name, 'histogram'])
      for (const label of family?.labels ?? []) known.add(label)
    }
    for (const label of labelsIn(expression)) expect([...known]).toContain(label)
  })

  // Lists that are closed in the code are exposed with 0 from the start, so a value that is not scraped does not exist.
  test('[X8] values of labels in alerts, their unit tests and charts are those that the server has', () => {
    const families = familiesIn(scrape)
    const series = Array.from(documentOf(RULE_TESTS).matchAll(/series: '([^']+)'/g), ([, one]) => one!)
    expect(series.length).toBeGreaterThan(20)
    const compared = [...expressions.map(([, expression]) => expression), ...series]
      .flatMap(comparedIn)
      .filter(({ label }) => !OPEN_LABELS.includes(label))
    expect(compared.length).toBeGreaterThan(10)
    for (const { metric, label, value } of compared) {
      if (metric === 'greendot_http_responses_total') expect(value).toMatch(HTTP_STATUS)
      else if (metric === 'greendot_users') expect<string[]>([...STATUSES]).toContain(value)
      else expect([...families.get(metric)!.pairs]).toContain(`${label}=${value}`)
    }
  })

  test('[X8] the unit tests of the alerts expect that each of them fires', () => {
    const [, fired] = /count by \(alertname\)[\s\S]*?value: (\d+)/.exec(documentOf(RULE_TESTS))!
    expect(Number(fired)).toBe(rules.length)
  })

  test('[X8] every alert says how bad it is, in a sentence, and where to read on', () => {
    for (const rule of rules) {
      expect(textAt(rule, 'labels severity')).toMatch(/^(critical|warning|info)$/)
      expect(textAt(rule, 'annotations summary')).toMatch(/^.{20,}$/)
      expect(textAt(rule, 'annotations runbook')).toBe('docs/operations.md#alerts')
    }
  })

  test('[X8] every chart has a title of its own, says what it shows, and covers no other', () => {
    const titles = charts.map(({ title }) => title)
    expect(new Set(titles).size).toBe(titles.length)
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`),
    )
    expect(new Set(cells).size).toBe(cells.length)
    for (const { description, targets } of charts) {
      expect(description).toMatch(/^[A-Z].{20,}\.$/)
      expect(targets).not.toBeEmpty()
    }
  })

  test('[X8] every metric is in a chart, or is used by an alert', () => {
    const used = new Set(expressions.flatMap(([, expression]) => metricsIn(expression)))
    const unused = [...familiesIn(scrape)].filter(
      ([name, { type }]) => !used.has(type === 'histogram' ? `${name}_bucket` : name),
    )
    expect(unused.map(([name]) => name)).toEqual([])
  })
})

const promtool = await findPromtool()
const nothingToStart = async () => ({ stop: async () => {} })
describeWithService('promtool', promtool, nothingToStart, () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'greendot-rules-'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  async function run(args: string[], input = ''): Promise<{ code: number; said: string }> {
    const path = promtool.state === 'found' ? promtool.path : ''
    const child = Bun.spawn([path, ...args], {
      cwd: join(ROOT, 'deploy/prometheus'),
      stdin: new Blob([input]),
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const said = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
    return { code: await child.exited, said: said.join('') }
  }

  test('[X8] finds nothing wrong with a scrape', async () => {
    expect(await run(['check', 'metrics'], scrape)).toEqual({ code: 0, said: '' })
  })

  test('[X8] takes the rules, and their unit tests pass', async () => {
    expect(await run(['check', 'rules', '--lint-fatal', 'alerts.yml'])).toMatchObject({ code: 0 })
    expect(await run(['test', 'rules', 'alerts.test.yml'])).toMatchObject({ code: 0 })
  })

  test('[X8] understands every expression of the dashboard', async () => {
    const records = charts.flatMap(({ targets }) => targets!.map(({ expr }) => filledIn(expr)))
    const file = join(folder, 'dashboard.json')
    // JSON is YAML.
    const asRules = records.map((expr, index) => ({ record: `chart:${index}`, expr }))
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules: asRules }] }))
    expect(await run(['check', 'rules', file])).toMatchObject({ code: 0 })
  })
})

describeWithService('several workers', await findRedis(), startRedis, (redis) => {
  test('[X8, C1] docs/operations.md lists what a scrape of them has in addition', async () => {
    const server = await spawnServer({ workers: 2, redis_url: redis().url })
    const all = familiesIn(await (await fetch(`${server.url}/metrics`)).text())
    await server.stop()
    const alone = familiesIn(scrape)
    for (const name of alone.keys()) expect([name, all.delete(name)]).toEqual([name, true])
    expectDocumented('Several workers', all)
  })
})
