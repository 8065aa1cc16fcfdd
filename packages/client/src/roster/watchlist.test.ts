// Wishes against a server that answers when it likes: in the end it watches exactly whom it should, and it
// was told so in few frames.
import { describe, expect, test } from 'bun:test'
import type { ClientFrame } from '@greendot/protocol'
import fc from 'fast-check'
import { createFakeClock } from '../../../../testing/fake-clock.ts'
import { runtimeOf } from '../../testing/runtime.ts'
import type { Answer, DotFailure } from '../types.ts'
import { createWatchlist } from './watchlist.ts'

/** A server that does as the protocol says, and answers when the test lets it. */
function createScene({ limit = 500, versions = {} as Record<string, number> } = {}) {
  const clock = createFakeClock(1_000_000)
  const frames: ClientFrame[] = []
  const watched = new Set<string>()
  const confirmed: string[] = []
  const dropped = new Set<string>()
  const troubles: DotFailure[] = []
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
    onError: (failure) => troubles.push(failure),
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
    troubles,
    watchlist,
    answerAll() {
      for (const answer of answers.splice(0)) answer()
    },
    /** Another connection, to a server that knows nothing of the one before. */
    reconnect() {
      watched.clear()
      answers.length = 0
      watchlist.reset(false)
      watchlist.reset(true)
    },
  }
}

describe('a watchlist', () => {
  test('[W1] after any wishes, answers and reconnects the server watches exactly who is wanted', async () => {
    const id = fc.constantFrom('a', 'b', 'c', 'd', '__proto__')
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('want' as const, 'unwant' as const), id }) },
      { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('answer' as const, 'wait' as const) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('reconnect' as const, 'lose' as const) }) },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const scene = createScene()
        const wanted = new Set<string>()
        const everWanted = new Set<string>()
        for (const one of steps) {
          if (one.do === 'want') {
            everWanted.add(one.id)
            scene.dropped.delete(one.id)
          }
          if (one.do === 'want') wanted.add(one.id)
          if (one.do === 'unwant') wanted.delete(one.id)
          if (one.do === 'want' || one.do === 'unwant') scene.watchlist[one.do](one.id)
          if (one.do === 'answer') scene.answerAll()
          if (one.do === 'wait') await scene.clock.advance(60)
          if (one.do === 'reconnect') scene.reconnect()
          if (one.do === 'lose') scene.watchlist.reset(false)
        }
        scene.reconnect()
        await scene.clock.advance(60)
        scene.answerAll()
        expect([...scene.watched].sort()).toEqual([...wanted].sort())
        for (const userId of wanted) expect(scene.watchlist.isConfirmed(userId)).toBe(true)
        // Whoever is wanted is kept, and nobody else is.
        for (const userId of everWanted) expect(scene.dropped.has(userId)).toBe(!wanted.has(userId))
      }),
      { numRuns: 200 },
    )
  })

  test('[X3] wishes of one moment are one frame, and those taken back are none', async () => {
    const { clock, frames, watchlist } = createScene()
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

  test('[X3] however fast wishes come, there are at most 40 frames a second', async () => {
    const { clock, frames, watchlist } = createScene()
    watchlist.reset(true)
    for (let index = 0; index < 1000; index++) {
      watchlist.want(`u${index}`)
      if (index > 0) watchlist.unwant(`u${index - 1}`)
      await clock.advance(1)
    }
    expect(frames.length).toBeGreaterThan(10)
    expect(frames.length).toBeLessThanOrEqual(42)
  })

  test('[W9] a new connection asks with the versions known', async () => {
    const { clock, frames, watchlist, reconnect } = createScene({
      versions: JSON.parse('{"a":41,"__proto__":0}'),
    })
    for (const id of ['a', 'b', '__proto__']) watchlist.want(id)
    reconnect()
    await clock.advance(0)
    expect(JSON.stringify(frames)).toBe(
      '[{"type":"watch","user_ids":["a","b","__proto__"],"known":{"a":41,"__proto__":0}}]',
    )
  })

  test('[W1] the longest ids in the largest number fit into frames', async () => {
    const ids = Array.from({ length: 500 }, (_, index) => `${index}`.padEnd(128, '"'))
    const versions = Object.fromEntries(ids.map((id) => [id, Number.MAX_SAFE_INTEGER]))
    const { clock, frames, watched, watchlist, answerAll } = createScene({ versions })
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

  test('[W1] those for whom there is no room come in when there is some', async () => {
    const { clock, watched, troubles, watchlist, answerAll } = createScene({ limit: 2 })
    watchlist.reset(true)
    for (const id of ['a', 'b']) watchlist.want(id)
    await clock.advance(100)
    watchlist.want('c')
    await clock.advance(100)
    answerAll()
    expect(troubles).toMatchObject([{ code: 'watch_limit' }])
    expect(watchlist.isConfirmed('c')).toBe(false)
    watchlist.unwant('a')
    await clock.advance(100)
    answerAll()
    expect([...watched].sort()).toEqual(['b', 'c'])
    expect(watchlist.isConfirmed('c')).toBe(true)
  })
})
