// Server-sent event streams: what they send and when, limits, readers that do not read, and that a stream
// leaves nothing behind. Bytes to a client are in testing/e2e/stream*.test.ts, resuming in
// streams-resume.test.ts.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { presencesIn, type Reading, readerOf, versionOf } from '../../../../../testing/e2e/stream-format.ts'
import {
  createGatewayWorld,
  FLUSH_MS,
  type GatewayWorld,
  WORLD_STARTS_AT as NOW,
} from '../../../../../testing/worlds/gateway-world.ts'
import type { StreamRequest } from './streams.ts'

const WATCH_LIMIT = 1_200
const STREAMS_PER_USER = 3
const KEEP_ALIVE_MS = 15_000
const CHECK_EVERY_MS = 1_000

let world: GatewayWorld
let clock: GatewayWorld['clock']
beforeEach(async () => {
  world = await createGatewayWorld({ watchLimit: WATCH_LIMIT, streamsPerUser: STREAMS_PER_USER })
  clock = world.clock
})
afterEach(() => world.close())

const ASKED: StreamRequest = {
  userId: 'alice',
  tokenExpiresAt: null,
  tokenIssuedAt: null,
  userIds: ['bob'],
  lastEventId: null,
}
const open = (request: Partial<StreamRequest> = {}) =>
  world.done(world.streams.open({ ...ASKED, ...request }))
const openMany = (count: number) =>
  world.done(Promise.all(Array.from({ length: count }, () => world.streams.open(ASKED))))

async function read(request: Partial<StreamRequest> = {}, isEager = true): Promise<Reading> {
  const opened = await open(request)
  if (!opened.ok) throw new Error(opened.failure.code)
  return readerOf(opened.body, isEager)
}

/** Streams, watched users, edges and interned users. */
const remains = () => [
  world.streams.count(),
  world.watching.targetCount(),
  world.delivery.edges.count(),
  world.interner.size(),
]

describe('a stream', () => {
  test('[W1] sends the retry time, then the snapshot with its id, then changes without', async () => {
    await world.setText('bob', 'hello')
    const reading = await read({ userIds: ['unknown', 'bob'] })
    await clock.advance(0)
    expect(reading.retryMs()).toBe(2_000)
    expect(reading.frames.map(({ frame }) => frame.type)).toEqual(['presence_state'])
    expect(reading.lastEventId()).toBe(`0.${versionOf(reading, 'bob').toString(36)}`)
    const { id } = reading.frames[0]!
    await world.setText('bob', 'goodbye')
    await clock.advance(FLUSH_MS)
    expect(reading.texts('bob')).toEqual(['hello', 'goodbye'])
    expect(reading.lastEventId()).toBe(id)
  })

  test('[W1] sends a long snapshot in several frames, and the id with the last', async () => {
    const userIds = Array.from({ length: WATCH_LIMIT }, (_, n) => `user-${n}`)
    const { frames } = await read({ userIds })
    await clock.advance(0)
    expect(frames.map(({ id }) => id === '')).toEqual([true, true, false])
    expect(frames.flatMap(({ frame }) => presencesIn(frame)).map(({ user_id }) => user_id)).toEqual(userIds)
  })

  test('[W1] sends a comment after fifteen seconds without a frame', async () => {
    const reading = await read()
    await clock.advance(KEEP_ALIVE_MS - 1)
    expect(reading.comments()).toBe(0)
    await clock.advance(2 * CHECK_EVERY_MS)
    expect(reading.comments()).toBe(1)
    for (let n = 0; n < 20; n++) {
      await world.setText('bob', `text ${n}`)
      await clock.advance(4_000)
    }
    expect(reading.comments()).toBe(1)
    await clock.advance(4 * (KEEP_ALIVE_MS + CHECK_EVERY_MS))
    expect(reading.comments()).toBe(1 + 4)
  })
})

describe('a reader that does not read', () => {
  test('[W6] keeps a handful of frames waiting, and ends at the newest of every target', async () => {
    const userIds = Array.from({ length: 20 }, (_, n) => `user-${n}`)
    const slow = await read({ userIds }, false)
    const reading = await read({ userId: 'quick', userIds })
    for (let round = 0; round < 60; round++) {
      for (const userId of userIds) await world.setText(userId, `${round}`)
      await clock.advance(FLUSH_MS)
    }
    expect(reading.texts('user-7').at(-1)).toBe('59')
    expect(world.delivery.blocked()).toBe(1)
    slow.start()
    await clock.advance(2 * FLUSH_MS)
    for (const userId of userIds) expect(slow.texts(userId).at(-1)).toBe('59')
    // The snapshot, what fitted the queue, and the newest of every target.
    expect(slow.frames.length).toBeLessThanOrEqual(6)
    expect(world.delivery.blocked()).toBe(0)
  })

  test('[W6] gets no comments that would pile up', async () => {
    const slow = await read({}, false)
    await clock.advance(100 * KEEP_ALIVE_MS)
    slow.start()
    await clock.advance(0)
    expect(slow.comments()).toBeLessThan(4)
  })
})

