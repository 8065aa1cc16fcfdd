// The tests of noninterference can fail: each weakened server is noticed by a small history. `npm run
// test:weakenings` holds them against random histories too.
import { expect, test } from 'bun:test'
import { caughtBySmall } from './catching.ts'
import { WEAKENINGS } from './weakenings.ts'

test('weakenings have names of their own', () => {
  expect(new Set(WEAKENINGS.map(({ name }) => name)).size).toBe(WEAKENINGS.length)
})

for (const weakening of WEAKENINGS) {
  test(`[S6] it is noticed when ${weakening.name}`, async () =>
    expect(await caughtBySmall(weakening)).not.toBeNull())
}
