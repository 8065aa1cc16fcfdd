// Random input over WebSocket: the server answers with documented frames and registered codes, stays healthy,
// keeps none of it, and serves other clients. A failure names its seed; run with
// FUZZ_SEED=<seed> to get the same noise again.
import { describe, expect, test } from 'bun:test'
import {
  CUSTOM_EMOJI_BYTES_MAX,
  CUSTOM_TEXT_CHARS_MAX,
  ERRORS,
  isId,
  PLATFORMS,
  type Presence,
  type ServerFrame,
  STATUSES,
  utf8Length,
} from '@greendot/protocol'
import { connect, type TestClient } from '../clients/client.ts'
import { useAttackFixture } from './fixture.ts'
import { createNoise, fuzzSeed, type Noise } from './noise.ts'

const FRAMES = 16_000
const CONNECTIONS = 8
const FRAMES_PER_ROUND = 100
/** Random input may end a connection by a goodbye, by bad frames, or by bytes that are not UTF-8. */
const EXPECTED_CLOSES = [1000, 4400, 1007]

/** All but `drain`, which only a stopping server sends. */
const EXPECTED_TYPES = ['welcome', 'presence_state', 'presence_change', 'self', 'ok', 'error']

const fixture = useAttackFixture({ frames_per_second: 100_000, watch_limit: 20 })

function expectPresence(presence: Presence): void {
  expect(isId(presence.user_id)).toBe(true)
  expect(STATUSES as readonly unknown[]).toContain(presence.status)
  expect(presence.last_seen === null || Number.isSafeInteger(presence.last_seen)).toBe(true)
  expect(Number.isSafeInteger(presence.version) && presence.version >= 0).toBe(true)
  expect(presence.devices.every((device) => PLATFORMS.includes(device))).toBe(true)
  if (presence.custom_status === null) return
  const { text, emoji, expires_at } = presence.custom_status
  expect(text === null || ([...text].length <= CUSTOM_TEXT_CHARS_MAX && text.isWellFormed())).toBe(true)
  expect(emoji === null || utf8Length(emoji) <= CUSTOM_EMOJI_BYTES_MAX).toBe(true)
  expect(expires_at === null || Number.isSafeInteger(expires_at)).toBe(true)
}

function presencesIn(frame: ServerFrame): Presence[] {
  if (frame.type === 'welcome') return [frame.self]
  if (frame.type === 'self') return [frame.presence]
  if (frame.type === 'presence_state') return frame.states
  return frame.type === 'presence_change' ? frame.changes : []
}

function expectDocumented(frame: ServerFrame): void {
  expect(EXPECTED_TYPES).toContain(frame.type)
  for (const presence of presencesIn(frame)) expectPresence(presence)
  if (frame.type === 'ok') expect(typeof frame.ref === 'string' || Number.isFinite(frame.ref)).toBe(true)
  if (frame.type !== 'error') return
  expect(Object.hasOwn(ERRORS, frame.code)).toBe(true)
  expect(['internal', 'unavailable', 'overloaded', 'rate_limited']).not.toContain(frame.code)
  expect(frame.message.length).toBeWithin(1, 300)
}

interface Heard {
  frames: number
  errors: Map<string, number>
}

/** One connection's share of the noise; it opens again whenever the noise has ended it. */
async function makeNoise(noise: Noise, userId: string, frames: number, heard: Heard): Promise<void> {
  let client: TestClient | null = null
  for (let sent = 0; sent < frames; sent += FRAMES_PER_ROUND) {
    client ??= await connect(fixture.url, userId)
    for (let count = 0; count < FRAMES_PER_ROUND; count++) client.socket.send(noise.frame())
    // Once this is answered, so is everything before it.
    const end = `end of round ${sent}`
    client.send({ type: 'heartbeat', activity: 'active', ref: end })
    const answered = client.next('ok', ({ ref }) => ref === end)
    // The connection may end before the answer.
    answered.catch(() => {})
    const closed = await Promise.race([answered.then(() => null), client.closed])
    for (const { frame } of client.heard) {
      expectDocumented(frame)
      heard.frames++
      if (frame.type === 'error') heard.errors.set(frame.code, (heard.errors.get(frame.code) ?? 0) + 1)
    }
    client.heard.length = 0
    if (closed === null) continue
    expect(EXPECTED_CLOSES).toContain(closed.code)
    client = null
  }
  client?.close()
  await client?.closed
}

async function makeAllNoise(seed: number, frames: number): Promise<Heard> {
  const heard: Heard = { frames: 0, errors: new Map() }
  const share = frames / CONNECTIONS
  // Two users with several connections each, so that own views and sessions are covered too.
  const users = Array.from({ length: CONNECTIONS }, (_, index) => `fuzz-${index % 2 === 0 ? 'even' : index}`)
  // Each connection has its own seed, so that their order does not change what they send.
  const noises = users.map((_, index) => createNoise(seed + index))
  await Promise.all(users.map((userId, index) => makeNoise(noises[index]!, userId, share, heard)))
  return heard
}

describe('noise over WebSocket', () => {
  test(`${FRAMES} random frames`, async () => {
    const seed = fuzzSeed()
    try {
      await fixture.unharmed(async () => {
        const before = await fixture.stats()
        const heard = await makeAllNoise(seed, FRAMES)
        // Input that is only refused, or only accepted, would test half of the server.
        expect(heard.frames).toBeGreaterThan(FRAMES / 2)
        for (const code of [
          'bad_frame',
          'bad_request',
          'unknown_type',
          'invalid_id',
          'invalid_status',
          'invalid_expiry',
        ])
          expect(heard.errors.get(code) ?? 0).toBeGreaterThan(10)
        const { connections, watches, watched_users } = await fixture.stats()
        expect({ connections, watches, watched_users }).toEqual({
          connections: before.connections,
          watches: before.watches,
          watched_users: before.watched_users,
        })
      })
    } catch (error) {
      throw new Error(`with FUZZ_SEED=${seed}`, { cause: error })
    }
  })

  test('500 connections of random bytes instead of frames', async () => {
    const seed = fuzzSeed()
    const noise = createNoise(seed)
    try {
      await fixture.unharmed(async () => {
        const before = await fixture.stats()
        for (let round = 0; round < 25; round++) {
          const sockets = await Promise.all(Array.from({ length: 20 }, () => fixture.rawAttacker()))
          for (const raw of sockets) raw.socket.end(noise.bytes(400))
          await Promise.all(sockets.map((raw) => raw.closed))
        }
        expect((await fixture.stats()).connections).toBe(before.connections)
      })
    } catch (error) {
      throw new Error(`with FUZZ_SEED=${seed}`, { cause: error })
    }
  })
})
