import { expect, test } from 'bun:test'
import type { Result } from '../figures/result.ts'
import { runsOf, tableOf, withTable } from './document.ts'

const RESULT: Result = {
  scenario: 'idle',
  subject: 'Greendot',
  date: '2030-01-02T03:04:05.000Z',
  command: 'greendot bench idle --users 5',
  machine: { cpu: 'a processor', cores: 2, memoryBytes: 1, system: 'linux' },
  versions: { greendot: '1.2.3', bun: '4.5.6', commit: 'abc1234' },
  settings: {},
  constants: {},
  othersPercent: 3.4,
  figures: [
    { name: 'connected', label: 'connected users', value: 5, unit: '' },
    { name: 'late', label: 'p99', value: 1.234, unit: 'ms' },
  ],
  curves: [],
  timeS: [],
  series: [],
  problems: [],
  notes: [],
}

test('[X7] a table has the figures, and the command, the commit and the day below', () => {
  expect(tableOf(RESULT).split('\n')).toEqual([
    '|                 |         |',
    '| --------------- | ------- |',
    '| connected users | 5       |',
    '| p99             | 1.23 ms |',
    '',
    '`npx greendot bench idle --users 5`, commit abc1234, 2030-01-02, other programs took 3 % of a core',
  ])
  const installed = { ...RESULT, othersPercent: null, versions: { greendot: '1.2.3', bun: '4.5.6' } }
  expect(tableOf(installed)).toEndWith(', version 1.2.3, 2030-01-02')
})

test('[X7] the faults of a run are part of its table', () => {
  expect(tableOf({ ...RESULT, problems: ['2 errors'] })).toContain('\n\nFault: 2 errors.\n\n')
})

test('[X7] a table replaces what is between its markers, and nothing else', () => {
  const place = (name: string, text: string) => `<!-- table: ${name} -->\n${text}\n<!-- /table -->`
  const document = `# A\n${place('one', 'old')}\ntext\n${place('two', 'old $1')}\n`
  const once = withTable(document, 'two', '| new $& |')!
  expect(once).toBe(`# A\n${place('one', 'old')}\ntext\n${place('two', '\n| new $& |\n')}\n`)
  expect(withTable(once, 'two', '| new $& |')).toBe(once)
  expect(withTable(document, 'three', '')).toBeNull()
  expect(withTable('<!-- table: one -->\n', 'one', '')).toBeNull()
})

test('[X7] the commands of a document are those below its tables, each once', () => {
  const places = ['idle', 'connect', 'few', 'empty'].map(
    (name) => `<!-- table: ${name} -->\n<!-- /table -->\n`,
  )
  const both = tableOf({ ...RESULT, command: 'greendot bench idle connect --users 5' })
  let document = places.join('\n')
  for (const name of ['idle', 'connect']) document = withTable(document, name, both)!
  document = withTable(document, 'few', tableOf(RESULT))!
  expect(runsOf(document)).toEqual([
    { argv: ['idle', 'connect', '--users', '5'], tables: ['idle', 'connect'] },
    { argv: ['idle', '--users', '5'], tables: ['few'] },
  ])
})
