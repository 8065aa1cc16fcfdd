// Rows that processes left unwritten, when the database refuses some of them or is away for a while. On the real store
// and archive; the test decides which rows the database takes.
import { beforeEach, expect, test } from 'bun:test'
import { createPipeline, type Pipeline } from '../../../../../testing/worlds/presence-pipeline.ts'
import { connected, say } from '../../../../../testing/worlds/presence-user.ts'

const LATE_MS = 6_000
const ROUND_MS = 1_000
const USERS = 60

let world: Pipeline
let isAway: boolean
/** Users whose rows of last seen the database refuses, as PostgreSQL does with a null character. */
let refused: Set<string>
let refusedSettings: Set<string>
/** Statements that failed. */
let failures: number

beforeEach(async () => {
  ;[isAway, refused, refusedSettings, failures] = [false, new Set(), new Set(), 0]
  const check = (rows: readonly { userId: string }[], bad: ReadonlySet<string>) => {
    if (!isAway && !rows.some(({ userId }) => bad.has(userId))) return
    failures++
    throw new Error(isAway ? 'the database is gone' : 'invalid byte sequence')
  }
  world = await createPipeline({
    isStoreVolatile: false,
    archive: (sqlite) => ({
      async writeLastSeen(rows) {
        check(rows, refused)
        return sqlite.writeLastSeen(rows)
      },
      async writeSettings(rows) {
        check(rows, refusedSettings)
        await sqlite.writeSettings(rows)
      },
    }),
  })
})

const USER_IDS = Array.from({ length: USERS }, (_, n) => `user-${n}`)

/** Commits of users while the database is away, oldest first. */
async function leaveDuties(userIds: readonly string[] = USER_IDS): Promise<void> {
  isAway = true
  for (const userId of userIds) {
    const now = world.clock.now()
    await world.done(world.tracker.apply(userId, connected('web#1', now), say('lunch', now)))
    await world.clock.advance(1)
  }
  await world.clock.advance(LATE_MS)
}

async function sweep(rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    await world.done(world.dutySweep.sweep(0, world.clock.now(), true))
    await world.clock.advance(ROUND_MS)
  }
}

const open = async () =>
  (await world.memory.openDuties('archive', 0, world.clock.now(), USERS)).map(({ userId }) => userId)
const refusals = () => world.lines.filter((line) => line.includes('refuses')).length

test.each([0, 7, 59])(
  '[S4, C7] a row that the database refuses holds up no other: number %d',
  async (bad) => {
    await leaveDuties()
    refused.add(`user-${bad}`)
    isAway = false
    await sweep(40)
    expect(await open()).toEqual([`user-${bad}`])
    // Without another row it is not known whether the database takes any.
    await world.done(world.tracker.apply('another', connected('web#1', world.clock.now())))
    await world.clock.advance(ROUND_MS)
    await sweep(3)
    expect([await open(), refusals()]).toEqual([[`user-${bad}`], 1])
  },
)

test('[S4, C7] neither do several, of last seen and of settings', async () => {
  await leaveDuties()
  for (const n of [0, 1, 2, 30]) refused.add(`user-${n}`)
  for (const n of [3, 31]) refusedSettings.add(`user-${n}`)
  isAway = false
  await sweep(80)
  expect((await open()).sort()).toEqual([...refused, ...refusedSettings].sort())
  expect(refusals()).toBe(6)
})

test('[S4] a refused row is tried again now and then, and is written once it can be', async () => {
  await leaveDuties(['bad', 'good'])
  refused.add('bad')
  isAway = false
  await sweep(10)
  expect(await open()).toEqual(['bad'])
  failures = 0
  await sweep(180)
  expect(failures).toBeGreaterThan(1)
  expect(failures).toBeLessThan(5)
  refused.clear()
  await sweep(70)
  expect(await open()).toEqual([])
  expect(refusals()).toBe(1)
})

test('[S4, C7] after a long outage all rows are written soon, and none was refused', async () => {
  await leaveDuties()
  await sweep(100)
  isAway = false
  await sweep(15)
  expect([await open(), refusals()]).toEqual([[], 0])
})
