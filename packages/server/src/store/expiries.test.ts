// What people show while they are away ends at its instant, with the real tracker on a store in memory
// and no sweeper at all: what ends here, the alarm has ended.
import { beforeEach, expect, test } from 'bun:test'
import { createFakeClock, type FakeClock } from '../../../../testing/fake-clock.ts'
import { SOME_INSTANT as NOW, OPEN_RULES } from '../../../../testing/records.ts'
import { createSqliteArchive } from '../archive/sqlite.ts'
import { createMemoryBus } from '../bus/memory.ts'
import { createLogger } from '../platform/logger.ts'
import type { PresenceEvent } from '../presence/core/event.ts'
import { POLICIES } from '../presence/core/policy.ts'
import { createAnnouncer } from '../presence/pipeline/announcer.ts'
import { createArchivist } from '../presence/pipeline/archivist.ts'
import { createTracker, type Tracker } from '../presence/pipeline/tracker.ts'
import { createRecall } from '../presence/reading/recall.ts'
import { type Expiries, startExpiries } from './expiries.ts'
import { createMemoryStore } from './memory.ts'

const policy = POLICIES.instant
const logger = createLogger({ level: 'silent' })

let clock: FakeClock
let expiries: Expiries
let tracker: Tracker
/** Who was told to have changed, and when. */
let heard: [string, number][]
let timersBefore: number

beforeEach(async () => {
  clock = createFakeClock(NOW)
  heard = []
  const archive = await createSqliteArchive({ path: ':memory:', clock })
  await done(archive.migrate())
  const bus = createMemoryBus()
  await bus.subscribe('g', (messages) => {
    for (const { userId } of messages) heard.push([userId, clock.now() - NOW])
  })
  expiries = startExpiries({ store: createMemoryStore(), clock, tracker: () => tracker })
  const { store } = expiries
  const archivist = createArchivist(archive, clock, logger)
  const announcer = createAnnouncer({ bus, archivist, policy, rules: OPEN_RULES })
  tracker = createTracker({
    store,
    recall: createRecall(archive, clock, logger),
    announcer,
    policy,
    clock,
    logger,
  })
  await store.addInterest('g', ['ann', 'bob'])
  timersBefore = clock.timerCount()
})

async function done<T>(work: Promise<T>): Promise<T> {
  let isDone = false
  void work.finally(() => {
    isDone = true
  })
  while (!isDone) await clock.advance(0)
  return work
}

const says = (expiresInMs: number | null): PresenceEvent => ({
  type: 'set_custom_status',
  at: clock.now(),
  text: 'At sea',
  emoji: null,
  expiresAt: expiresInMs === null ? null : clock.now() + expiresInMs,
})

test('[P21] a status is gone at its deadline, to the millisecond, whatever else is chosen', async () => {
  await done(tracker.apply('ann', says(70)))
  await done(tracker.apply('bob', says(30)))
  heard.length = 0
  await clock.advance(69)
  expect(heard).toEqual([['bob', 30]])
  await clock.advance(1)
  expect(heard).toEqual([
    ['bob', 30],
    ['ann', 70],
  ])
  expect(clock.timerCount()).toBe(timersBefore)
})

test('[P21] a status that is chosen anew, or for good, has no deadline of before', async () => {
  await done(tracker.apply('ann', says(30)))
  await done(tracker.apply('bob', says(30)))
  await done(tracker.apply('ann', says(50)))
  await done(tracker.apply('bob', says(null)))
  heard.length = 0
  await clock.advance(1_000)
  expect(heard).toEqual([['ann', 50]])
  expect(clock.timerCount()).toBe(timersBefore)
})

test('[P21, S2] what invisible users do does not let a status end before its deadline, or after it', async () => {
  const invisible = { type: 'set_availability', status: 'invisible', expiresAt: null } as const
  await done(tracker.apply('ann', says(70)))
  await done(tracker.apply('ann', { ...invisible, at: clock.now() }))
  heard.length = 0
  await clock.advance(70)
  await done(tracker.apply('ann', { type: 'tick' }))
  expect(heard).toEqual([['ann', 70]])
})

test('[P21, D3] of many that expire together most are left to the sweeper', async () => {
  const crowd = Array.from({ length: 2_500 }, (_, n) => `user-${n}`)
  await expiries.store.addInterest('g', crowd)
  await done(Promise.all(crowd.map((userId) => tracker.apply(userId, says(500)))))
  await done(tracker.apply('ann', says(1_499)))
  await done(tracker.apply('bob', says(1_500)))
  heard.length = 0
  await clock.advance(500)
  expect(heard).toHaveLength(200)
  await clock.advance(1_000)
  expect(heard.slice(200)).toEqual([['bob', 1_500]])
  expect(await expiries.store.due(0, clock.now(), 3_000)).toHaveLength(2_301)
  expect(clock.timerCount()).toBe(timersBefore)
})

test('[C7] after it has stopped it sets no alarm any more', async () => {
  await done(tracker.apply('ann', says(70)))
  expiries.stop()
  await done(tracker.apply('bob', says(30)))
  expect(clock.timerCount()).toBe(timersBefore)
})
