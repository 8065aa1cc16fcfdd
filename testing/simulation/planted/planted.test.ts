// Bugs that are planted are caught. Here those that take a few seeds; `npm run test:simulation -- --planted` takes all.
import { expect, test } from 'bun:test'
import { type Check, catchPlanted, checksOf, PLANTED } from './planted.ts'
import { LIKELY_SEEDS, PROOFS } from './proofs.ts'

const SEEDS_MAX = 40
/** Of each check. Which seed it is changes with everything that is drawn. */
const PROOF_SEEDS_MAX = 300
const TEST_MS_MAX = 300_000
const proven = new Set(Object.values(PROOFS))
/** Those that prove a check are caught there. */
const quick = PLANTED.filter(({ isRare, name }) => isRare !== true && !proven.has(name))

test('[X1] at least 25 bugs are planted, and no two have one name', () => {
  expect(new Set(PLANTED.map(({ name }) => name)).size).toBe(PLANTED.length)
  expect(PLANTED.length).toBeGreaterThanOrEqual(25)
})

test.each(Object.entries(PROOFS))(
  '[X1] the check "%s" notices a bug',
  (check, bug) => {
    const planted = PLANTED.find(({ name }) => name === bug)!
    const likely = LIKELY_SEEDS[check as Check]
    const all = Array.from({ length: PROOF_SEEDS_MAX }, (_, index) => index + 1)
    const seeds = likely === undefined ? all : [likely, ...all]
    expect(seeds.some((seed) => checksOf(planted, seed).includes(check as Check))).toBe(true)
  },
  TEST_MS_MAX,
)

test.each(quick)(
  '[X1] is caught: $name ($breaks)',
  (planted) => {
    expect(catchPlanted(planted, 1, SEEDS_MAX)).not.toBeNull()
  },
  TEST_MS_MAX,
)
