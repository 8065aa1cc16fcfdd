// The shell around the machine when the store misbehaves: commits whose answers are lost, steady load,
// and readers that are overtaken.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { OPEN_RULES } from '../../../../../testing/records.ts'
import type { Archive } from '../../archive/port.ts'
import { createSqliteArchive } from '../../archive/sqlite.ts'
import { createMemoryBus } from '../../bus/memory.ts'
import type { BusMessage } from '../../bus/port.ts'
import { systemClock as clock } from '../../platform/clock.ts'
import { createLogger } from '../../platform/logger.ts'
import { createMemoryStore } from '../../store/memory.ts'
import type { CommitResult, PresenceStore } from '../../store/port.ts'
import type { PresenceEvent } from '../core/event.ts'
import { POLICIES } from '../core/policy.ts'
import { createReader } from '../reading/reader.ts'
import { createRecall } from '../reading/recall.ts'
import { Unavailable } from '../unavailable.ts'
import { createAnnouncer } from './announcer.ts'
import { createArchivist } from './archivist.ts'
import { createTracker } from './tracker.ts'

const policy = POLICIES.instant
const logger = createLogger({ level: 'silent' })

let archive: Archive
beforeEach(async () => {
  archive = await createSqliteArchive({ path: ':memory:' })
  await archive.migrate()
})
afterEach(() => archive.close())

function connected(sessionId: string): PresenceEvent {
  const at = clock.now()
  const facts = { deviceId: 'd', platform: 'web', gatewayId: 'g', connectedAt: at, lastActiveAt: at } as const
  return { type: 'connected', activity: 'active', at, sessionId, ...facts }
}

/** A tracker on a store whose commits can be made to misbehave; `heard` is what a watcher's gateway gets. */
async function pipeline(around: (store: PresenceStore) => Partial<PresenceStore> = () => ({})) {
  const memory = createMemoryStore()
  const store: PresenceStore = { ...memory, ...around(memory) }
  const bus = createMemoryBus()
  const heard: BusMessage[] = []
  const listeners = new Set<() => void>()
  await bus.subscribe('watching', (messages) => {
    heard.push(...messages)
    for (const listen of listeners) listen()
  })
  await store.addInterest('watching', ['bob'])
  const archivist = createArchivist(archive, clock, logger)
  const announcer = createAnnouncer({ bus, archivist, policy, rules: OPEN_RULES })
  const recall = createRecall(archive, clock, logger)
  const tracker = createTracker({ store, recall, announcer, policy, clock, logger })
  const statuses = () =>
    heard.flatMap((message) => (message.kind === 'change' ? [JSON.parse(message.json).status as string] : []))
  const hears = (status: string) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (statuses().at(-1) === status) resolve()
      }
      listeners.add(look)
      look()
    })
  return { store, tracker, recall, statuses, hears }
}

describe('a commit whose answer is lost', () => {
  for (const how of ['rejected', 'taken for a conflict'] as const) {
    test(`[C7] is announced and archived all the same when it is ${how}`, async () => {
      let losesAnswers = false
      const { tracker, hears } = await pipeline((memory) => ({
        async commit(commits) {
          const results = await memory.commit(commits)
          if (!losesAnswers) return results
          losesAnswers = false
          if (how === 'rejected') throw new Error('no answer')
          return results.map((): CommitResult => ({ outcome: 'conflict' }))
        },
      }))
      await tracker.apply('bob', connected('s1'))
      await hears('online')
      losesAnswers = true
      tracker.report('bob', { type: 'left', sessionId: 's1', at: clock.now() + 1 })
      await hears('offline')
      const [row] = await archive.read(['bob'])
      expect(row?.lastSeen?.status).toBe('offline')
    })
  }

  test('[C7] whoever waits for a batch that failed is told that it is not their fault', async () => {
    const { tracker } = await pipeline(() => ({ load: () => Promise.reject(new Error('away')) }))
    expect(tracker.apply('bob', connected('s1'))).rejects.toBeInstanceOf(Unavailable)
  })
})

test('[D3] a flush waits for what was there, not for what keeps coming', async () => {
  const { tracker } = await pipeline((memory) => ({
    load: (userIds) => clock.sleep(1).then(() => memory.load(userIds)),
  }))
  let count = 0
  let isFlushed = false
  const storm = clock.every(0, () => tracker.report(`user-${count++}`, { type: 'tick' }))
  tracker.report('bob', connected('s1'))
  await tracker.flush().then(() => {
    isFlushed = true
  })
  storm.stop()
  expect(isFlushed).toBe(true)
  await tracker.flush()
  expect(tracker.depth()).toBe(0)
})

test('[R6] somebody who changes while others are read is not unknown', async () => {
  const gate = Promise.withResolvers<void>()
  const { store, tracker, recall } = await pipeline()
  await tracker.apply('ann', connected('a1'))
  await tracker.apply('bob', connected('b1'))
  let isSlow = false
  const loadForQuery: PresenceStore['load'] = async (userIds) => {
    if (isSlow) await gate.promise
    return store.load(userIds)
  }
  const reader = createReader({
    store,
    loadForQuery,
    recall,
    policy,
    rules: OPEN_RULES,
    clock,
    logger,
    cacheMs: 5_000,
    tick: () => {},
    isPending: () => false,
  })
  await reader.query(['ann'], null)
  isSlow = true
  const answer = reader.query(['ann', 'bob'], null)
  reader.forget('ann')
  gate.resolve()
  expect((await answer).records.map((record) => record?.shown.status)).toEqual(['online', 'online'])
})

test('[W9] somebody who arrives while the archive is asked is read as they are', async () => {
  const { store, tracker, recall } = await pipeline()
  await tracker.apply('bob', connected('s1'))
  await tracker.apply('bob', { type: 'left', sessionId: 's1', at: clock.now() + 1 })
  const [before] = await store.load(['bob'])
  await store.forget(clock.now() + 1e9, 10)
  const orAfresh: typeof recall.orAfresh = async (userIds) => {
    const recalled = await recall.orAfresh(userIds)
    await tracker.apply('bob', connected('s2'))
    return recalled
  }
  const slow = { ...recall, orAfresh }
  const parts = {
    store,
    loadForQuery: store.load,
    recall: slow,
    policy,
    rules: OPEN_RULES,
    clock,
    logger,
    cacheMs: 0,
    tick() {},
    isPending: () => false,
  }
  const { records } = await createReader(parts).read(['bob'], 'ann')
  expect(records[0]?.shown.status).toBe('online')
  expect(records[0]?.version).toBe(before!.record.version + 1)
})

test('[R2] the last seen of somebody who left stays hot for five minutes', async () => {
  const { store, tracker } = await pipeline()
  await tracker.apply('bob', connected('s1'))
  await tracker.apply('bob', { type: 'left', sessionId: 's1', at: clock.now() + 1 })
  const leftAt = clock.now()
  expect(await store.forget(leftAt + 290_000, 10)).toBe(0)
  expect((await store.load(['bob']))[0]?.record.shown.lastSeen).toBeNumber()
  expect(await store.forget(leftAt + 301_000, 10)).toBe(1)
})
