import { expect, test } from 'bun:test'
import { machine, type Result, versions } from '../figures/result.ts'
import { renderReport } from './page.ts'
import { summary } from './summary.ts'

const result: Result = {
  scenario: 'churn',
  subject: 'Greendot',
  date: '2030-01-02T03:04:05.000Z',
  command: 'greendot bench churn --set note=<b>',
  machine: machine(),
  versions: versions(),
  settings: { users: 5 },
  constants: {},
  othersPercent: null,
  figures: [
    { name: 'rate', label: 'deliveries', value: 12_345.6, unit: 'a second' },
    { name: 'late', label: 'p99 </script>', value: 1.234, unit: 'ms' },
  ],
  curves: [{ label: 'change to receipt', count: 3, points: [{ percentile: 50, ms: 1 }] }],
  timeS: [1, 2],
  series: [
    { chart: 'cpu', label: 'server', unit: '%', values: [1, 2] },
    { chart: 'latency', label: 'p99', unit: 'ms', values: [null, null] },
  ],
  problems: ['2 errors & more'],
  notes: ['read this'],
}

test('[C9] a report has the figures, the faults and a place for each chart that has values', () => {
  const page = renderReport([result])
  expect(page).toContain('<td>12,346 a second</td>')
  expect(page).toContain('2 errors &#38; more')
  expect(page.match(/data-chart="\w+"/g)).toEqual(['data-chart="curve"', 'data-chart="cpu"'])
})

test('[C9] data is escaped, and the page loads nothing else', () => {
  const page = renderReport([result])
  expect(page).toContain('note=&#60;b&#62;')
  expect(page.match(/<\/script>/g)).toHaveLength(3)
  expect(page).not.toMatch(/(src|href)="/)
  const data = /id="results">(.*)<\/script>/.exec(page)![1]!
  expect(JSON.parse(data)).toEqual([JSON.parse(JSON.stringify(result))])
})

test('[C9] the summary has a line for each figure and each fault', () => {
  expect(summary(result).split('\n')).toEqual([
    'churn (Greendot)',
    '  deliveries     12,346 a second',
    '  p99 </script>  1.23 ms',
    '  (read this)',
    '  FAULT: 2 errors & more',
  ])
  expect(summary({ ...result, problems: [] })).toContain('no errors')
  expect(summary({ ...result, table: '| a |' })).toContain('| a |')
})
