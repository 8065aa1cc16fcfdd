// The sweeper while people are read from the archive, who stay due until that is done: it goes on with the
// others and does not ask for them again and again. With the real store, archive and tracker by a clock that
// stands still; only when the archive answers is decided here.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createFakeClock, type FakeClock } from '../../../../../testing/fake-clock.ts'
import { WORLD_STARTS_AT as NOW } from '../../../../../testing/gateway-world.ts'
import { OPEN_RULES } from '../../../../../testing/records.ts'
import type { Archive } from '../../archive/port.ts'
import { createSqliteArchive } from '../../archive/sqlite.ts'
import { createMemoryBus } from '../../bus/memory.ts'
import { createLogger } from '../../platform/logger.ts'
import { createMemoryStore } from '../../store/memory.ts'
import type { PresenceStore } from '../../store/port.ts'
import { POLICIES } from '../core/policy.ts'
import { createRecall } from '../reading/recall.ts'
import { createAnnouncer } from './announcer.ts'
import { createArchivist } from './archivist.ts'
import { type Sweeper, startSweeper } from './sweeper.ts'
import { createTracker, type Tracker } from './tracker.ts'

const SWEEP_EVERY_MS = 250
const DUE_BATCH_MAX = 1_000
const ENDS_AT = NOW + 10_000
const policy = POLICIES.instant
const logger = createLogger({ level: 'silent' })

let clock: FakeClock
let archive: Archive
let store: PresenceStore
let tracker: Tracker
let sweeper: Sweeper | null
/** While set, the archive answers no question about anybody. */
let gate: Promise<void> | null
let asked: { due: number; archive: number }

beforeEach(async () => {
  clock = createFakeClock(NOW)
  archive = await createSqliteArchive({ path: ':memory:' })
  await archive.migrate()
  sweeper = null
  gate = null
  asked = { due: 0, archive: 0 }
  const memory = createMemoryStore()
  store = {
    ...memory,
    due(shard, now, limit) {
      asked.due++
      return memory.due(shard, now, limit)
    },
  }
  const slow: Archive = {
    ...archive,
    async read(userIds) {
      asked.archive++
      await gate
      return archive.read(userIds)
    },
  }
  const archivist = createArchivist(archive, clock, logger)
  const announcer = createAnnouncer({ bus: createMemoryBus(), archivist, policy, rules: OPEN_RULES })
  const recall = createRecall(slow, clock, logger)
  tracker = createTracker({ store, recall, announcer, policy, clock, logger })
})
afterEach(async () => {
  await sweeper?.stop()
  await archive.close()
})

async function say(userIds: readonly string[], text: string, expiresAt: number | null): Promise<void> {
  const at = clock.now()
  for (const userId of userIds)
    tracker.report(userId, { type: 'set_custom_status', at, text, emoji: null, expiresAt })
  await clock.advance(1)
}

/** The archive becomes slow, and these, who are away, have something chosen for them; returns the way to end it. */
async function holdUp(userIds: readonly string[]): Promise<() => Promise<void>> {
  const { promise, resolve } = Promise.withResolvers<void>()
  gate = promise
  await say(userIds, 'later', null)
  return async () => {
    resolve()
    gate = null
    await clock.advance(0)
  }
}

function startSweeping(): void {
  sweeper = startSweeper({ store, tracker, clock, logger, cluster: null })
}

const shownText = async (userId: string) =>
  (await store.load([userId]))[0]?.record.shown.customStatus?.text ?? null

test('[D3] people who are being read are asked for three times a round, not again and again', async () => {
  const crowd = Array.from({ length: DUE_BATCH_MAX }, (_, at) => `user-${at}`)
  await say(crowd, 'lunch', ENDS_AT)
  const goOn = await holdUp(crowd)
  startSweeping()
  await clock.advance(ENDS_AT - clock.now())
  const before = { ...asked }
  await clock.advance(4 * SWEEP_EVERY_MS)
  expect(asked.due - before.due).toBeLessThanOrEqual(3 * 4)
  expect(asked.archive).toBe(before.archive)
  await goOn()
  expect(await shownText(crowd[0]!)).toBe('later')
  expect(await store.due(0, clock.now(), 10)).toEqual([])
})

test.each([1, DUE_BATCH_MAX, 3 * DUE_BATCH_MAX])(
  '[S6] others change on time while %d who are due before them are being read',
  async (people) => {
    const crowd = Array.from({ length: people }, (_, at) => `user-${at}`)
    await say(crowd, 'lunch', ENDS_AT)
    await say(['ann'], 'lunch', ENDS_AT + 1_000)
    const goOn = await holdUp(crowd)
    startSweeping()
    await clock.advance(ENDS_AT + 1_000 + SWEEP_EVERY_MS - clock.now())
    expect([await shownText('ann'), await shownText(crowd[0]!)]).toEqual([null, 'lunch'])
    await goOn()
    expect(await shownText(crowd[0]!)).toBe('later')
  },
)
