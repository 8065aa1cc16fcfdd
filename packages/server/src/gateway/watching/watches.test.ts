// Watching without a gap while reading takes its time: whatever is pushed between the question and the
// answer is in the snapshot. With the real store, tracker and archive; only reading waits for a gate.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { Presence } from '@greendot/protocol'
import { OPEN_RULES } from '../../../../../testing/records.ts'
import type { Archive } from '../../archive/port.ts'
import { createSqliteArchive } from '../../archive/sqlite.ts'
import { createMemoryBus } from '../../bus/memory.ts'
import { systemClock as clock } from '../../platform/clock.ts'
import { createLogger } from '../../platform/logger.ts'
import { POLICIES } from '../../presence/core/policy.ts'
import { createAnnouncer } from '../../presence/pipeline/announcer.ts'
import { createArchivist } from '../../presence/pipeline/archivist.ts'
import { createTracker, type Tracker } from '../../presence/pipeline/tracker.ts'
import { createRelations } from '../../presence/privacy/relations.ts'
import { createReader } from '../../presence/reading/reader.ts'
import { createRecall } from '../../presence/reading/recall.ts'
import { createMemoryStore } from '../../store/memory.ts'
import type { PresenceStore } from '../../store/port.ts'
import { NAMED } from '../delivery/edge-flags.ts'
import { createOutbox } from '../delivery/outbox.ts'
import { createTargetTable } from '../delivery/target-table.ts'
import { createInterner } from '../interner.ts'
import { createSights } from './view-levels.ts'
import { createDiscretions } from './visibility-inputs.ts'
import { createOpenness } from './watcher-exposure.ts'
import { createWatches, type Watches } from './watches.ts'

const GATEWAY = 'g-1'
const policy = POLICIES.instant
const isOpen = () => true
/** No connection here is anybody's. */
const NOBODY = -1

let archive: Archive
let tracker: Tracker
let watches: Watches
let interner: ReturnType<typeof createInterner>
/** While set, the gateway's readings of the archive end only when it does. */
let gate: Promise<void> | null = null
let isStoreAway = false
let onSend: (connection: number, changes: Presence[]) => void

beforeEach(async () => {
  gate = null
  isStoreAway = false
  onSend = () => {}
  archive = await createSqliteArchive({ path: ':memory:' })
  await archive.migrate()
  const slowArchive: Archive = {
    ...archive,
    async read(userIds) {
      const found = await archive.read(userIds)
      await gate
      return found
    },
  }
  const logger = createLogger({ level: 'silent' })
  const bus = createMemoryBus()
  const store = createMemoryStore()
  const archivist = createArchivist(archive, clock, logger)
  const announcer = createAnnouncer({ bus, archivist, policy, rules: OPEN_RULES })
  const shared = { store, announcer, policy, clock, logger }
  // One store for two, as in a cluster: this gateway reads slowly, the other one changes.
  tracker = createTracker({ ...shared, recall: createRecall(archive, clock, logger) })
  const recall = createRecall(slowArchive, clock, logger)
  const tick = (userId: string) => tracker.report(userId, { type: 'tick' })
  const awayStore: PresenceStore = {
    ...store,
    load: (userIds) => (isStoreAway ? Promise.reject(new Error('away')) : store.load(userIds)),
  }
  const reader = createReader({
    store: awayStore,
    loadForQuery: awayStore.load,
    recall,
    policy,
    rules: OPEN_RULES,
    clock,
    logger,
    cacheMs: 0,
    tick,
    isPending: (userId) => tracker.isPending(userId),
  })
  interner = createInterner()
  const targets = createTargetTable({ mask: (json) => json, now: () => 0 })
  const outbox = createOutbox({
    targets,
    clock,
    flushMs: 1,
    send(connection, frame) {
      onSend(connection, JSON.parse(frame).changes)
      return 'sent'
    },
    ownFrame: () => null,
    onFrame: () => {},
  })
  const discretions = createDiscretions()
  const nobodysConnections = () => []
  const openness = createOpenness({
    outbox,
    discretions,
    rules: OPEN_RULES,
    isOpenlyHere: () => true,
    connectionsOf: nobodysConnections,
  })
  const sights = createSights({
    interner,
    discretions,
    outbox,
    targets,
    relations: createRelations({ archive, rules: OPEN_RULES, clock, logger }),
    rules: OPEN_RULES,
    clock,
    viewerOf: () => NOBODY,
    openness,
    connectionsOf: nobodysConnections,
  })
  watches = createWatches({
    interner,
    targets,
    outbox,
    store,
    reader,
    tracker,
    discretions,
    sights,
    openness,
    rules: OPEN_RULES,
    gatewayId: () => GATEWAY,
    settle: tracker.settle,
    now: clock.now,
    onTrouble: () => {},
  })
  await bus.subscribe(GATEWAY, (messages) => {
    for (const message of messages) if (message.kind === 'change') watches.receive(message)
  })
})
afterEach(() => archive.close())

