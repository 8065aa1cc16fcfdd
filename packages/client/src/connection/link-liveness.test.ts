// Heartbeats, probes of a silent server, and the change between WebSocket and HTTP, on a fake clock.

import { describe, expect, test } from 'bun:test'
import { createFakeClock } from '../../../../testing/worlds/fake-clock.ts'
import { createLinkWorld, type LinkWorldOptions } from '../../testing/link-world.ts'

const createWorld = (options?: LinkWorldOptions) => createLinkWorld(createFakeClock(1_000_000), options)

describe('heartbeats and probes', () => {
  const beats = (frames: readonly object[]) =>
    frames.filter((frame) => 'type' in frame && frame.type === 'heartbeat')

  test('[D1] sends a heartbeat with the activity every interval', async () => {
    const { clock, sockets, live } = createWorld()
    await live()
    await clock.advance(14_999)
    expect(sockets.last().sent).toEqual([])
    await clock.advance(1)
    expect(sockets.last().sent).toEqual([{ type: 'heartbeat', activity: 'active' }])
    expect(sockets.last().ticket.activity).toBe('active')
  })

  test('[D1] an incoming frame sends a heartbeat that is due', async () => {
    // A page whose timers do not run.
    const world = createWorld({ pulse: () => ({ stop() {} }) })
    world.activity = 'idle'
    const { clock, sockets, link } = world
    link.start()
    await clock.advance(0)
    sockets.last().welcome()
    await clock.advance(14_000)
    sockets.last().say({ type: 'presence_change', changes: [] })
    expect(beats(sockets.last().sent)).toEqual([{ type: 'heartbeat', activity: 'idle' }])
    sockets.last().say({ type: 'presence_change', changes: [] })
    expect(beats(sockets.last().sent)).toHaveLength(1)
  })

  test('[C7] a silent server is probed, and counts as lost without an answer', async () => {
    const { clock, sockets, link, live, events } = createWorld()
    await live()
    await clock.advance(30_000)
    const [call] = sockets.calls
    const [first, asked] = beats(call!.sent) as { ref?: string }[]
    expect(first?.ref).toBeUndefined()
    expect(asked?.ref).toBeDefined()
    await clock.advance(4_999)
    expect(link.isLive()).toBe(true)
    await clock.advance(1)
    expect(events).toEqual(['welcome', 'down'])
    expect(call!.isClosed).toBe(true)
    await clock.advance(500)
    expect(sockets.calls).toHaveLength(2)
  })

  test('[C7] the answer to a probe keeps the connection, and is not passed on', async () => {
    const { clock, sockets, link, live, frames } = createWorld()
    await live()
    sockets.last().isAgreeing = true
    await clock.advance(600_000)
    expect(link.isLive()).toBe(true)
    expect(sockets.calls).toHaveLength(1)
    expect(beats(sockets.last().sent)).toHaveLength(40)
    expect(frames).toEqual([])
  })

  test('[D6] after sleeping past the TTL it reconnects without waiting for a close', async () => {
    const { clock, sockets, link, live, sleep } = createWorld()
    await live()
    sleep(3_600_000)
    link.poke()
    expect([link.isLive(), sockets.last().isClosed]).toEqual([false, true])
    await clock.advance(500)
    expect(sockets.calls).toHaveLength(2)
  })

  test('[X3] poke probes a live connection, and ends the pause before the next attempt', async () => {
    const { clock, sockets, link, live } = createWorld()
    await live()
    link.poke()
    expect(sockets.last().sent).toMatchObject([{ type: 'heartbeat', ref: expect.anything() }])
    sockets.last().end('lost')
    link.poke()
    await clock.advance(0)
    expect(sockets.calls).toHaveLength(2)
  })
})

describe('blocked WebSockets', () => {
  test('[D8] after three silent sockets HTTP and WebSocket are tried in turn', async () => {
    const { clock, sockets, http, link } = createWorld({ random: () => 0 })
    link.start()
    const ways: string[] = []
    for (let index = 0; index < 7; index++) {
      await clock.advance(0)
      const call = [...sockets.calls, ...http.calls].find(({ isClosed }) => !isClosed)!
      ways.push(sockets.calls.includes(call) ? 'socket' : 'http')
      call.end('lost')
    }
    expect(ways).toEqual(['socket', 'socket', 'socket', 'http', 'socket', 'http', 'socket'])
  })

  test('[D8] a socket that received a frame does not count as blocked', async () => {
    const { clock, sockets, http, link } = createWorld({ random: () => 0 })
    link.start()
    for (let index = 0; index < 9; index++) {
      await clock.advance(0)
      sockets.last().say({ type: 'error', code: 'unavailable', message: 'soon' })
      sockets.last().end('lost')
    }
    expect(http.calls).toEqual([])
  })

  test('[D8] over HTTP a socket is tried every two minutes, and takes over with its welcome', async () => {
    const { clock, sockets, http, link, events } = createWorld({ random: () => 0 })
    link.start()
    for (let index = 0; index < 3; index++) {
      await clock.advance(0)
      sockets.last().end('lost')
    }
    await clock.advance(0)
    http.last().welcome()
    http.last().isAgreeing = true
    await clock.advance(119_000)
    expect(sockets.calls).toHaveLength(3)
    await clock.advance(1_000)
    sockets.last().end('lost')
    await clock.advance(120_000)
    expect(sockets.calls).toHaveLength(5)
    expect([link.isLive(), http.last().isClosed]).toEqual([true, false])
    sockets.last().welcome()
    sockets.last().isAgreeing = true
    expect(http.last().isClosed).toBe(true)
    expect(events).toEqual(['welcome', 'welcome'])
    await clock.advance(600_000)
    expect([sockets.calls.length, http.calls.length]).toEqual([5, 1])
  })

  test('[D8] a runtime without WebSockets uses only HTTP', async () => {
    const { clock, sockets, http, link } = createWorld({ hasSockets: false })
    link.start()
    await clock.advance(0)
    http.last().welcome()
    http.last().isAgreeing = true
    await clock.advance(600_000)
    expect([sockets.calls.length, http.calls.length]).toEqual([0, 1])
  })
})
