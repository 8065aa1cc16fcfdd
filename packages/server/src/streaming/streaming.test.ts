// Processes that put updates into a log, and the owner of the users that takes them out: what users come to is the
// same as without a log, whatever is handed out twice, late or unreadable. On the real log, store, bus and trackers of
// one process, with a fake clock.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createFakeClock, type FakeClock, untilDone } from '../../../../testing/worlds/fake-clock.ts'
import { PIPELINE_STARTS_AT } from '../../../../testing/worlds/presence-pipeline.ts'
import { connected, say } from '../../../../testing/worlds/presence-user.ts'
import { OPEN_RULES } from '../../../../testing/worlds/records.ts'
import { createSqliteArchive } from '../archive/sqlite.ts'
import { createMemoryBus } from '../bus/memory.ts'
import type { ForeignBatch } from '../foreign/batch.ts'
import { createMemoryLog } from '../log/memory.ts'
import type { ChangeLog, LogEntry } from '../log/port.ts'
import { createLogger } from '../platform/logger.ts'
import { createOutages } from '../presence/cluster/outages.ts'
import type { PresenceEvent } from '../presence/core/event.ts'
import { POLICIES } from '../presence/core/policy.ts'
import { createPendingAnswers, type PendingAnswers } from '../presence/pending-answers.ts'
import type { Tracked } from '../presence/pipeline/tracker.ts'
import { createPresence } from '../presence/presence.ts'
import { Unavailable } from '../presence/unavailable.ts'
import { createMemoryStore } from '../store/memory.ts'
import { AGGREGATORS, type Aggregator, startAggregator } from './aggregator.ts'
import { createDeadLetters } from './dead-letters.ts'
import { createRemoteTracker } from './remote-tracker.ts'
import { encodeUpdate } from './update-record.ts'

const NAME = 'asking'
const ANSWER_MS = 5_000
const ARRIVAL_MS = 2_000
const SETTLE_MS = 10_000
const PARTITIONS = 3

let clock: FakeClock
let updates: ChangeLog
let answers: PendingAnswers<Tracked>
let owner: Aggregator | null
let world: Awaited<ReturnType<typeof createWorld>>

/** The statuses and texts that watchers were told, by user. */
let told: Map<string, string[]>
let troubles: number
let isLogAway: boolean
let letters: unknown[]
let batches: ForeignBatch[]
let isHolderAway: boolean

async function createWorld() {
  const logger = createLogger({ level: 'silent' })
  const store = createMemoryStore()
  const bus = createMemoryBus()
  const archive = await createSqliteArchive({ path: ':memory:', clock })
  await untilDone(clock, archive.migrate())
  const log = createMemoryLog({ partitionCount: PARTITIONS, clock, logger })
  updates = {
    ...log,
    append: async (records) => (isLogAway ? Promise.reject(new Error('away')) : log.append(records)),
  }
  const dead = createMemoryLog({ partitionCount: 1, clock, logger })
  await dead.consume('test', 'oldest', {
    handle: async (_, entries) => void letters.push(...entries.map(({ text }) => JSON.parse(text))),
  })
  const outages = createOutages(clock, SETTLE_MS)
  answers = createPendingAnswers<Tracked>(clock, outages.notice)
  await bus.subscribe(NAME, (messages) => {
    for (const message of messages) {
      if (message.kind !== 'answer') continue
      if ('refused' in message.answer) answers.reject(message.ref, new Unavailable(message.answer.refused))
      else answers.resolve(message.ref, message.answer)
    }
  })
  await bus.subscribe('watching', (messages) => {
    for (const message of messages) {
      if (message.kind !== 'change') continue
      const { status, custom_status } = JSON.parse(message.json)
      const heard = told.get(message.userId) ?? []
      told.set(message.userId, [...heard, custom_status?.text ?? status])
    }
  })
  const policy = POLICIES.instant
  const onTrouble = () => void troubles++
  const presence = createPresence({
    archive,
    store,
    bus,
    isStoreVolatile: false,
    cacheMs: 0,
    policy,
    rules: OPEN_RULES,
    clock,
    logger,
    createRemoteTracker: (lookup) =>
      createRemoteTracker({
        name: NAME,
        updates,
        answers,
        outages,
        lookup,
        policy,
        clock,
        logger,
        onTrouble,
      }),
  })
  const own = () =>
    startAggregator({
      updates,
      dead: createDeadLetters(dead, 'presence.updates', logger),
      bus,
      outages,
      foreign: {
        async record(batch) {
          if (isHolderAway) throw new Unavailable('away')
          batches.push(batch)
          return []
        },
      },
      createTracker: presence.createOwnTracker,
      clock,
      logger,
    })
  return { ...presence, store, log, own }
}

