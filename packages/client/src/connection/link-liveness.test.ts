// What keeps a connection, on a clock that the test moves: heartbeats, questions to a server that is silent,
// and another way to the server where WebSockets are blocked.
import { describe, expect, test } from 'bun:test'
import { createFakeClock } from '../../../../testing/fake-clock.ts'
import { createLinkScene, type LinkSceneOptions } from '../../testing/link-scene.ts'

const createScene = (options?: LinkSceneOptions) => createLinkScene(createFakeClock(1_000_000), options)

describe('staying here', () => {
  const beats = (frames: readonly object[]) =>
    frames.filter((frame) => 'type' in frame && frame.type === 'heartbeat')

  test('[D1] a heartbeat every interval, with what we do', async () => {
    const { clock, sockets, live } = createScene()
    await live()
    await clock.advance(14_999)
    expect(sockets.last().sent).toEqual([])
    await clock.advance(1)
    expect(sockets.last().sent).toEqual([{ type: 'heartbeat', activity: 'active' }])
    expect(sockets.last().ticket.activity).toBe('active')
  })

  test('[D1] whatever wakes us is a chance to beat when the timer is late', async () => {
    // A page whose timers sleep.
    const scene = createScene({ pulse: () => ({ stop() {} }) })
    scene.activity = 'idle'
    const { clock, sockets, link } = scene
    link.start()
    await clock.advance(0)
    sockets.last().welcome()
    await clock.advance(14_000)
    sockets.last().say({ type: 'presence_change', changes: [] })
    expect(beats(sockets.last().sent)).toEqual([{ type: 'heartbeat', activity: 'idle' }])
    sockets.last().say({ type: 'presence_change', changes: [] })
    expect(beats(sockets.last().sent)).toHaveLength(1)
  })

  test('[C7] a silent server is asked, and one that does not answer is dead', async () => {
    const { clock, sockets, link, live, told } = createScene()
    await live()
    await clock.advance(30_000)
    const [call] = sockets.calls
    const [first, asked] = beats(call!.sent) as { ref?: string }[]
    expect(first?.ref).toBeUndefined()
    expect(asked?.ref).toBeDefined()
    await clock.advance(4_999)
    expect(link.isLive()).toBe(true)
    await clock.advance(1)
    expect(told).toEqual(['welcome', 'down'])
    expect(call!.isClosed).toBe(true)
    await clock.advance(500)
    expect(sockets.calls).toHaveLength(2)
  })

  test('[C7] one that answers goes on, and the answer is nobody else’s business', async () => {
    const { clock, sockets, link, live, frames } = createScene()
    await live()
    sockets.last().isAgreeing = true
    await clock.advance(600_000)
    expect(link.isLive()).toBe(true)
    expect(sockets.calls).toHaveLength(1)
    expect(beats(sockets.last().sent)).toHaveLength(40)
    expect(frames).toEqual([])
  })

  test('[D6] after sleep the server has given us up: we do not wait for it to say so', async () => {
    const { clock, sockets, link, live, sleep } = createScene()
    await live()
    sleep(3_600_000)
    link.poke()
    expect([link.isLive(), sockets.last().isClosed]).toEqual([false, true])
    await clock.advance(500)
    expect(sockets.calls).toHaveLength(2)
  })

  test('[X3] being poked asks a live connection, and ends the pause of a lost one', async () => {
    const { clock, sockets, link, live } = createScene()
    await live()
    link.poke()
    expect(sockets.last().sent).toMatchObject([{ type: 'heartbeat', ref: expect.anything() }])
    sockets.last().end('lost')
    link.poke()
    await clock.advance(0)
    expect(sockets.calls).toHaveLength(2)
  })
})

describe('where WebSockets are blocked', () => {
  test('[D8] requests are tried after three sockets that said nothing, and sockets again after those', async () => {
    const { clock, sockets, http, link } = createScene({ random: () => 0 })
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

  test('[D8] a server that speaks over its sockets is not taken for a blocked one', async () => {
    const { clock, sockets, http, link } = createScene({ random: () => 0 })
    link.start()
    for (let index = 0; index < 9; index++) {
      await clock.advance(0)
      sockets.last().say({ type: 'error', code: 'unavailable', message: 'soon' })
      sockets.last().end('lost')
    }
    expect(http.calls).toEqual([])
  })

  test('[D8] while requests serve, a socket is tried now and then, and takes over with its welcome', async () => {
    const { clock, sockets, http, link, told } = createScene({ random: () => 0 })
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
    expect(told).toEqual(['welcome', 'welcome'])
    await clock.advance(600_000)
    expect([sockets.calls.length, http.calls.length]).toEqual([5, 1])
  })

  test('[D8] a runtime without sockets uses requests from the start, and for good', async () => {
    const { clock, sockets, http, link } = createScene({ hasSockets: false })
    link.start()
    await clock.advance(0)
    http.last().welcome()
    http.last().isAgreeing = true
    await clock.advance(600_000)
    expect([sockets.calls.length, http.calls.length]).toEqual([0, 1])
  })
})
