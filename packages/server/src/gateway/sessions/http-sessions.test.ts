// Sessions over HTTP: rows of the same table as sockets, under the same rules, kept alive by requests.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { CLOSE } from '@greendot/protocol'
import {
  createGatewayWorld,
  FLUSH_MS,
  type GatewayWorld,
} from '../../../../../testing/worlds/gateway-world.ts'
import type { HttpHeartbeat } from './http-sessions.ts'
import { startLiveness } from './liveness.ts'

const SESSIONS_PER_USER = 32

let world: GatewayWorld
beforeEach(async () => {
  world = await createGatewayWorld()
})
afterEach(() => world.close())

const BEAT: HttpHeartbeat = {
  userId: 'bob',
  deviceId: 'd1',
  platform: 'mobile',
  activity: 'active',
  tokenExpiresAt: null,
  tokenIssuedAt: null,
}
const beat = (heartbeat: Partial<HttpHeartbeat> = {}) =>
  world.done(world.httpSessions.heartbeat({ ...BEAT, ...heartbeat }))

async function stateOf(heartbeat: Partial<HttpHeartbeat> = {}) {
  const recorded = await beat(heartbeat)
  return recorded.ok ? recorded.state : null
}

async function ownView(heartbeat: Partial<HttpHeartbeat> = {}) {
  const state = await stateOf(heartbeat)
  return state?.ownView ? JSON.parse(state.ownView) : null
}

async function liveSessions(): Promise<{ deviceId: string; activity: string }[]> {
  await world.done(world.tracker.flush())
  const [stored] = await world.store.load(['bob'])
  return stored!.record.sessions
    .filter(({ end }) => end.state === 'live')
    .map(({ deviceId, activity }) => ({ deviceId, activity }))
    .sort((a, b) => a.deviceId.localeCompare(b.deviceId))
}

describe('a heartbeat', () => {
  test('[D8] opens a session, and later ones of the device keep it and report its activity', async () => {
    await beat()
    expect(await liveSessions()).toEqual([{ deviceId: 'd1', activity: 'active' }])
    await beat({ activity: 'idle' })
    await beat({ deviceId: 'd2' })
    expect(await liveSessions()).toEqual([
      { deviceId: 'd1', activity: 'idle' },
      { deviceId: 'd2', activity: 'active' },
    ])
    expect(world.table.columns.live).toBe(2)
  })

  test('[D8] is answered with the own view once, and again when it changed', async () => {
    expect(await ownView()).toMatchObject({ status: 'online', sessions: [{ device_id: 'd1' }] })
    expect(await ownView()).toBeNull()
    await world.setText('bob', 'hello')
    expect(await ownView()).toMatchObject({ custom_status: { text: 'hello' } })
    expect(await ownView()).toBeNull()
  })

  test('[D4, D8] is answered with the away time of the server, or with the one that the user chose', async () => {
    expect((await stateOf())?.awayAfterMs).toBe(world.policy.awayAfterMs)
    // The row of the arrival is written after a moment, and the setting waits for it.
    await world.clock.advance(FLUSH_MS)
    const at = world.nextStamp()
    await world.done(world.tracker.apply('bob', { type: 'set_away_after', at, awayAfterMs: 90_000 }))
    expect((await stateOf())?.awayAfterMs).toBe(90_000)
  })

  test('[D8] does not open more sessions than a user may have', async () => {
    for (let n = 0; n < SESSIONS_PER_USER; n++) await beat({ deviceId: `d${n}` })
    expect(await beat({ deviceId: 'one more' })).toMatchObject({ failure: { code: 'rate_limited' } })
    expect(await beat({ deviceId: 'd0' })).toMatchObject({ ok: true })
    expect(await beat({ userId: 'carol' })).toMatchObject({ ok: true })
  })

  test('[C6, D8] extends the session to the expiry of its token, and no longer', async () => {
    const liveness = startLiveness(world)
    const tokenExpiresAt = world.clock.now() + 2_000
    await beat({ tokenExpiresAt })
    await world.clock.advance(1_000)
    await beat({ tokenExpiresAt: tokenExpiresAt + 2_000 })
    await world.clock.advance(2_000)
    expect(world.table.columns.live).toBe(1)
    await world.clock.advance(1_500)
    expect(world.table.columns.live).toBe(0)
    liveness.stop()
  })

  test('[D1, D8] that does not come for the time to live ends the session, and the next opens a new one', async () => {
    const liveness = startLiveness(world)
    await beat()
    await world.clock.advance(world.policy.heartbeatTtlMs - 1)
    await beat()
    await world.clock.advance(world.policy.heartbeatTtlMs - 1)
    expect(await liveSessions()).toHaveLength(1)
    await world.clock.advance(1_000)
    expect(await liveSessions()).toEqual([])
    expect([world.table.columns.live, world.interner.size()]).toEqual([0, 0])
    expect(await ownView()).toMatchObject({ sessions: [{ device_id: 'd1' }] })
    liveness.stop()
  })
})

test('[D2, P10] leaving ends every session of the device, sockets included, and no other', async () => {
  await beat()
  const [same, other] = [await world.connect('bob', 'd1'), await world.connect('bob', 'd2')]
  await world.done(world.httpSessions.leave('bob', 'd1'))
  expect(await liveSessions()).toEqual([{ deviceId: 'd2', activity: 'active' }])
  expect([same.closedWith, other.closedWith]).toEqual([[CLOSE.left], []])
  expect(world.table.columns.live).toBe(1)
})
