// `npm run test:openapi`: the test of the OpenAPI document with as many requests as wanted.
import { readCommandLine } from '../services/command-line.ts'
import { findSchemathesis } from '../services/tools/schemathesis.ts'
import { IDENTITIES, startTestedServer } from './identities.ts'
import { runSchemathesis } from './schemathesis.ts'

const HELP = `npm run test:openapi -- [--examples 50] [--seed 1]

Starts a server and calls every operation of its OpenAPI document with Schemathesis, first with a server key, then
with the token of a user. Needs Python 3.10 or later; pip fetches the rest, once. Exits 1 if anything is wrong.

  --examples   random requests per operation
  --seed       another seed makes other requests`

const { values } = readCommandLine({
  options: {
    examples: { type: 'string', default: '50' },
    seed: { type: 'string', default: '1' },
    help: { type: 'boolean', short: 'h', default: false },
  },
})

function wholeNumber(name: 'examples' | 'seed'): number {
  if (/^[1-9]\d{0,8}$/.test(values[name])) return Number(values[name])
  console.error(`--${name} is a whole number from 1 on; try --help`)
  process.exit(2)
}

async function main(): Promise<number> {
  if (values.help) {
    console.log(HELP)
    return 0
  }
  const [examples, seed] = [wholeNumber('examples'), wholeNumber('seed')]
  const program = await findSchemathesis()
  if (program.state === 'missing') {
    console.error(`Schemathesis cannot run: ${program.why}`)
    return 2
  }
  let failed = 0
  for (const [name, { token }] of Object.entries(IDENTITIES)) {
    console.log(`\n== with ${name}`)
    const server = await startTestedServer()
    const { url } = server
    const run = { program, url, token: token(), examples, seed, output: 'inherit' } as const
    if (!(await runSchemathesis(run)).passed) failed++
    await server.stop()
  }
  return failed === 0 ? 0 : 1
}

process.exitCode = await main()
