// Sessions of foreign gateways: rows of the same table as sockets, under the same rules, kept alive by batches. What a
// batch says that was said before costs no commit.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import {
  createGatewayWorld,
  FLUSH_MS,
  type GatewayWorld,
} from '../../../../../testing/worlds/gateway-world.ts'
import type { ForeignSession } from '../../foreign/batch.ts'
import type { Timer } from '../../platform/clock.ts'
import { startLiveness } from './liveness.ts'

let world: GatewayWorld
let liveness: Timer
beforeEach(async () => {
  world = await createGatewayWorld()
  liveness = startLiveness(world)
})
afterEach(() => {
  liveness.stop()
  return world.close()
})

const alive = (userId: string, rest: Partial<ForeignSession> = {}): ForeignSession => ({
  userId,
  deviceId: 'd1',
  platform: 'web',
  activity: 'active',
  at: null,
  ...rest,
})

const report = (
  sessions: readonly ForeignSession[],
  { gatewayId = 'chat-1', over = [] as { userId: string; deviceId: string }[] } = {},
) => world.done(world.foreignSessions.record({ gatewayId, sessions, disconnected: over }))

const codes = async (sessions: readonly ForeignSession[]) =>
  (await report(sessions)).map(({ index, code }) => [index, code])

async function recordOf(userId: string) {
  await world.done(world.tracker.flush())
  const [stored] = await world.store.load([userId])
  return stored ?? null
}

const statusOf = async (userId: string) => (await recordOf(userId))?.record.shown.status ?? null

/** Lets deadlines take effect, as the sweeper would. */
async function tick(userId: string): Promise<void> {
  world.tracker.report(userId, { type: 'tick' })
  await world.done(world.tracker.flush())
}

const { heartbeatTtlMs: TTL_MS, offlineDelayMs: DELAY_MS } = (await createGatewayWorld()).policy

describe('a batch', () => {
  test('[C4] makes its users present, by activity and platform', async () => {
    const batch = [alive('ada'), alive('bob', { activity: 'idle', platform: 'mobile' })]
    expect(await report(batch)).toEqual([])
    expect((await recordOf('ada'))?.record.shown).toMatchObject({ status: 'online', devices: ['web'] })
    expect((await recordOf('bob'))?.record.shown).toMatchObject({ status: 'away', devices: ['mobile'] })
  })

  test('[C4, D9] that says what was said before commits nothing', async () => {
    const batch = [alive('ada'), alive('bob', { activity: 'idle' })]
    await report(batch)
    const before = [(await recordOf('ada'))?.revision, (await recordOf('bob'))?.revision]
    for (let round = 0; round < 20; round++) {
      await world.clock.advance(5_000)
      await report(batch)
    }
    expect([(await recordOf('ada'))?.revision, (await recordOf('bob'))?.revision]).toEqual(before)
  })

  test('[C4, P15] of another holder that is repeated before it is committed leaves devices in their order', async () => {
    const phone = alive('ada', { deviceId: 'd1', platform: 'mobile' })
    const laptop = alive('ada', { deviceId: 'd2' })
    await report([phone])
    await world.clock.advance(1_000)
    await report([phone, laptop])
    const devices = async () => (await recordOf('ada'))?.record.shown.devices
    expect(await devices()).toEqual(['web', 'mobile'])
    await world.clock.advance(1_000)
    const moved = { gatewayId: 'chat-2', sessions: [phone, laptop], disconnected: [] }
    const first = world.foreignSessions.record(moved)
    const again = world.foreignSessions.record({ ...moved, sessions: [phone] })
    await world.done(Promise.all([first, again]))
    expect(await devices()).toEqual(['web', 'mobile'])
  })

  test('[C4, D1] a session that is not named for the time to live is lost, and the others stay', async () => {
    await report([alive('ada'), alive('bob')])
    for (let waitedMs = 0; waitedMs < TTL_MS; waitedMs += 5_000) {
      await world.clock.advance(5_000)
      await report([alive('bob')])
    }
    expect((await recordOf('ada'))?.record.sessions).toMatchObject([{ end: { state: 'lost' } }])
    expect(await statusOf('ada')).toBe('online')
    await world.clock.advance(DELAY_MS)
    await tick('ada')
    expect([await statusOf('ada'), await statusOf('bob')]).toEqual(['offline', 'online'])
  })

  test('[C4, D6] a connection that closed counts for the offline delay, and one that came back was never gone', async () => {
    await report([alive('ada'), alive('bob')])
    const version = (await recordOf('bob'))!.record.version
    const over = ['ada', 'bob'].map((userId) => ({ userId, deviceId: 'd1' }))
    await report([], { over })
    await world.clock.advance(DELAY_MS - 1)
    await report([alive('bob')])
    expect([await statusOf('ada'), await statusOf('bob')]).toEqual(['online', 'online'])
    await world.clock.advance(FLUSH_MS)
    await tick('ada')
    await tick('bob')
    expect([await statusOf('ada'), await statusOf('bob')]).toEqual(['offline', 'online'])
    expect((await recordOf('bob'))!.record.version).toBe(version)
  })

  test('[C4, D7] a device that moved to another gateway is not ended by the first', async () => {
    await report([alive('ada')])
    await report([alive('ada')], { gatewayId: 'chat-2' })
    await report([], { over: [{ userId: 'ada', deviceId: 'd1' }] })
    await world.clock.advance(DELAY_MS + FLUSH_MS)
    await tick('ada')
    expect(await statusOf('ada')).toBe('online')
  })

  test('[C4] with a device in both lists: it came back', async () => {
    await report([alive('ada')])
    await report([alive('ada')], { over: [{ userId: 'ada', deviceId: 'd1' }] })
    await world.clock.advance(DELAY_MS + FLUSH_MS)
    await tick('ada')
    expect(await statusOf('ada')).toBe('online')
  })

  test('[C4, D4] a device that says idle is idle, and one that is always active never falls idle', async () => {
    for (let waitedMs = 0; waitedMs <= world.policy.awayAfterMs; waitedMs += 20_000) {
      await report([alive('ada')])
      await world.clock.advance(20_000)
    }
    expect(await statusOf('ada')).toBe('online')
    await report([alive('ada', { activity: 'idle' })])
    expect(await statusOf('ada')).toBe('away')
  })
})

