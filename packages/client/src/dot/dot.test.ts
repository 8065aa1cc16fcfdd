// A dot with its hub on a fake clock: stale presence, and activity set by the app.
import { describe, expect, test } from 'bun:test'
import type { Presence } from '@greendot/protocol'
import { createFakeClock } from '../../../../testing/worlds/fake-clock.ts'
import { runtimeOf, scriptedDial } from '../../testing/runtime.ts'
import { FOREVER } from '../activity/device-activity.ts'
import { createHub } from '../connection/hub.ts'
import { soloUplink } from '../connection/solo-uplink.ts'
import { createDot } from './dot.ts'

const bob = (version: number): Presence => ({
  user_id: 'bob',
  status: 'online',
  last_seen: version,
  custom_status: null,
  devices: ['web'],
  version,
})

async function createWorld({ isPage = true } = {}) {
  const clock = createFakeClock(1_000_000)
  const runtime = runtimeOf(clock)
  const server = scriptedDial()
  const dot = createDot({
    runtime,
    activeAt: isPage ? clock.now() : FOREVER,
    callSettings: () => Promise.reject(new Error('no settings in this test')),
  })
  const events: string[] = []
  dot.on('state', (state) => events.push(state))
  dot.on('change', ({ version, stale }) => events.push(`bob ${version}${stale ? ' stale' : ''}`))
  dot.resume(
    soloUplink(() =>
      createHub({
        runtime,
        dialSocket: server.dial,
        dialHttp: undefined,
        pulse: clock.every,
        token: async () => 'token',
      }),
    ),
  )
  await clock.advance(0)
  server.last().isAgreeing = true
  server.last().welcome()
  const reported = () =>
    server.last().sent.flatMap((frame) => (frame.type === 'heartbeat' ? [frame.activity] : []))
  return { clock, dot, server, events, reported }
}

describe('interruptions', () => {
  async function watchBob() {
    const world = await createWorld()
    world.dot.watch('bob')
    await world.clock.advance(0)
    world.server.last().say({ type: 'presence_change', changes: [bob(5)] })
    world.server.last().end('silent')
    return world
  }

  test('[W9] a reconnect within two seconds reports only what changed', async () => {
    const { clock, server, events } = await watchBob()
    await clock.advance(1_999)
    server.last().isAgreeing = true
    server.last().welcome()
    server.last().say({ type: 'presence_state', states: [bob(5)] })
    await clock.advance(60_000)
    expect(events).toEqual(['live', 'bob 5'])
    server.last().say({ type: 'presence_change', changes: [bob(6)] })
    expect(events).toEqual(['live', 'bob 5', 'bob 6'])
  })

  test('[C7] after two seconds without a connection presence is stale, until the next answer', async () => {
    const { clock, server, events } = await watchBob()
    await clock.advance(1_999)
    expect(events).toEqual(['live', 'bob 5'])
    await clock.advance(1)
    expect(events).toEqual(['live', 'bob 5', 'stale', 'bob 5 stale'])
    server.last().isAgreeing = true
    server.last().welcome()
    await clock.advance(0)
    expect(events.slice(4)).toEqual(['live', 'bob 5'])
  })
})

describe('setActivity', () => {
  test('[D4] auto returns to active at once after recent input', async () => {
    const { clock, dot, reported } = await createWorld()
    await clock.advance(10_000)
    dot.noteActivity(clock.now())
    dot.setActivity('idle')
    expect(reported().at(-1)).toBe('idle')
    await clock.advance(1_000)
    dot.setActivity('auto')
    expect(reported().at(-1)).toBe('active')
  })

  test('[D4] auto returns to idle without recent input', async () => {
    const { clock, dot, reported } = await createWorld()
    dot.setActivity('active')
    await clock.advance(400_000)
    expect(reported().at(-1)).toBe('active')
    dot.setActivity('auto')
    expect(reported().at(-1)).toBe('idle')
  })

  test('[D4] auto outside of a page is active for good', async () => {
    const { clock, dot, reported } = await createWorld({ isPage: false })
    dot.setActivity('idle')
    expect(reported()).toEqual(['idle'])
    dot.setActivity('auto')
    await clock.advance(600_000)
    expect(new Set(reported().slice(1))).toEqual(new Set(['active']))
  })
})
