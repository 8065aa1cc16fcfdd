// Which connections a disconnect ends on a gateway that hears of it late, by when they began and when their token was
// issued, and that a refused token opens none.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { CLOSE } from '@greendot/protocol'
import { readerOf } from '../../../../../testing/e2e/stream-format.ts'
import {
  createGatewayWorld,
  type GatewayWorld,
  WORLD_STARTS_AT as NOW,
} from '../../../../../testing/worlds/gateway-world.ts'

const HOUR_MS = 3_600_000
/** The disconnect was made at NOW, and is heard of a second later. */
const DISCONNECT = { deviceId: null, at: NOW, issuedBefore: NOW, until: NOW + HOUR_MS, reason: 'signed out' }
const WITHOUT_UNTIL = { ...DISCONNECT, until: null }

let world: GatewayWorld
let isRefused: boolean
beforeEach(async () => {
  isRefused = false
  world = await createGatewayWorld({ isRefused: (userId) => isRefused && userId === 'bob' })
  await world.clock.advance(1_000)
})
afterEach(() => world.close())

const beat = (deviceId: string, tokenIssuedAt?: number | null) =>
  world.done(
    world.httpSessions.heartbeat({
      userId: 'bob',
      deviceId,
      platform: 'mobile',
      activity: 'active',
      tokenExpiresAt: null,
      ...(tokenIssuedAt === undefined ? {} : { tokenIssuedAt }),
    }),
  )

const openStream = (tokenIssuedAt: number | null) =>
  world.done(
    world.streams.open({
      userId: 'bob',
      tokenExpiresAt: null,
      tokenIssuedAt,
      userIds: ['carol'],
      lastEventId: null,
    }),
  )

const devices = () => world.sessions.rowsOf('bob').map((row) => world.table.columns.deviceIds[row])

describe('a disconnect that is heard of late', () => {
  test('[C6] with until, ends what began since with a token from before', async () => {
    const [old, undated] = [
      await world.connect('bob', 'old', { tokenIssuedAt: NOW - 1 }),
      await world.connect('bob', 'undated', { tokenIssuedAt: null }),
    ]
    const fresh = await world.connect('bob', 'fresh', { tokenIssuedAt: NOW })
    await beat('old-http', NOW - 1)
    await beat('fresh-http', NOW + 1)
    await beat('by-backend')
    const [oldStream, freshStream] = [await openStream(NOW - 1), await openStream(NOW)]
    world.disconnect('bob', DISCONNECT)
    expect([old, undated, fresh].map(({ closedWith }) => closedWith)).toEqual([
      [CLOSE.disconnected],
      [CLOSE.disconnected],
      [],
    ])
    expect(devices().sort()).toEqual(['by-backend', 'fresh', 'fresh-http'])
    expect(await beat('old-http', NOW - 1)).toMatchObject({ failure: { message: 'signed out' } })
    expect(world.streams.count()).toBe(1)
    if (!oldStream.ok || !freshStream.ok) throw new Error('a stream did not open')
    const reading = readerOf(oldStream.body, true)
    await world.clock.advance(0)
    expect(reading.frames.at(-1)?.frame).toMatchObject({ type: 'error', message: 'signed out' })
  })

  test('[C6] without until, ends nothing that began since', async () => {
    const later = await world.connect('bob', 'later', { tokenIssuedAt: NOW - 1 })
    await openStream(null)
    world.disconnect('bob', WITHOUT_UNTIL)
    expect([later.closedWith, world.streams.count()]).toEqual([[], 1])
  })

  test('[C6, D8] a session without a socket counts by the token of its last heartbeat', async () => {
    await beat('phone', NOW - 1)
    await beat('phone', NOW)
    world.disconnect('bob', DISCONNECT)
    expect(devices()).toEqual(['phone'])
  })
})

describe('a token that is refused by now', () => {
  test('[C6] opens no socket, no session and no stream', async () => {
    isRefused = true
    const socket = await world.connect('bob', 'laptop', { tokenIssuedAt: NOW })
    expect(socket.frames).toMatchObject([{ type: 'error', code: 'unauthorized' }])
    expect(socket.closedWith).toEqual([CLOSE.badToken])
    expect(await beat('phone', NOW)).toMatchObject({ failure: { code: 'unauthorized' } })
    expect(await openStream(NOW)).toMatchObject({ failure: { code: 'unauthorized' } })
    expect([devices(), world.streams.count()]).toEqual([[], 0])
    // The key of the backend is no token.
    expect(await beat('phone')).toMatchObject({ ok: true })
  })
})