beforeEach(async () => {
  ;[told, troubles, isLogAway, letters, owner] = [new Map(), 0, false, [], null]
  ;[batches, isHolderAway] = [[], false]
  clock = createFakeClock(PIPELINE_STARTS_AT)
  world = await createWorld()
})
afterEach(async () => {
  if (owner !== null) await done(owner.stop())
})

const done = <T>(work: Promise<T>): Promise<T> => untilDone(clock, work)
const now = () => clock.now()
const statusOf = async (userId: string) => (await world.store.load([userId]))[0]?.record.shown.status
const closed = (sessionId: string, at: number): PresenceEvent => ({ type: 'closed', sessionId, at })

describe('updates through a log', () => {
  test('[C3] are answered by the owner with the state they came to', async () => {
    owner = await done(world.own())
    const { record, revision } = await done(world.tracker.apply('bob', connected('web#1', now())))
    expect([record.shown.status, revision > 0, await statusOf('bob')]).toEqual(['online', true, 'online'])
  })

  test('[C3] keep their order for each user, and are announced once', async () => {
    owner = await done(world.own())
    await world.store.addInterest('watching', ['bob', 'carol'])
    for (const userId of ['bob', 'carol']) world.tracker.report(userId, connected('web#1', now()))
    for (const text of ['one', 'two', 'three']) {
      await clock.advance(10)
      for (const userId of ['bob', 'carol']) world.tracker.report(userId, say(text, now()))
    }
    await clock.advance(100)
    const expected = ['online', 'one', 'two', 'three']
    expect([told.get('bob'), told.get('carol')]).toEqual([expected, expected])
  })

  test('[C3, S4] that are handed out again after a death change nothing', async () => {
    owner = await done(world.own())
    await world.store.addInterest('watching', ['bob'])
    await done(world.tracker.apply('bob', connected('web#1', now())))
    await done(world.choices.apply('bob', { ...say('lunch', now()), type: 'set_custom_status' } as never))
    const before = await world.store.load(['bob'])
    await done(owner.stop())
    for (let partition = 0; partition < PARTITIONS; partition++)
      await updates.rewind(AGGREGATORS, partition, null)
    owner = await done(world.own())
    await clock.advance(1_000)
    expect(await world.store.load(['bob'])).toEqual(before)
    expect(told.get('bob')).toEqual(['online', 'lunch'])
  })

  test('[C3, P16] that wait long do not make a user offline who came back in between', async () => {
    owner = await done(world.own())
    await done(world.tracker.apply('bob', connected('web#1', now())))
    await world.store.addInterest('watching', ['bob'])
    await done(owner.stop())
    await clock.advance(10)
    world.tracker.report('bob', closed('web#1', now()))
    // So many that the two updates of the user are not handed out together.
    for (let other = 0; other < 1_000; other++)
      world.tracker.report(`other-${other}`, connected('web#1', now()))
    await clock.advance(1_000)
    world.tracker.report('bob', connected('web#2', now()))
    // No process owns the user for longer than the offline delay.
    await clock.advance(60_000)
    owner = await done(world.own())
    await clock.advance(1_000)
    expect([told.get('bob') ?? [], await statusOf('bob')]).toEqual([[], 'online'])
  })

  test('[C7, D3] a tick that waited long is not acted on, and the next one is', async () => {
    owner = await done(world.own())
    await done(world.tracker.apply('bob', connected('web#1', now())))
    await clock.advance(10)
    world.tracker.report('bob', closed('web#1', now()))
    await clock.advance(POLICIES.instant.offlineDelayMs + 1_000)
    const tick = {
      userId: 'bob',
      from: NAME,
      events: [{ type: 'tick' as const }],
      isRepeated: false,
      ref: null,
    }
    for (const isRepeated of [false, true]) {
      const text = encodeUpdate({ ...tick, isRepeated, sentAt: now() - 10 })
      await clock.advance(5_000)
      await updates.append([{ userId: 'bob', text }])
      await clock.advance(100)
      expect(await statusOf('bob')).toBe('online')
    }
    world.tracker.report('bob', { type: 'tick' })
    await clock.advance(100)
    expect(await statusOf('bob')).toBe('offline')
  })

  test('[C7] are refused while the log is away, and the trouble is reported', async () => {
    owner = await done(world.own())
    isLogAway = true
    expect(done(world.tracker.apply('bob', connected('web#1', now())))).rejects.toBeInstanceOf(Unavailable)
    await clock.advance(10)
    expect([troubles, world.tracker.depth()]).toEqual([1, 0])
    isLogAway = false
    await done(world.tracker.apply('bob', connected('web#1', now())))
    expect(await statusOf('bob')).toBe('online')
  })

  test('[C7] without an owner are not confirmed in time, and take effect when there is one', async () => {
    const failures: unknown[] = []
    for (const event of [connected('web#1', now()), say('lunch', now())])
      world.tracker.apply('bob', event).catch((error: unknown) => failures.push(error))
    // A user that connects is not kept waiting as long as one that chose something.
    await clock.advance(ARRIVAL_MS + 500)
    expect(failures).toHaveLength(1)
    await clock.advance(ANSWER_MS - ARRIVAL_MS)
    expect(failures).toHaveLength(2)
    for (const failure of failures) expect(failure).toBeInstanceOf(Unavailable)
    owner = await done(world.own())
    await clock.advance(100)
    expect(await statusOf('bob')).toBe('online')
  })

  test('[S3] a choice of a user who is not in the hot store is a change', async () => {
    owner = await done(world.own())
    await world.store.addInterest('watching', ['bob'])
    await done(world.choices.apply('bob', say('lunch', now()) as never))
    await clock.advance(100)
    expect(told.get('bob')).toEqual(['lunch'])
  })
})

