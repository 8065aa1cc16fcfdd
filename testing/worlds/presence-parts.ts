// The parts of presence that a gateway is given, by a fake clock and as compose.ts fits them together: a
// memory store, an archive in memory, tracker, reader and evaluator. Tests can make reading slow and let
// store and archive fail.
import { createSqliteArchive } from '../../packages/server/src/archive/sqlite.ts'
import { createMemoryBus } from '../../packages/server/src/bus/memory.ts'
import { createDoubts } from '../../packages/server/src/gateway/doubts.ts'
import { createLogger } from '../../packages/server/src/platform/logger.ts'
import { createTally } from '../../packages/server/src/platform/measuring/tally.ts'
import { POLICIES } from '../../packages/server/src/presence/core/policy.ts'
import type { PrivacyRules } from '../../packages/server/src/presence/core/privacy.ts'
import { createActions } from '../../packages/server/src/presence/people/actions.ts'
import { createChoices } from '../../packages/server/src/presence/people/choices.ts'
import { createHistory } from '../../packages/server/src/presence/people/history.ts'
import { createAnnouncer } from '../../packages/server/src/presence/pipeline/announcer.ts'
import { createArchivist } from '../../packages/server/src/presence/pipeline/archivist.ts'
import { createDuties } from '../../packages/server/src/presence/pipeline/duties.ts'
import { createTracker } from '../../packages/server/src/presence/pipeline/tracker.ts'
import { createEvaluator } from '../../packages/server/src/presence/privacy/evaluator.ts'
import { createRelations } from '../../packages/server/src/presence/privacy/relations.ts'
import { createArchiveLookup } from '../../packages/server/src/presence/reading/archive-lookup.ts'
import { createQueryCache } from '../../packages/server/src/presence/reading/query-cache.ts'
import { createReader } from '../../packages/server/src/presence/reading/reader.ts'
import { createMemoryStore } from '../../packages/server/src/store/memory.ts'
import type { PresenceStore } from '../../packages/server/src/store/port.ts'
import type { FakeClock } from './fake-clock.ts'

const policy = POLICIES.instant

interface Faults {
  /** While set, answers of the archive to the gateway wait for it. */
  gate: Promise<void> | null
  isArchiveAway: boolean
  isStoreAway: boolean
}

export async function createPresenceParts(clock: FakeClock, rules: PrivacyRules) {
  const logger = createLogger({ level: 'silent' })
  const faults: Faults = { gate: null, isArchiveAway: false, isStoreAway: false }
  const asked = { areContacts: 0, contactsOf: 0 }

  const whole = await createSqliteArchive({ path: ':memory:' })
  await whole.migrate()
  const archive: typeof whole = {
    ...whole,
    areContacts(pairs) {
      asked.areContacts++
      return answer(whole.areContacts(pairs))
    },
    contactsOf(ownerId, limit) {
      asked.contactsOf++
      return answer(whole.contactsOf(ownerId, limit))
    },
    read: (userIds) => answer(whole.read(userIds)),
  }

  /** What the archive found when it was asked, even if it answers much later. */
  async function answer<T>(found: Promise<T>): Promise<T> {
    const value = await found
    await faults.gate
    return failing(() => Promise.resolve(value))
  }
  const failing = <T>(answer: () => Promise<T>): Promise<T> =>
    faults.isArchiveAway ? Promise.reject(new Error('the database is gone')) : answer()

  const bus = createMemoryBus()
  const store = unreliable(createMemoryStore(), faults)
  const doubts = createDoubts()
  const cache = createQueryCache(0)
  const archivist = createArchivist(whole, clock, logger, { keepsBacklog: true })
  const duties = createDuties(store, clock)
  const announcer = createAnnouncer({ bus, archivist, duties, policy, rules, isStoreVolatile: true })
  // The gate does not hold the tracker up: users change while the gateway still reads.
  const trackerArchive = {
    ...whole,
    read: (userIds: readonly string[]) => failing(() => whole.read(userIds)),
  }
  const tracker = createTracker({
    store,
    lookup: createArchiveLookup(trackerArchive, clock, logger),
    announcer,
    policy,
    clock,
    logger,
    onTrouble: () => doubts.report('events could not be committed'),
  })
  const lookup = createArchiveLookup(archive, clock, logger)
  const tick = (userId: string) => tracker.report(userId, { type: 'tick' })
  const loadForQuery = store.load
  const { repeat } = tracker
  const reader = createReader({ store, loadForQuery, lookup, cache, policy, clock, logger, tick, repeat })
  const evaluator = createEvaluator(rules)
  const relations = createRelations({ archive, evaluator, clock, logger })
  const choices = createChoices({ store, lookup, archivist, tracker, clock })
  const actions = createActions(choices, clock, createHistory({ archive, clock, logger }))

  return {
    clock,
    logger,
    tally: createTally(),
    policy,
    rules,
    archive,
    store,
    bus,
    doubts,
    cache,
    tracker,
    reader,
    evaluator,
    relations,
    actions,
    faults,
    /** How often the archive was asked. */
    asked,
  }
}

/** Every call fails while the store is away. */
function unreliable(store: PresenceStore, faults: Faults): PresenceStore {
  return new Proxy(store, {
    get(target, key: keyof PresenceStore) {
      const member = target[key]
      if (typeof member !== 'function') return member
      return (...args: unknown[]) =>
        faults.isStoreAway
          ? Promise.reject(new Error('the store is gone'))
          : (member as (...args: unknown[]) => unknown)(...args)
    },
  })
}
