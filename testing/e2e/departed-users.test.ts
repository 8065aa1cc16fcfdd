// What a process keeps of users who have come and gone. Rounds of new users use everything that makes the server
// remember something; then the time passes for which it may. The heap must hold none of their ids, so no table
// of the server grows with the number of users that ever were, whichever table that is. Tables that shrink when
// they are next used may still hold the last round.
import { expect, test } from 'bun:test'
import { HEARTBEAT_IDLE } from '@greendot/protocol'
import type { Opening, Socket } from '../../packages/server/src/gateway/sessions/session-table.ts'
import { configOf } from '../noninterference/compare.ts'
import type { Call } from '../noninterference/switchboard.ts'
import { createWorld, type World } from '../noninterference/world.ts'
import { untilDone } from '../worlds/fake-clock.ts'

const ROUNDS = 4
const USERS = 25
/** The store keeps users for five minutes after they left. Deadlines and sweeps come on top. */
const FORGOTTEN_AFTER_MS = 400_000
/** The collector takes whatever is on the stack for a reference. */
const STRAY_MAX = 5
/** One that is under way keeps what was made since it began, and frees it the next time. */
const COLLECTIONS_MAX = 5

/** Built anew each time, so that the test itself keeps no id. */
const nameOf = (round: number, user: number) => ['departed', round, user].join('-')

function openSocket(world: World, userId: string): Socket {
  const opening: Opening = { userId, deviceId: 'd1', platform: 'web', activity: null, tokenExpiresAt: null }
  const socket = {
    data: opening,
    isPaused: false,
    getBufferedAmount: () => 0,
    send: (frame: string) => frame.length,
    close: () => {},
  } as unknown as Socket
  world.gateway().sockets.open(socket)
  return socket
}

async function call(world: World, method: Call['method'], path: string, token: string, body?: object) {
  const asked = world.http().call({ method, path, token, ...(body === undefined ? {} : { body }) })
  const { status } = await untilDone(world.clock, asked)
  expect(status).toBeLessThan(300)
}

async function stream(world: World, token: string, target: string): Promise<ReadableStream> {
  const path = `/api/v1/stream?user_ids=${target},resident`
  const { body } = await untilDone(world.clock, world.http().call({ method: 'GET', path, token }))
  return body!
}

/** A user connects, chooses, watches, reads and leaves. */
async function visit(world: World, round: number, user: number): Promise<void> {
  const name = nameOf(round, user)
  const other = nameOf(round, (user + 1) % USERS)
  const token = `dev:${name}`
  const socket = openSocket(world, name)
  await world.clock.advance(10)
  const say = (frame: object) => world.gateway().sockets.message(socket, JSON.stringify(frame))
  say({ type: 'watch', user_ids: ['resident', name, other], ref: 1 })
  say({ type: 'watch_contacts' })
  await call(world, 'PUT', '/api/v1/presence/settings', token, {
    status_visibility: user % 2 === 0 ? 'contacts' : 'everyone',
    deny: user % 3 === 0 ? [other] : [],
    away_after_ms: 120_000,
  })
  await call(world, 'PUT', '/api/v1/presence/status', token, {
    text: `I am ${name}`,
    ...(user % 2 === 0 ? { expires_at: world.clock.now() + 60_000 } : {}),
  })
  if (user % 5 === 0)
    await call(world, 'PUT', '/api/v1/presence/availability', token, { status: 'invisible' })
  await call(world, 'POST', '/api/v1/heartbeat', token, { device_id: 'd2', activity: 'active' })
  await call(world, 'GET', `/api/v1/presence?user_ids=${other},resident`, token)
  await (await stream(world, token, other)).cancel()
  await call(world, 'PUT', `/api/v1/users/${name}/contacts`, 'dev', { user_ids: ['resident'] })
  world.gateway().sockets.message(socket, HEARTBEAT_IDLE)
  // Three ways to go: goodbye, a closed socket, silence.
  if (user % 3 === 0) say({ type: 'leave' })
  else if (user % 3 === 1) world.gateway().sockets.close(socket)
  if (user % 7 === 0) await call(world, 'DELETE', `/api/v1/users/${name}`, 'dev')
}

/** Strings in the heap with the id of a departed user, without those of the last round. */
async function keptTexts(): Promise<string[]> {
  await new Promise(setImmediate)
  Bun.gc(true)
  const { strings } = JSON.parse(Bun.generateHeapSnapshot('v8')) as { strings: string[] }
  return strings.filter((text) => /departed-\d+-\d+/.test(text) && !text.includes(`departed-${ROUNDS - 1}-`))
}

test('[B7][C7] nothing is kept of users who are gone, whatever they did', async () => {
  const world = await createWorld({ config: configOf({}), archiveMs: 0 })
  const resident = openSocket(world, 'resident')
  await world.clock.advance(10)
  const beat = world.clock.every(5_000, () => world.gateway().sockets.message(resident, HEARTBEAT_IDLE))
  for (let round = 0; round < ROUNDS; round++) {
    for (let user = 0; user < USERS; user++) await visit(world, round, user)
    await world.clock.advance(FORGOTTEN_AFTER_MS)
    const { sessions, watches, watchedUsers, streams } = world.gateway().gauges()
    expect({ sessions, watches, watchedUsers, streams }).toEqual({
      sessions: 1,
      watches: 0,
      watchedUsers: 0,
      streams: 0,
    })
  }
  let kept = await keptTexts()
  for (let again = 1; kept.length > STRAY_MAX && again < COLLECTIONS_MAX; again++) kept = await keptTexts()
  if (kept.length > STRAY_MAX) throw new Error(`of users who are gone there is still: ${kept.join(', ')}`)
  beat.stop()
  await untilDone(world.clock, world.stop())
  expect(world.complaints).toEqual([])
})
