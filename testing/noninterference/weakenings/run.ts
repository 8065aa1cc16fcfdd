// `npm run test:weakenings -- [part of a name …]`: holds every weakened server against the small histories and then
// against random ones, each until it is noticed, and prints by what. Exits 1 when one is not noticed at all.
// NONINTERFERENCE_RUNS says how many random histories of each kind are played at most, GREENDOT_TEST_SEED which.
import { type Catch, caughtByRandom, caughtBySmall } from './catching.ts'
import { WEAKENINGS } from './weakenings.ts'

const RUNS = Number(process.env.NONINTERFERENCE_RUNS ?? 100)
const SEED = Number(process.env.GREENDOT_TEST_SEED ?? 1)

const described = (found: Catch | null) => (found === null ? '-' : `${found.histories}: ${found.by}`)

async function main(filters: readonly string[]): Promise<boolean> {
  const chosen = WEAKENINGS.filter(
    ({ name }) => filters.length === 0 || filters.some((part) => name.includes(part)),
  )
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
  return isEachNoticed
}

process.exitCode = (await main(process.argv.slice(2))) ? 0 : 1
