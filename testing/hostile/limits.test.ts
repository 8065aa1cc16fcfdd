// Limits that have a number. At exactly that number the server refuses the frame or ends the connection that
// sent it, and other connections are not affected.
import { describe, expect, test } from 'bun:test'
import { BAD_FRAMES_MAX, HEARTBEAT_ACTIVE } from '@greendot/protocol'
import { openClient, type TestClient } from '../clients/client.ts'
import { useAttackFixture } from './fixture.ts'
import { wireFrame } from './raw-socket.ts'

const FRAMES_PER_SECOND = 300
const SESSIONS_PER_USER = 6
const WATCH_LIMIT = 50
/** What the server holds for one reader. */
const UNREAD_BYTES_MAX = 2 * 1024 * 1024
/** An upper bound on the bytes in the buffers between two sockets. */
const SYSTEM_BUFFER_BYTES_MAX = 32 * 1024 * 1024
/** States of 500 unknown users with long ids. */
const ANSWER_BYTES = 100_000

const fixture = useAttackFixture({
  frames_per_second: FRAMES_PER_SECOND,
  sessions_per_user: SESSIONS_PER_USER,
  watch_limit: WATCH_LIMIT,
})

const errorsOf = (client: TestClient) =>
  client.heard.flatMap(({ frame }) => (frame.type === 'error' ? [frame.code] : []))
const ids = (count: number, prefix = 'w') => Array.from({ length: count }, (_, index) => `${prefix}${index}`)

describe('bad frames', () => {
  test(`${BAD_FRAMES_MAX} in a row are answered one by one, and the last ends the connection with 4400`, async () => {
    await fixture.unharmed(async () => {
      const client = await fixture.attacker()
      for (let sent = 0; sent < BAD_FRAMES_MAX + 5; sent++) client.send('bad')
      expect((await client.closed).code).toBe(4400)
      expect(errorsOf(client)).toEqual(new Array(BAD_FRAMES_MAX).fill('bad_frame'))
    })
  })

  const good: [string, string][] = [
    ['a heartbeat', HEARTBEAT_ACTIVE],
    ['a heartbeat in other words', '{"activity":"active","type":"heartbeat"}'],
    ['a frame that is refused', '{"type":"nonsense"}'],
  ]
  test.each(good)('one fewer do not, and %s in between starts the count again', async (_, between) => {
    await fixture.unharmed(async () => {
      const client = await fixture.attacker()
      for (let round = 0; round < 3; round++) {
        for (let sent = 0; sent < BAD_FRAMES_MAX - 1; sent++) client.send('bad')
        client.send(between)
      }
      await fixture.stillServed(client)
      expect(errorsOf(client).filter((code) => code === 'bad_frame')).toHaveLength(3 * (BAD_FRAMES_MAX - 1))
      client.close()
      await client.closed
    })
  })

  test('frames that are refused for what they ask are not bad frames', async () => {
    await fixture.unharmed(async () => {
      const client = await fixture.attacker()
      for (let sent = 0; sent < 3 * BAD_FRAMES_MAX; sent++) client.send({ type: 'watch', user_ids: [''] })
      await fixture.stillServed(client)
      expect(errorsOf(client)).toEqual(new Array(3 * BAD_FRAMES_MAX).fill('invalid_id'))
      client.close()
      await client.closed
    })
  })
})

describe('frames a second', () => {
  const kinds: [string, string][] = [
    ['heartbeats', HEARTBEAT_ACTIVE],
    ['other frames', '{"type":"unwatch","user_ids":[]}'],
  ]
  test.each(kinds)('too many %s end the connection with 4429, after saying why', async (_, frame) => {
    await fixture.unharmed(async () => {
      const client = await fixture.attacker()
      // The second may turn once in between, so twice the number is too many in one of the two.
      for (let sent = 0; sent <= 2 * FRAMES_PER_SECOND; sent++) client.send(frame)
      expect((await client.closed).code).toBe(4429)
      expect(errorsOf(client)).toEqual(['rate_limited'])
    })
  })

  test('as many as allowed are all handled', async () => {
    await fixture.unharmed(async () => {
      const client = await fixture.attacker()
      for (let ref = 1; ref < FRAMES_PER_SECOND; ref++)
        client.send({ type: 'heartbeat', activity: 'active', ref })
      await client.next('ok', (answer) => answer.ref === FRAMES_PER_SECOND - 1)
      const answers = client.heard.flatMap(({ frame }) => (frame.type === 'ok' ? [frame.ref] : []))
      expect(answers).toEqual(Array.from({ length: FRAMES_PER_SECOND - 1 }, (_, index) => index + 1))
      client.close()
      await client.closed
    })
  })
})

describe('sessions of one user', () => {
  test('one too many gets an error and is closed, the others stay', async () => {
    await fixture.unharmed(async () => {
      // One is the anchor of the fixture.
      const clients = await Promise.all(ids(SESSIONS_PER_USER - 1).map(() => fixture.attacker()))
      for (let attempt = 0; attempt < 3; attempt++) {
        const refused = openClient(fixture.url, 'mallory', { platform: 'web' })
        expect((await refused.next('error')).code).toBe('rate_limited')
        expect((await refused.closed).code).toBe(4429)
        expect(refused.heard).toHaveLength(1)
      }
      for (const client of clients) await fixture.stillServed(client)
      clients[0]!.close()
      await clients[0]!.closed
      const admitted = await fixture.attacker()
      for (const client of [...clients.slice(1), admitted]) {
        client.close()
        await client.closed
      }
    })
  })
})

describe('watching', () => {
  test('[W1] 10,000 at once, and 10,000 times the same', async () => {
    await fixture.unharmed(async () => {
      const before = await fixture.stats()
      const client = await fixture.attacker()
      client.send({
        type: 'watch',
        user_ids: Array.from({ length: 10_000 }, (_, index) => index.toString(36)),
      })
      expect((await client.next('error')).code).toBe('watch_limit')
      client.send({ type: 'watch', user_ids: new Array(10_000).fill('bob') })
      expect((await client.next('presence_state')).states.map(({ user_id }) => user_id)).toEqual(['bob'])
      client.send({ type: 'unwatch', user_ids: new Array(10_000).fill('bob') })
      await fixture.stillServed(client)
      expect(await fixture.stats()).toMatchObject({
        watches: before.watches,
        watched_users: before.watched_users,
      })
      client.close()
      await client.closed
    })
  })
})

describe('a reader that asks and does not read', () => {
  const patient = useAttackFixture({ frames_per_second: 100_000 })
  /** Looks at the server in a row in which it took nothing. */
  const LOOKS = 50

  test('[W6] is not read from once too much waits for it, and slows no other client', async () => {
    await patient.unharmed(async () => {
      const before = (await patient.stats()).totals.frames_in
      const raw = await patient.rawAttacker()
      raw.socket.pause()
      const question = wireFrame(JSON.stringify({ type: 'watch', user_ids: ids(500, 'x'.repeat(100)) }))
      let taken = 0
      for (let looks = 0; looks < LOOKS; looks++) {
        const isTaken = raw.socket.writableLength === 0
        if (isTaken) raw.write(question)
        const now = (await patient.stats()).totals.frames_in - before
        if (isTaken || now > taken) looks = 0
        taken = now
      }
      expect(taken * ANSWER_BYTES).toBeLessThan(UNREAD_BYTES_MAX + SYSTEM_BUFFER_BYTES_MAX)
      // It is still connected, and gets its answers when it reads.
      raw.socket.resume()
      await raw.until(/presence_state/)
      raw.end()
    })
    expect((await patient.stats()).slow_readers).toBe(0)
  })
})
