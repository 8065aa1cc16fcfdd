// The life of the one connection on a clock that the test moves: when it is tried again and how, and how a
// successor takes over. Staying connected is in link-staying.test.ts.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createFakeClock } from '../../../../testing/fake-clock.ts'
import { createLinkScene, type LinkSceneOptions } from '../../testing/link-scene.ts'
import { pauseMs } from './link.ts'

const createScene = (options?: LinkSceneOptions) => createLinkScene(createFakeClock(1_000_000), options)

describe('coming back', () => {
  test('[X3] pauses are anything up to 500 ms, then twice as much each time, and never more than 30 s', () => {
    fc.assert(
      fc.property(fc.nat({ max: 2000 }), fc.double({ min: 0, max: 1, noNaN: true }), (failures, random) => {
        const longest = pauseMs(failures, 1)
        expect(longest).toBe(failures < 6 ? 500 * 2 ** failures : 30_000)
        expect(pauseMs(failures, random)).toBeCloseTo(longest * random)
      }),
    )
  })

  test('[X3] a server that does not answer is tried less and less often, with a token of its own each time', async () => {
    const { clock, sockets, link, told } = createScene({ hasHttp: false })
    link.start()
    const attempts: number[] = []
    for (let index = 0; index < 9; index++) {
      await clock.advance(0)
      const waitedFrom = clock.now()
      sockets.last().end('lost')
      const before = sockets.calls.length
      while (sockets.calls.length === before) await clock.advance(10)
      attempts.push(Math.round((clock.now() - waitedFrom) / 100) * 100)
    }
    expect(attempts).toEqual([500, 1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000])
    expect(sockets.calls.map(({ ticket }) => ticket.token)).toEqual(
      sockets.calls.map((_, index) => `token-${index + 1}`),
    )
    expect(told).toEqual([])
  })

  test('[X3] after a connection that lasted the first pause is short, after one that did not it is not', async () => {
    const { clock, sockets, live } = createScene()
    await live()
    for (let index = 0; index < 4; index++) {
      sockets.last().end('lost')
      await clock.advance(500 * 2 ** index)
      sockets.last().welcome()
    }
    const count = sockets.calls.length
    sockets.last().end('lost')
    await clock.advance(7_999)
    expect(sockets.calls).toHaveLength(count)
    await clock.advance(1)
    sockets.last().welcome()
    await clock.advance(10_001)
    sockets.last().end('lost')
    await clock.advance(500)
    expect(sockets.calls).toHaveLength(count + 2)
  })

  test('[C6] a refused token is replaced at once, but only once', async () => {
    const { clock, sockets, link, errors } = createScene()
    link.start()
    await clock.advance(0)
    sockets.last().say({ type: 'error', code: 'token_expired', message: 'it has' })
    sockets.last().end('refused')
    await clock.advance(0)
    expect(sockets.calls).toHaveLength(2)
    sockets.last().end('refused')
    await clock.advance(499)
    expect(sockets.calls).toHaveLength(2)
    await clock.advance(1)
    expect(sockets.calls).toHaveLength(3)
    expect(errors).toMatchObject([{ code: 'token_expired' }])
  })

  test('[C6] a token that expires again and again does not make a loop without pauses', async () => {
    const { clock, sockets, live } = createScene()
    await live()
    for (let index = 0; index < 20; index++) {
      sockets.last().end('refused')
      await clock.advance(100)
      if (!sockets.last().isClosed) sockets.last().welcome()
    }
    expect(sockets.calls.length).toBeLessThan(6)
  })

  test('[C6] a token that cannot be had is trouble, and is asked for again', async () => {
    const scene = createScene()
    scene.tokenOf = async () => {
      throw new Error('signed out')
    }
    scene.link.start()
    await scene.clock.advance(1_600)
    expect(scene.sockets.calls).toEqual([])
    expect(scene.tokens).toBe(3)
    expect(scene.errors[0]?.message).toContain('signed out')
  })

  test('[D6] a server that missed our heartbeat is reached again without any timer', async () => {
    const { clock, sockets, live } = createScene()
    await live()
    await clock.advance(30_000)
    const setTimers = clock.timerCount()
    sockets.last().end('silent')
    // Promises run, the clock stands still.
    await clock.advance(0)
    expect(sockets.calls).toHaveLength(2)
    expect(setTimers).toBeGreaterThan(0)
  })

  test('[X3] one that says too often is left alone for longer', async () => {
    const { clock, sockets, link } = createScene({ hasHttp: false })
    link.start()
    await clock.advance(0)
    sockets.last().end('too_often')
    await clock.advance(15_999)
    expect(sockets.calls).toHaveLength(1)
    await clock.advance(1)
    expect(sockets.calls).toHaveLength(2)
  })

  test('[X3] a connection without a welcome within 15 s is given up', async () => {
    const { clock, sockets, link } = createScene()
    link.start()
    await clock.advance(15_000)
    expect(sockets.calls[0]?.isClosed).toBe(true)
    await clock.advance(500)
    expect(sockets.calls).toHaveLength(2)
  })

  test('[D2] a goodbye is the end of it, and starting begins anew', async () => {
    const { clock, sockets, link, live, told } = createScene()
    await live()
    sockets.last().end('left')
    await clock.advance(100_000)
    expect(sockets.calls).toHaveLength(1)
    expect(link.isLive()).toBe(false)
    expect(clock.timerCount()).toBe(0)
    link.start()
    await clock.advance(0)
    expect(sockets.calls).toHaveLength(2)
    expect(told).toEqual(['welcome', 'left'])
  })

  test('[X3] stopping at any moment leaves no timer, no connection and no sound', async () => {
    const step = fc.constantFrom('welcome', 'lose', 'drain', 'wait', 'poke')
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const { clock, sockets, http, link, told } = createScene({ random: Math.random })
        link.start()
        for (const one of steps) {
          await clock.advance(one === 'wait' ? 700 : 0)
          const call = sockets.last()
          if (one === 'welcome' && !call.isClosed && call.sent.length === 0) call.welcome()
          if (one === 'lose') call.end('lost')
          if (one === 'drain') call.say({ type: 'drain', reconnect_after_ms: 300 })
          if (one === 'poke') link.poke()
        }
        link.stop()
        const before = [...told]
        await clock.advance(120_000)
        expect(clock.timerCount()).toBe(0)
        expect([...sockets.calls, ...http.calls].every(({ isClosed }) => isClosed)).toBe(true)
        expect(told).toEqual(before)
      }),
      { numRuns: 100 },
    )
  })
})

