// The watch list against a model of the server that answers at any time: in the end the server watches exactly
// the wanted ids, with few frames.
import { describe, expect, test } from 'bun:test'
import type { ClientFrame } from '@greendot/protocol'
import fc from 'fast-check'
import { createFakeClock } from '../../../../testing/worlds/fake-clock.ts'
import { runtimeOf } from '../../testing/runtime.ts'
import type { Answer, DotFailure } from '../types.ts'
import { createWatchlist } from './watchlist.ts'

/** A model of the server that answers when the test lets it. */
function createWorld({ limit = 500, versions = {} as Record<string, number> } = {}) {
  const clock = createFakeClock(1_000_000)
  const frames: ClientFrame[] = []
  const watched = new Set<string>()
  const confirmed: string[] = []
  const dropped = new Set<string>()
  const errors: DotFailure[] = []
  const answers: (() => void)[] = []
  const watchlist = createWatchlist({
    runtime: runtimeOf(clock),
    versionOf: (userId) => (Object.hasOwn(versions, userId) ? versions[userId] : undefined),
    ask(frame, onAnswer) {
      frames.push(frame)
      const answer = apply(frame)
      answers.push(() => onAnswer(answer))
    },
    onConfirmed: (userIds) => confirmed.push(...userIds),
    onDropped: (userId) => dropped.add(userId),
    onError: (failure) => errors.push(failure),
  })

  function apply(frame: ClientFrame): Answer {
    if (frame.type === 'unwatch') for (const id of frame.user_ids) watched.delete(id)
    if (frame.type !== 'watch') return { ok: true }
    const all = new Set([...watched, ...frame.user_ids])
    if (all.size > limit) return { ok: false, code: 'watch_limit', message: 'full' }
    for (const id of all) watched.add(id)
    return { ok: true }
  }

  return {
    clock,
    frames,
    watched,
    confirmed,
    dropped,
    errors,
    watchlist,
    answerAll() {
      for (const answer of answers.splice(0)) answer()
    },
    /** A new connection, which watches nothing yet. */
    reconnect() {
      watched.clear()
      answers.length = 0
      watchlist.reset(false)
      watchlist.reset(true)
    },
  }
}

describe('a watchlist', () => {
  test('[W1] after any changes, answers and reconnects the server watches exactly the wanted ids', async () => {
    const id = fc.constantFrom('a', 'b', 'c', 'd', '__proto__')
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('want' as const, 'unwant' as const), id }) },
      { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('answer' as const, 'wait' as const) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('reconnect' as const, 'lose' as const) }) },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const world = createWorld()
        const wanted = new Set<string>()
        const everWanted = new Set<string>()
        for (const one of steps) {
          if (one.do === 'want') {
            everWanted.add(one.id)
            world.dropped.delete(one.id)
          }
          if (one.do === 'want') wanted.add(one.id)
          if (one.do === 'unwant') wanted.delete(one.id)
          if (one.do === 'want' || one.do === 'unwant') world.watchlist[one.do](one.id)
          if (one.do === 'answer') world.answerAll()
          if (one.do === 'wait') await world.clock.advance(60)
          if (one.do === 'reconnect') world.reconnect()
          if (one.do === 'lose') world.watchlist.reset(false)
        }
        world.reconnect()
        await world.clock.advance(60)
        world.answerAll()
        expect([...world.watched].sort()).toEqual([...wanted].sort())
        for (const userId of wanted) expect(world.watchlist.isConfirmed(userId)).toBe(true)
        // Exactly the unwanted ids are dropped.
        for (const userId of everWanted) expect(world.dropped.has(userId)).toBe(!wanted.has(userId))
      }),
      { numRuns: 200 },
    )
  })

  test('[X3] changes of one turn are one frame, and those taken back are none', async () => {
    const { clock, frames, watchlist } = createWorld()
    watchlist.reset(true)
    for (const id of ['a', 'b', 'c']) watchlist.want(id)
    watchlist.unwant('b')
    await clock.advance(0)
    expect(frames).toEqual([{ type: 'watch', user_ids: ['a', 'c'], known: {} }])
    watchlist.unwant('a')
    watchlist.want('a')
    await clock.advance(1000)
    expect(frames).toHaveLength(1)
  })

  test('[X3] however often the wanted ids change, there are at most 40 frames a second', async () => {
    const { clock, frames, watchlist } = createWorld()
    watchlist.reset(true)
    for (let index = 0; index < 1000; index++) {
      watchlist.want(`u${index}`)
      if (index > 0) watchlist.unwant(`u${index - 1}`)
      await clock.advance(1)
    }
    expect(frames.length).toBeGreaterThan(10)
    expect(frames.length).toBeLessThanOrEqual(42)
  })

  test('[W9] a new connection watches with the known versions', async () => {
    const { clock, frames, watchlist, reconnect } = createWorld({
      versions: JSON.parse('{"a":41,"__proto__":0}'),
    })
    for (const id of ['a', 'b', '__proto__']) watchlist.want(id)
    reconnect()
    await clock.advance(0)
    expect(JSON.stringify(frames)).toBe(
      '[{"type":"watch","user_ids":["a","b","__proto__"],"known":{"a":41,"__proto__":0}}]',
    )
  })

  test('[W1] the largest number of ids of the maximum length fits into frames', async () => {
    const ids = Array.from({ length: 500 }, (_, index) => `${index}`.padEnd(128, '"'))
    const versions = Object.fromEntries(ids.map((id) => [id, Number.MAX_SAFE_INTEGER]))
    const { clock, frames, watched, watchlist, answerAll } = createWorld({ versions })
    watchlist.reset(true)
    ids.forEach(watchlist.want)
    await clock.advance(0)
    answerAll()
    ids.forEach(watchlist.unwant)
    await clock.advance(100)
    expect(frames.length).toBe(10)
    expect(watched.size).toBe(0)
    for (const frame of frames) expect(Buffer.byteLength(JSON.stringify(frame))).toBeLessThan(64 * 1024)
  })

  test('[W1] ids over the watch limit are watched once there is room', async () => {
    const { clock, watched, errors, watchlist, answerAll } = createWorld({ limit: 2 })
    watchlist.reset(true)
    for (const id of ['a', 'b']) watchlist.want(id)
    await clock.advance(100)
    watchlist.want('c')
    await clock.advance(100)
    answerAll()
    expect(errors).toMatchObject([{ code: 'watch_limit' }])
    expect(watchlist.isConfirmed('c')).toBe(false)
    watchlist.unwant('a')
    await clock.advance(100)
    answerAll()
    expect([...watched].sort()).toEqual(['b', 'c'])
    expect(watchlist.isConfirmed('c')).toBe(true)
  })
})