const setText = (text: string | null, userId = 'bob') =>
  tracker.apply(userId, { type: 'set_custom_status', at: clock.now(), text, emoji: null, expiresAt: null })

const knowing = (known: Record<string, number>, open: () => boolean = isOpen) => ({
  known,
  why: NAMED,
  isOpen: open,
})

const parsed = (states: string[] | null) => (states ?? []).map((state) => JSON.parse(state) as Presence)

describe('watching', () => {
  test('[W1] somebody first heard of while the answer is on its way is in the snapshot', async () => {
    const open = Promise.withResolvers<void>()
    gate = open.promise
    const watching = watches.watch(0, ['bob'], knowing({}))
    // The interest is registered by then, so this is pushed here while the reading still waits.
    await setText('here I am')
    open.resolve()
    const [bob] = parsed(await watching)
    expect(bob?.custom_status?.text).toBe('here I am')
    expect(bob?.version).toBeGreaterThan(0)
  })

  test('[W1] a change of somebody known while the answer is on its way is in the snapshot', async () => {
    await archive.writeLastSeen([
      {
        userId: 'bob',
        lastSeenAt: clock.now() - 1_000,
        status: 'offline',
        devices: [],
        version: 5,
        shownCustomStatus: null,
        updatedAt: clock.now() - 1_000,
      },
    ])
    const open = Promise.withResolvers<void>()
    gate = open.promise
    const watching = watches.watch(0, ['bob'], knowing({}))
    await setText('newer')
    open.resolve()
    expect(parsed(await watching)[0]?.custom_status?.text).toBe('newer')
  })

  test('[W1] a connection that ends while the answer is on its way leaves nothing behind', async () => {
    const open = Promise.withResolvers<void>()
    gate = open.promise
    let isThere = true
    const watching = watches.watch(
      0,
      ['bob', 'carol'],
      knowing({}, () => isThere),
    )
    expect(watches.targets()).toBe(2)
    isThere = false
    watches.clear(0)
    open.resolve()
    expect(await watching).toBeNull()
    expect(watches.targets()).toBe(0)
    expect(interner.size()).toBe(0)
  })

  test('[W1] a reading that fails leaves nothing behind', async () => {
    isStoreAway = true
    gate = Promise.reject(new Error('the database is gone'))
    await expect(watches.watch(0, ['bob'], knowing({}))).rejects.toThrow('the archive does not answer')
    expect(watches.targets()).toBe(0)
    expect(watches.degree(0)).toBe(0)
    expect(interner.size()).toBe(0)
  })

  test('[W1] repeats in one question are one watch, and one goodbye ends it', async () => {
    const states = parsed(await watches.watch(0, ['bob', 'bob', 'carol', 'bob'], knowing({})))
    expect(states.map(({ user_id }) => user_id)).toEqual(['bob', 'carol'])
    expect(watches.degree(0)).toBe(2)
    expect(watches.countNew(0, ['bob', 'dave', 'dave', 'carol'])).toBe(1)
    watches.unwatch(0, ['bob', 'bob', 'carol', 'stranger'])
    expect([watches.degree(0), watches.targets(), interner.size()]).toEqual([0, 0, 0])
  })

  test('[W4] once nobody here watches somebody, their changes are not sent here', async () => {
    await watches.watch(0, ['bob', 'dave'], knowing({}))
    watches.unwatch(0, ['bob'])
    await watches.watch(1, ['carol'], knowing({}))
    const heard = Promise.withResolvers<string[]>()
    onSend = (connection, changes) => heard.resolve(changes.map(({ user_id }) => `${connection} ${user_id}`))
    await setText('unheard', 'bob')
    await setText('heard', 'carol')
    expect(await heard.promise).toEqual(['1 carol'])
  })

  test('[W9] what the client knows already is left out, by its own keys only', async () => {
    await setText('hello')
    const [bob] = parsed(await watches.watch(0, ['bob'], knowing({})))
    const known = { bob: bob!.version }
    expect(await watches.watch(1, ['bob'], knowing(known))).toEqual([])
    expect(parsed(await watches.watch(2, ['bob'], knowing({ bob: known.bob - 1 })))).toEqual([bob!])
    // Inherited names are nobody's knowledge.
    const inherited = Object.create({ bob: known.bob }) as Record<string, number>
    expect(parsed(await watches.watch(3, ['bob'], knowing(inherited)))).toEqual([bob!])
  })
})