describe('changing servers', () => {
  test('[C7] a server that drains is left when the next one has welcomed us, not before', async () => {
    const { clock, sockets, link, live, told, frames } = createScene()
    await live()
    const [old] = sockets.calls
    old!.say({ type: 'drain', reconnect_after_ms: 1200 })
    await clock.advance(1199)
    expect(sockets.calls).toHaveLength(1)
    await clock.advance(1)
    expect(sockets.calls).toHaveLength(2)
    expect(old!.isClosed).toBe(false)
    old!.say({ type: 'presence_change', changes: [] })
    expect(frames).toHaveLength(1)
    sockets.last().welcome()
    expect(old!.isClosed).toBe(true)
    expect(link.isLive()).toBe(true)
    expect(told).toEqual(['welcome', 'welcome'])
  })

  test('[C7] while there is nowhere else to go the old one serves, to its end', async () => {
    const { clock, sockets, link, live, told } = createScene()
    await live()
    const [old] = sockets.calls
    old!.say({ type: 'drain', reconnect_after_ms: 0 })
    await clock.advance(0)
    sockets.last().end('lost')
    await clock.advance(0)
    expect(link.isLive()).toBe(true)
    old!.end('lost')
    expect(link.isLive()).toBe(false)
    await clock.advance(1_000)
    sockets.last().welcome()
    expect(told).toEqual(['welcome', 'down', 'welcome'])
  })
})