describe('records of foreign gateways', () => {
  const record = (type: string, deviceId: string, rest: object = {}) =>
    JSON.stringify({ type, gateway_id: 'chat-1', user_id: 'bob', device_id: deviceId, ...rest })
  const append = (...texts: string[]) => updates.append(texts.map((text) => ({ userId: 'bob', text })))

  test('[C4] become batches with the newest of each session, and hold up no update', async () => {
    owner = await done(world.own())
    await append(
      record('session_connected', 'd1', { platform: 'web', activity: 'active', at: 1, more: true }),
      record('heartbeat', 'd1', { platform: 'web', activity: 'idle', at: 2 }),
      record('heartbeat', 'd2', { at: 3 }),
      record('session_disconnected', 'd2', { at: 4 }),
    )
    const { record: after } = await done(world.tracker.apply('bob', connected('web#1', now())))
    expect(after.shown.status).toBe('online')
    const session = { userId: 'bob', deviceId: 'd1', platform: 'web', activity: 'idle', at: 2 } as const
    const disconnected = [{ userId: 'bob', deviceId: 'd2' }]
    expect(batches).toEqual([{ gatewayId: 'chat-1', sessions: [session], disconnected, isBrief: true }])
    expect(letters).toEqual([])
  })

  test('[C4] that are not well formed are put aside', async () => {
    owner = await done(world.own())
    await append(
      record('heartbeat', ''),
      record('heartbeat', 'd1', { gateway_id: 7 }),
      '{"type":"user_event"}',
    )
    await clock.advance(100)
    expect(letters).toHaveLength(3)
    expect(batches).toEqual([])
  })

  test('[C4, C7] do not stop the partition where no process holds sessions', async () => {
    owner = await done(world.own())
    isHolderAway = true
    await append(record('heartbeat', 'd1'))
    const { record: after } = await done(world.tracker.apply('bob', connected('web#1', now())))
    expect(after.shown.status).toBe('online')
  })
})

describe('records that are no updates', () => {
  test('[C3] are put aside with the reason, and the others go on', async () => {
    owner = await done(world.own())
    const update = {
      userId: 'bob',
      from: NAME,
      events: [{ type: 'raise_version' as const, version: 1e300 }],
      isRepeated: false,
      ref: null,
      sentAt: now(),
    }
    const texts = [
      encodeUpdate(update),
      'not JSON',
      '[]',
      'null',
      '{"type":"nonsense"}',
      '{"type":"heartbeat","user_id":"bob","v":1,"gateway_id":"g","sent_at":1,"events":[{"type":"explode"}]}',
      '{"type":"user_event","user_id":"bob","v":2,"gateway_id":"g","sent_at":1,"events":[{"type":"tick"}]}',
      encodeUpdate({ ...update, events: [connected('web#1', now(), { gatewayId: 'g1\nx' })] }),
      encodeUpdate({ ...update, userId: 'b\0b' }),
      encodeUpdate({ ...update, userId: 'carol' }),
    ]
    await updates.append(texts.map((text) => ({ userId: 'bob', text })))
    const { record } = await done(world.tracker.apply('bob', connected('web#1', now())))
    expect(record.shown.status).toBe('online')
    await clock.advance(100)
    expect(letters).toHaveLength(texts.length)
    expect(letters).toMatchObject(texts.map((record) => ({ topic: 'presence.updates', key: 'bob', record })))
    for (const letter of letters as (LogEntry & { reason: string })[]) expect(letter.reason).not.toBe('')
  })
})
