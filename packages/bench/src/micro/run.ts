// `npm run bench:micro`: the small measurements, each beside its yardstick in the same run. With --out
// it writes the constants among them, for `greendot capacity --measured`.
import { writeFileSync } from 'node:fs'
import { machine, versions } from '../figures/result.ts'
import { describeFlags, type Flag, readFlags } from '../platform/flags.ts'
import { amount, columns, percent } from '../platform/table.ts'
import { MICROS, runMicros } from './all.ts'

const FLAGS: readonly Flag[] = [
  { name: 'rounds', sign: '<n>', help: 'rounds of each; the best counts', fallback: '5' },
  { name: 'round-ms', sign: '<n>', help: 'length of a round', fallback: '500' },
  { name: 'out', sign: '<path>', help: 'JSON file for the constants among the figures' },
]

const HELP = [
  'npm run bench:micro -- [name …] [flags]',
  '',
  ...MICROS.map(({ name, about }) => `  ${name.padEnd(12)}${about}`),
  '',
  ...describeFlags(FLAGS),
].join('\n')

const { flags, words } = readFlags(FLAGS, { names: MICROS.map(({ name }) => name), help: HELP })
const scale = { rounds: Number(flags.text('rounds')), roundMs: Number(flags.text('round-ms')) }
const out = flags.text('out')
if (!(scale.rounds >= 1 && scale.roundMs >= 1)) {
  console.error('--rounds and --round-ms: whole numbers from 1')
  process.exit(2)
}

const chosen = MICROS.filter(({ name }) => words.length === 0 || words.includes(name))
const { readings, skipped } = await runMicros(chosen, scale, ({ name }) => console.error(`measuring ${name}`))
const rows = readings.map(({ name, ours, unit, bare, ratio }) => [
  name,
  amount(ours),
  bare === null ? '' : amount(bare),
  ratio === null ? '' : percent(ratio),
  unit,
])
for (const row of columns([['', 'ours', 'bare', 'ratio', ''], ...rows])) console.log(row)
for (const { name, why } of skipped) console.log(`${name}: left out, because ${why}`)

if (out !== null) {
  const constants = readings.flatMap(({ constant }) => (constant === undefined ? [] : [constant]))
  const result = {
    command: ['npm run bench:micro', ...(words.length === 0 ? [] : ['--', ...words])].join(' '),
    versions: versions(),
    date: new Date().toISOString(),
    machine: machine(),
    constants: Object.fromEntries(constants.map(({ name, value }) => [name, { value: rounded(value) }])),
  }
  writeFileSync(out, `${JSON.stringify(result, null, 2)}\n`)
}

/** More digits would claim more than was measured. */
function rounded(value: number): number {
  return Number(value.toPrecision(3))
}
