// `npm run bench:tables -- <document> [name …]`: runs the command below each table of a document again, and fills the
// tables in. Without names, all of them; one command after the other.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readArguments } from './platform/flags.ts'
import { runsOf } from './report/document.ts'

const HELP = [
  'npm run bench:tables -- <document> [name …]',
  '',
  'Runs the command below each table of the document again and fills the tables in. Names are those of the markers,',
  '<!-- table: name -->; without any, all tables are measured. Leave the machine alone meanwhile.',
].join('\n')

const [document, ...names] = readArguments(HELP)
if (document === undefined || !existsSync(document)) {
  console.error(document === undefined ? `name a document\n\n${HELP}` : `there is no document ${document}`)
  process.exit(2)
}
const runs = runsOf(readFileSync(document, 'utf8'))
const unknown = names.find((name) => !runs.some(({ tables }) => tables.includes(name)))
if (unknown !== undefined) {
  const known = runs.flatMap(({ tables }) => tables)
  console.error(`"${unknown}": no such table with a command; there are ${known.join(', ')}`)
  process.exit(2)
}

const chosen = runs.filter(
  ({ tables }) => names.length === 0 || tables.some((table) => names.includes(table)),
)
let failed = 0
for (const { argv, tables } of chosen) {
  // A run of several scenarios fills the tables that have their names.
  const marker = tables.length === 1 ? ['--table', tables[0]!] : []
  console.error(`measuring ${tables.join(', ')}`)
  const command = [process.execPath, join(import.meta.dir, 'cli.ts'), ...argv, '--out', document, ...marker]
  if ((await Bun.spawn(command, { stdio: ['ignore', 'inherit', 'inherit'] }).exited) !== 0) failed++
}
process.exit(failed === 0 ? 0 : 1)