describe('the instant of an entry', () => {
  test('[C4] counts as the sign of life', async () => {
    const at = world.clock.now() - TTL_MS + 1_000
    await report([alive('ada', { at })])
    expect(await statusOf('ada')).toBe('online')
    await world.clock.advance(1_250)
    expect((await recordOf('ada'))?.record.sessions).toMatchObject([{ end: { provenAt: at } }])
  })

  test('[C4] of an entry that came too late changes nothing', async () => {
    await report([alive('ada', { at: world.clock.now() })])
    await report([alive('ada', { at: world.clock.now() - 10, activity: 'idle' })])
    expect(await statusOf('ada')).toBe('online')
  })

  test('[C4] that proves nothing about now is refused, and the other entries are recorded', async () => {
    const now = world.clock.now()
    const batch = [
      alive('ada', { at: now - TTL_MS - 1 }),
      alive('bob'),
      alive('carol', { at: now + TTL_MS + 1 }),
      alive('dave', { at: now + 1_000 }),
    ]
    expect(await codes(batch)).toEqual([
      [0, 'bad_request'],
      [2, 'bad_request'],
    ])
    const shown: (string | null)[] = []
    for (const { userId } of batch) shown.push(await statusOf(userId))
    expect(shown).toEqual([null, 'online', null, 'online'])
  })
})

describe('limits and ends', () => {
  test('[C4] a user has as many sessions as with sockets, and the rest of the batch goes on', async () => {
    const many = Array.from({ length: 34 }, (_, n) => alive('ada', { deviceId: `d${n}` }))
    expect(await codes([...many, alive('bob')])).toEqual([
      [32, 'rate_limited'],
      [33, 'rate_limited'],
    ])
    expect(await statusOf('bob')).toBe('online')
  })

  test('[C4, C6] a user whom the app disconnected is refused until the gateway has closed the connection', async () => {
    await report([alive('ada')])
    const now = world.clock.now()
    const disconnect = { deviceId: null, at: now, issuedBefore: now, until: null, reason: 'signed out' }
    world.disconnect('ada', disconnect)
    expect(await statusOf('ada')).toBe('offline')
    expect(await report([alive('ada')])).toEqual([{ index: 0, code: 'forbidden', message: 'signed out' }])
    expect(await statusOf('ada')).toBe('offline')
    await report([], { over: [{ userId: 'ada', deviceId: 'd1' }] })
    expect(await report([alive('ada')])).toEqual([])
    expect(await statusOf('ada')).toBe('online')
  })

  test('[C4, C6] or until the gateway has not named the session for the time to live', async () => {
    await report([alive('ada')])
    const now = world.clock.now()
    world.disconnect('ada', { deviceId: 'd1', at: now, issuedBefore: now, until: null, reason: null })
    for (let round = 0; round < 10; round++) {
      await world.clock.advance(TTL_MS - 1)
      expect(await codes([alive('ada')])).toEqual([[0, 'forbidden']])
    }
    await world.clock.advance(TTL_MS)
    expect(await codes([alive('ada')])).toEqual([])
  })

  test('[C4, X2] what is held can be handed over as batches', async () => {
    await report([alive('ada'), alive('bob', { activity: 'idle', platform: 'tablet' })])
    await report([alive('carol')], { gatewayId: 'chat-2' })
    await world.connect('dave')
    const at = world.clock.now()
    expect(world.foreignSessions.held()).toEqual([
      {
        gatewayId: 'chat-1',
        sessions: [alive('ada', { at }), alive('bob', { activity: 'idle', platform: 'tablet', at })],
        disconnected: [],
      },
      { gatewayId: 'chat-2', sessions: [alive('carol', { at })], disconnected: [] },
    ])
  })
})
