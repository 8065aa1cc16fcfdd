// `npm run test:weakenings -- [part of a name …]`: holds every weakened server against the small histories and then
// against random ones, each until it is noticed, and prints by what. Exits 1 when one is not noticed at all.
import { readCommandLine } from '../../services/command-line.ts'
import { type Catch, caughtByRandom, caughtBySmall } from './catching.ts'
import { WEAKENINGS } from './weakenings.ts'

const RUNS = Number(process.env.NONINTERFERENCE_RUNS ?? 100)
const SEED = Number(process.env.GREENDOT_TEST_SEED ?? 1)

const HELP = `npm run test:weakenings -- [part of a name …]

Weakens one privacy check of the server after the other, and looks which of the small and of the random histories
notices it. Without a part of a name, all of them run. Exits 1 when one is not noticed at all.

  NONINTERFERENCE_RUNS   how many random histories of each kind at most (100)
  GREENDOT_TEST_SEED     which random histories (1)
  --help                 this text

${WEAKENINGS.map(({ name, breaks }) => `${name} (${breaks})`).join('\n')}`

const { values, positionals: filters } = readCommandLine({
  allowPositionals: true,
  options: { help: { type: 'boolean', short: 'h', default: false } },
})

const described = (found: Catch | null) => (found === null ? '-' : `${found.histories}: ${found.by}`)

async function main(): Promise<number> {
  if (values.help) {
    console.log(HELP)
    return 0
  }
  const chosen = WEAKENINGS.filter(
    ({ name }) => filters.length === 0 || filters.some((part) => name.includes(part)),
  )
  if (chosen.length === 0) {
    console.error(`no weakening is called ${filters.join(' or ')}; try --help`)
    return 2
  }
  let isEachNoticed = true
  for (const weakening of chosen) {
    const small = await caughtBySmall(weakening)
    const random = await caughtByRandom(weakening, { runs: RUNS, seed: SEED })
    const isNoticed = small !== null || random !== null
    isEachNoticed &&= isNoticed
    console.log(`${isNoticed ? 'noticed ' : 'SURVIVED'}  ${weakening.name}  (${weakening.breaks})`)
    console.log(`          small   ${described(small)}`)
    console.log(`          random  ${described(random)}`)
  }
  return isEachNoticed ? 0 : 1
}

process.exitCode = await main()
