// Choices of one user in the same instant: the later one wins, as it was answered, by whichever door
// it came. With the real tracker, store and archive; only the clock is held still.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createFakeClock, type FakeClock } from '../../../../../testing/fake-clock.ts'
import { OPEN_RULES } from '../../../../../testing/records.ts'
import type { Archive } from '../../archive/port.ts'
import { createSqliteArchive } from '../../archive/sqlite.ts'
import { createMemoryBus } from '../../bus/memory.ts'
import { createLogger } from '../../platform/logger.ts'
import { createMemoryStore } from '../../store/memory.ts'
import { POLICIES } from '../core/policy.ts'
import { createAnnouncer } from '../pipeline/announcer.ts'
import { createArchivist } from '../pipeline/archivist.ts'
import { createTracker } from '../pipeline/tracker.ts'
import { createRecall } from '../reading/recall.ts'
import { type Actions, createActions, type Outcome } from './actions.ts'

const NOW = 1_750_000_000_000
let clock: FakeClock
let archive: Archive
let actions: Actions

beforeEach(async () => {
  clock = createFakeClock(NOW)
  archive = await createSqliteArchive({ path: ':memory:' })
  await archive.migrate()
  const logger = createLogger({ level: 'silent' })
  const archivist = createArchivist(archive, clock, logger)
  const announcer = createAnnouncer({
    bus: createMemoryBus(),
    archivist,
    policy: POLICIES.instant,
    rules: OPEN_RULES,
  })
  const store = createMemoryStore()
  const recall = createRecall(archive, clock, logger)
  const tracker = createTracker({ store, recall, announcer, policy: POLICIES.instant, clock, logger })
  actions = createActions(tracker, clock)
})
afterEach(() => archive.close())

/** Runs the tracker's turn until the action is through; time does not move. */
async function through(action: Promise<Outcome>) {
  let outcome: Outcome | null = null
  void action.then((result) => {
    outcome = result
  })
  for (let turn = 0; turn < 100 && outcome === null; turn++) await clock.advance(0)
  const settled = outcome as Outcome | null
  if (settled === null || !settled.ok) throw new Error(`not applied: ${JSON.stringify(settled)}`)
  return settled.tracked.record
}

const say = (text: string | null) =>
  through(actions.setCustomStatus('bob', { text, emoji: null, expiresAt: null }))
const be = (status: 'auto' | 'away' | 'busy' | 'invisible') =>
  through(actions.setAvailability('bob', { status, expiresAt: null }))

describe('choices in the same millisecond', () => {
  test('[S3] each custom status replaces the one before, whatever they say', async () => {
    for (const text of ['b', 'a', 'z', 'c', null, 'b', 'a']) {
      expect((await say(text)).customStatus?.text).toBe(text)
    }
  })

  test('[S1] each availability replaces the one before', async () => {
    for (const status of ['invisible', 'busy', 'away', 'auto', 'invisible', 'away'] as const) {
      expect((await be(status)).availability?.status).toBe(status)
    }
  })

  test('[P20] [S5] of two changes of privacy under way at once the later one holds', async () => {
    const choose = (statusVisibility: 'everyone' | 'nobody') =>
      actions.changeSettings('bob', { privacy: { statusVisibility }, awayAfterMs: undefined })
    const both = Promise.all([choose('everyone'), choose('nobody')])
    for (let turn = 0; turn < 20; turn++) await clock.advance(0)
    const last = (await both)[1]
    expect(last.record.privacy?.statusVisibility).toBe('nobody')
  })

  test('[P20] after many choices in one instant the next instant still wins', async () => {
    for (let round = 0; round < 20; round++) await say(`z${round}`)
    await clock.advance(1)
    expect((await say('a')).customStatus?.text).toBe('a')
    await clock.advance(60_000)
    const { customStatus } = await say('later')
    expect(customStatus?.text).toBe('later')
    expect(customStatus?.setAt).toBe(NOW + 60_001)
  })

  test('[S3] an expiry that is not ahead is refused, and the choice before it stands', async () => {
    await say('first')
    for (const expiresAt of [NOW, NOW - 1]) {
      const outcome = await actions.setCustomStatus('bob', { text: 'late', emoji: null, expiresAt })
      expect(outcome).toMatchObject({ ok: false, failure: { code: 'invalid_expiry' } })
    }
    expect((await be('busy')).customStatus?.text).toBe('first')
  })
})
