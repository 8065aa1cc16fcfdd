// `npm run bench:micro`: the small measurements, each beside its yardstick in the same run. With --out
// it writes the constants among them, for `greendot capacity --measured`.
import { writeFileSync } from 'node:fs'
import { machine } from '../figures/result.ts'
import { readFlags } from '../platform/flags.ts'
import { amount, columns, percent } from '../platform/table.ts'
import { MICROS, runMicros } from './all.ts'

const HELP = [
  'npm run bench:micro -- [name …] [--rounds 5] [--round-ms 500] [--out result.json]',
  '',
  ...MICROS.map(({ name, about }) => `  ${name.padEnd(12)}${about}`),
]

const { values, positionals } = readFlags(
  {
    rounds: { type: 'string', default: '5' },
    'round-ms': { type: 'string', default: '500' },
    out: { type: 'string' },
  },
  { names: MICROS.map(({ name }) => name), help: HELP.join('\n') },
)
const scale = { rounds: Number(values.rounds), roundMs: Number(values['round-ms']) }
if (!(scale.rounds >= 1 && scale.roundMs >= 1)) {
  console.error('--rounds and --round-ms: whole numbers from 1')
  process.exit(2)
}

const chosen = MICROS.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
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

if (values.out !== undefined) {
  const constants = readings.flatMap(({ constant }) => (constant === undefined ? [] : [constant]))
  const result = {
    command: ['npm run bench:micro --', ...positionals].join(' '),
    date: new Date().toISOString(),
    machine: machine(),
    constants: Object.fromEntries(constants.map(({ name, value }) => [name, { value: rounded(value) }])),
  }
  writeFileSync(values.out, `${JSON.stringify(result, null, 2)}\n`)
}

/** More digits would claim more than was measured. */
function rounded(value: number): number {
  return Number(value.toPrecision(3))
}
