// The archive contract, third part: the same set of rows gives the same archive, in any order, with any
// repeats and in any batches.
// A failure prints `{ seed, path }`. To replay it: `fc.assert(property, { seed: …, path: '…' })`.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Archive, LastSeenRow, SettingsRow } from '../../../packages/server/src/archive/port.ts'

// Few values, so that equal instants and equal versions are frequent.
const USERS = ['a', 'b']
const aUser = fc.constantFrom(...USERS)
const anInstant = fc.integer({ min: 0, max: 2 })
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { freq: 3 })

const aLastSeenRow: fc.Arbitrary<LastSeenRow> = fc
  .record({
    userId: aUser,
    lastSeenAt: maybe(anInstant),
    status: fc.constantFrom('here', 'offline'),
    devices: fc.constantFrom([], [{ deviceId: 'd', platform: 'web' as const, activity: 'idle' as const }]),
    version: anInstant,
    updatedAt: anInstant,
  })
  // One version shows one custom status.
  .map((row) => ({
    ...row,
    shownCustomStatus: row.version % 2 ? { text: `${row.version}`, emoji: null, expiresAt: null } : null,
  }))

const aSettingsRow: fc.Arbitrary<SettingsRow> = fc.record({
  userId: aUser,
  availability: maybe(
    fc.record({
      status: fc.constantFrom('auto', 'away', 'busy', 'invisible'),
      expiresAt: maybe(anInstant),
      setAt: anInstant,
    }),
  ),
  customStatus: maybe(
    fc.record({
      text: maybe(fc.constantFrom('', 'x', 'é')),
      emoji: maybe(fc.constantFrom('☕', '📅')),
      expiresAt: maybe(anInstant),
      setAt: anInstant,
    }),
  ),
  history: maybe(fc.record({ isKept: fc.boolean(), setAt: anInstant })),
  awayAfter: maybe(fc.record({ awayAfterMs: maybe(anInstant), setAt: anInstant })),
  privacy: maybe(
    fc.record({
      statusVisibility: maybe(fc.constantFrom('everyone', 'contacts', 'nobody')),
      lastSeenVisibility: fc.constantFrom(null, 'nobody'),
      reciprocal: fc.boolean(),
      lastSeenPrecision: fc.constantFrom('exact', 'approximate'),
      allow: fc.subarray(['x', 'zoë']),
      deny: fc.subarray(['x', '👩🏽‍🚀']),
      setAt: anInstant,
    }),
  ),
})

/** The rows in two orders, the second with repeats, each cut into batches. */
function inTwoOrders<Row>(row: fc.Arbitrary<Row>): fc.Arbitrary<{ first: Row[][]; second: Row[][] }> {
  return fc.array(row, { minLength: 1, maxLength: 12 }).chain((rows) =>
    fc
      .record({
        repeats: fc.subarray(rows),
        firstCut: fc.integer({ min: 1, max: 5 }),
        secondCut: fc.integer({ min: 1, max: 5 }),
      })
      .chain(({ repeats, firstCut, secondCut }) => {
        const all = [...rows, ...repeats]
        return fc
          .shuffledSubarray(all, { minLength: all.length, maxLength: all.length })
          .map((shuffled) => ({ first: cut(rows, firstCut), second: cut(shuffled, secondCut) }))
      }),
  )
}

function cut<Row>(rows: readonly Row[], size: number): Row[][] {
  return Array.from({ length: Math.ceil(rows.length / size) }, (_, index) =>
    rows.slice(index * size, (index + 1) * size),
  )
}

export function checkArchiveOrder(archive: () => Archive, numRuns: number): void {
  /** Writes to users of this run alone, and reads them back under their plain names. */
  async function afterWriting<Row extends { userId: string }>(
    run: string,
    batches: readonly Row[][],
    write: (rows: Row[]) => Promise<unknown>,
  ) {
    for (const batch of batches) await write(batch.map((row) => ({ ...row, userId: `${run}:${row.userId}` })))
    const users = await archive().read(USERS.map((userId) => `${run}:${userId}`))
    return JSON.parse(JSON.stringify(users).replaceAll(`"${run}:`, '"')) as unknown
  }

  let runs = 0
  async function checkSame<Row extends { userId: string }>(
    { first, second }: { first: Row[][]; second: Row[][] },
    write: (rows: Row[]) => Promise<unknown>,
  ): Promise<void> {
    runs += 1
    const once = await afterWriting(`first-${runs}`, first, write)
    expect(await afterWriting(`second-${runs}`, second, write)).toEqual(once)
  }

  test('[S4] the order and number of last-seen writes never matter', () =>
    fc.assert(
      fc.asyncProperty(inTwoOrders(aLastSeenRow), (orders) =>
        checkSame(orders, (rows) => archive().writeLastSeen(rows)),
      ),
      { numRuns, includeErrorInReport: true },
    ))

  test('[S1] [S3] [S5] the order and number of settings writes never matter', () =>
    fc.assert(
      fc.asyncProperty(inTwoOrders(aSettingsRow), (orders) =>
        checkSame(orders, (rows) => archive().writeSettings(rows)),
      ),
      { numRuns, includeErrorInReport: true },
    ))
}
