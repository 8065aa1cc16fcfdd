// Reconnecting and changing servers, on a fake clock. Heartbeats and probes are in link-liveness.test.ts.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createFakeClock } from '../../../../testing/worlds/fake-clock.ts'
import { createLinkWorld, type LinkWorldOptions } from '../../testing/link-world.ts'
import { pauseMs } from './link.ts'

const createWorld = (options?: LinkWorldOptions) => createLinkWorld(createFakeClock(1_000_000), options)

describe('reconnecting', () => {
  test('[X3] pauses are random up to 500 ms, doubled with every failure, up to 30 s', () => {
    fc.assert(
      fc.property(fc.nat({ max: 2000 }), fc.double({ min: 0, max: 1, noNaN: true }), (failures, random) => {
        const longest = pauseMs(failures, 1)
        expect(longest).toBe(failures < 6 ? 500 * 2 ** failures : 30_000)
        expect(pauseMs(failures, random)).toBeCloseTo(longest * random)
      }),
    )
  })

  test('[X3] attempts become rarer, and each one has a new token', async () => {
    const { clock, sockets, link, events } = createWorld({ hasHttp: false })
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
    expect(events).toEqual([])
  })

  test('[X3] only a connection that lasted resets the pause', async () => {
    const { clock, sockets, live } = createWorld()
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
    const { clock, sockets, link, errors } = createWorld()
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

  test('[C6] a token that keeps expiring does not cause a loop without pauses', async () => {
    const { clock, sockets, live } = createWorld()
    await live()
    for (let index = 0; index < 20; index++) {
      sockets.last().end('refused')
      await clock.advance(100)
      if (!sockets.last().isClosed) sockets.last().welcome()
    }
    expect(sockets.calls.length).toBeLessThan(6)
  })

  test('[C6] a token that cannot be fetched is an error, and is fetched again', async () => {
    const world = createWorld()
    world.tokenOf = async () => {
      throw new Error('signed out')
    }
    world.link.start()
    await world.clock.advance(1_600)
    expect(world.sockets.calls).toEqual([])
    expect(world.tokens).toBe(3)
    expect(world.errors[0]?.message).toContain('signed out')
  })

  test('[D6] after a missed heartbeat it reconnects without a timer', async () => {
    const { clock, sockets, live } = createWorld()
    await live()
    await clock.advance(30_000)
    const setTimers = clock.timerCount()
    sockets.last().end('silent')
    // Runs promises without advancing the clock.
    await clock.advance(0)
    expect(sockets.calls).toHaveLength(2)
    expect(setTimers).toBeGreaterThan(0)
  })

  test('[X3] after too_often the pause is longer', async () => {
    const { clock, sockets, link } = createWorld({ hasHttp: false })
    link.start()
    await clock.advance(0)
    sockets.last().end('too_often')
    await clock.advance(15_999)
    expect(sockets.calls).toHaveLength(1)
    await clock.advance(1)
    expect(sockets.calls).toHaveLength(2)
  })

  test('[X3] an attempt without a welcome within 15 s is given up', async () => {
    const { clock, sockets, link } = createWorld()
    link.start()
    await clock.advance(15_000)
    expect(sockets.calls[0]?.isClosed).toBe(true)
    await clock.advance(500)
    expect(sockets.calls).toHaveLength(2)
  })

  test('[C6, X3] a disconnect by the app ends the link: no attempt follows, however long it waits', async () => {
    const { clock, sockets, link, live, events, frames } = createWorld()
    await live()
    sockets.last().say({ type: 'error', code: 'forbidden', message: 'signed out' })
    sockets.last().end('disconnected')
    await clock.advance(600_000)
    link.poke()
    await clock.advance(0)
    expect(sockets.calls).toHaveLength(1)
    expect(events).toEqual(['welcome', 'disconnected'])
    expect(frames).toMatchObject([{ code: 'forbidden', message: 'signed out' }])
    link.start()
    await clock.advance(0)
    expect(sockets.calls).toHaveLength(2)
  })

  test('[D2] left ends the link until it is started again', async () => {
    const { clock, sockets, link, live, events } = createWorld()
    await live()
    sockets.last().end('left')
    await clock.advance(100_000)
    expect(sockets.calls).toHaveLength(1)
    expect(link.isLive()).toBe(false)
    expect(clock.timerCount()).toBe(0)
    link.start()
    await clock.advance(0)
    expect(sockets.calls).toHaveLength(2)
    expect(events).toEqual(['welcome', 'left'])
  })

  test('[X3] stopping at any moment leaves no timer, no connection and no callback', async () => {
    const step = fc.constantFrom('welcome', 'lose', 'drain', 'wait', 'poke')
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const { clock, sockets, http, link, events } = createWorld({ random: Math.random })
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
        const before = [...events]
        await clock.advance(120_000)
        expect(clock.timerCount()).toBe(0)
        expect([...sockets.calls, ...http.calls].every(({ isClosed }) => isClosed)).toBe(true)
        expect(events).toEqual(before)
      }),
      { numRuns: 100 },
    )
  })
})

describe('changing servers on drain', () => {
  test('[C7] the old connection is closed when the new one has its welcome', async () => {
    const { clock, sockets, link, live, events, frames } = createWorld()
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
    expect(events).toEqual(['welcome', 'welcome'])
  })

  test('[C7] while no new connection succeeds, the old one stays in use', async () => {
    const { clock, sockets, link, live, events } = createWorld()
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
    expect(events).toEqual(['welcome', 'down', 'welcome'])
  })
})