describe('limits and ends', () => {
  test('[W1] more users than the limit are refused, and nothing is left behind', async () => {
    const userIds = Array.from({ length: WATCH_LIMIT + 1 }, (_, n) => `user-${n}`)
    expect(await open({ userIds })).toMatchObject({ ok: false, failure: { code: 'watch_limit' } })
    expect(remains()).toEqual([0, 0, 0, 0])
  })

  test('[W1] the streams of a user are limited, counted from the moment they are asked for until they end', async () => {
    const openings = await openMany(STREAMS_PER_USER + 2)
    expect(openings.filter(({ ok }) => ok)).toHaveLength(STREAMS_PER_USER)
    expect(openings.at(-1)).toMatchObject({ ok: false, failure: { code: 'rate_limited' } })
    expect((await open({ userId: 'carol' })).ok).toBe(true)
    for (const opened of openings) if (opened.ok) await opened.body.cancel()
    const again = await openMany(STREAMS_PER_USER)
    expect(again.every(({ ok }) => ok)).toBe(true)
    world.streams.end('alice')
    expect((await open({})).ok).toBe(true)
    expect(world.streams.count()).toBe(2)
  })

  test('[W1, C7] a stream that fails to open leaves nothing behind and does not count', async () => {
    world.faults.isStoreAway = world.faults.isArchiveAway = true
    for (let n = 0; n < STREAMS_PER_USER + 1; n++)
      await expect(open({})).rejects.toThrow('the archive does not answer')
    expect(remains()).toEqual([0, 0, 0, 0])
    world.faults.isStoreAway = world.faults.isArchiveAway = false
    expect((await open({})).ok).toBe(true)
  })

  test('[W1, C7] nor does one that fails after its viewer was read', async () => {
    const first = await read({ userIds: ['carol'] })
    world.faults.isStoreAway = world.faults.isArchiveAway = true
    await expect(open({ userIds: ['bob'] })).rejects.toThrow('the archive does not answer')
    await first.cancel()
    expect(remains()).toEqual([0, 0, 0, 0])
  })

  test('[W1] a cancelled stream leaves nothing behind, and the next one with its number gets none of its changes', async () => {
    const gone = await read({ userIds: ['bob', 'carol'] })
    await world.setText('bob', 'for the cancelled stream')
    await gone.cancel()
    expect(remains()).toEqual([0, 0, 0, 0])
    const next = await read({ userId: 'dave', userIds: ['erin'] })
    await clock.advance(10 * FLUSH_MS)
    expect(next.frames).toHaveLength(1)
    await next.cancel()
    expect(remains()).toEqual([0, 0, 0, 0])
  })

  test('[C6] a stream ends within a second of its token', async () => {
    const reading = await read({ tokenExpiresAt: NOW + 10_000 })
    const other = await read({ userId: 'carol' })
    await clock.advance(9_999)
    expect(reading.hasEnded()).toBe(false)
    await clock.advance(CHECK_EVERY_MS)
    expect([reading.hasEnded(), other.hasEnded()]).toEqual([true, false])
    expect(world.streams.count()).toBe(1)
  })

  test('[W1, X6] a stream that is ended while it opens is refused and leaves nothing behind', async () => {
    const openGate = world.closeGate()
    const opening = world.streams.open(ASKED)
    await clock.advance(0)
    world.streams.end('alice')
    openGate()
    expect(await world.done(opening)).toMatchObject({ ok: false, failure: { code: 'unavailable' } })
    expect(remains()).toEqual([0, 0, 0, 0])
    // The next one has its number.
    expect((await open({})).ok).toBe(true)
  })

  test('[X6] the streams of one user end, or those of all', async () => {
    const [alice, again, carol] = [
      await read(),
      await read(),
      await read({ userId: 'carol', userIds: ['alice'] }),
    ]
    world.streams.end('alice')
    await clock.advance(0)
    expect([alice, again, carol].map((one) => one.hasEnded())).toEqual([true, true, false])
    world.streams.end('unknown')
    world.streams.endAll()
    await clock.advance(0)
    expect(carol.hasEnded()).toBe(true)
    expect(remains()).toEqual([0, 0, 0, 0])
  })

  test('[W1] one timer serves all streams, and stops with them', async () => {
    expect(clock.timerCount()).toBe(1)
    const reading = await read()
    expect(clock.timerCount()).toBe(1)
    await reading.cancel()
    world.streams.stop()
    expect(clock.timerCount()).toBe(0)
  })
})
