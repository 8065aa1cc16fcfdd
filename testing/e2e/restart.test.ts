// What survives the end of the process: by kill -9, everything that was announced; by SIGTERM,
// everything, and no client is left hanging.
import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Presence } from '@greendot/protocol'
import { openClient, webSocketUrl } from '../clients/client.ts'
import { until, WAIT_MS } from '../services/within.ts'
import { ask, isAway, isOffline, isOnline, read, useScene, watch } from './scene.ts'

const DRAIN_MS = 500
/** Longer than any test: the drain ends when the last client has gone. */
const LONG_DRAIN_MS = 600_000

const scene = useScene()

const withoutSource = ({ source: _, ...presence }: Awaited<ReturnType<typeof read>>): Presence => presence

/** The instant at which the server next marks itself alive, which only its database knows. */
async function markedAliveAgain(folder: string): Promise<number> {
  using database = new Database(join(folder, 'greendot.db'), { readonly: true })
  const row = database.query<{ alive_at: number }, []>('SELECT alive_at FROM server_alive')
  const before = row.get()!.alive_at
  await until(WAIT_MS, 'a sign of life', async () => row.get()!.alive_at > before)
  return row.get()!.alive_at
}

describe('kill -9', () => {
  test('[S4] right after an offline was announced, loses nothing of it', async () => {
    const first = await scene.process({ offline_delay_ms: 50 })
    const alice = await scene.person(first.url, 'alice')
    const names = ['left', 'closed', 'invisible']
    await watch(alice, names)
    const [left, closed, invisible] = await Promise.all(names.map((name) => scene.person(first.url, name)))
    for (const name of names) await alice.sees(name, isOnline)
    const since = alice.heard.length
    left!.send({ type: 'leave' })
    closed!.close()
    invisible!.send({ type: 'set_availability', status: 'invisible' })
    const announced: Presence[] = []
    for (const name of names) announced.push((await alice.sees(name, isOffline, { since })).presence)
    await first.kill()

    const second = await scene.process({}, first.folder)
    for (const presence of announced) {
      expect(presence.last_seen).toBeNumber()
      expect(withoutSource(await read(second.url, presence.user_id))).toEqual(presence)
    }
  })

  test('[S4] each of many is killed at the moment of the announcement', async () => {
    let server = await scene.process()
    for (let round = 0; round < 5; round++) {
      const alice = await scene.person(server.url, 'alice')
      await watch(alice, ['bob'])
      const bob = await scene.person(server.url, 'bob')
      await alice.sees('bob', isOnline)
      const since = alice.heard.length
      bob.send({ type: 'leave' })
      const { presence } = await alice.sees('bob', isOffline, { since })
      await server.kill()
      server = await scene.process({}, server.folder)
      expect(withoutSource(await read(server.url, 'bob'))).toEqual(presence)
    }
  })

  test('[S4] an offline is not announced before it is safe', async () => {
    const first = await scene.process()
    const alice = await scene.person(first.url, 'alice')
    await watch(alice, ['bob', 'carol'])
    const bob = await scene.person(first.url, 'bob')
    const carol = await scene.person(first.url, 'carol')
    await alice.sees('bob', isOnline)
    await alice.sees('carol', isOnline)
    const since = alice.heard.length

    // The server cannot write while we hold the database.
    const database = new Database(join(first.folder, 'greendot.db'))
    scene.onEnd(() => database.close())
    database.run('BEGIN IMMEDIATE')
    bob.send({ type: 'leave' })
    await bob.closed
    carol.be('idle')
    await alice.sees('carol', isAway, { since })
    expect(alice.sightings('bob', since)).toEqual([])

    database.run('ROLLBACK')
    const { presence } = await alice.sees('bob', isOffline, { since })
    await first.kill()
    const second = await scene.process({}, first.folder)
    expect(withoutSource(await read(second.url, 'bob'))).toEqual(presence)
  })

  test('[S4][C7] connected users are offline after it, last seen when the server was last alive', async () => {
    const first = await scene.process()
    const bob = await scene.person(first.url, 'bob')
    const alice = await scene.person(first.url, 'alice')
    await watch(alice, ['bob', 'late'])
    // From then on neither the start of the server nor bob's arrival is a good date any more.
    const aliveAt = await markedAliveAgain(first.folder)
    // A user who came after the server was last marked alive must not be dated before that.
    const late = await scene.person(first.url, 'late')
    const { presence: lateBefore } = await alice.sees('late', isOnline)
    bob.be('active')
    await ask(bob, { type: 'heartbeat', activity: 'active' })
    const crashedAt = Date.now()
    await first.kill()
    expect((await bob.closed).code).not.toBe(1000)
    await late.closed

    const second = await scene.process({ gateway_lease_ms: 300, offline_delay_ms: 200 }, first.folder)
    const restartedAt = Date.now()
    const watcher = await scene.person(second.url, 'carol')
    await watch(watcher, ['bob', 'late'])
    for (const name of ['bob', 'late']) {
      const { presence: after } = await watcher.sees(name, isOffline)
      expect(after).toMatchObject({ status: 'offline', devices: [] })
      expect(after.last_seen).toBeWithin(aliveAt, crashedAt + 1)
      expect(after.last_seen).toBeLessThan(restartedAt)
      expect(await read(second.url, name)).toEqual({ ...after, source: 'db' })
    }
    expect((await read(second.url, 'late')).last_seen).toBeGreaterThanOrEqual(lateBefore.last_seen!)
  })

  for (const end of ['kill', 'stop'] as const) {
    test(`[D2][D6] a user who is back within the grace was never gone, after a ${end}`, async () => {
      const first = await scene.process({ gateway_lease_ms: 20_000 })
      const bob = await scene.person(first.url, 'bob', { deviceId: 'laptop', platform: 'desktop' })
      const alice = await scene.person(first.url, 'alice')
      await watch(alice, ['bob'])
      await ask(bob, { type: 'heartbeat', activity: 'idle' })
      const { presence: before } = await alice.sees('bob', ({ status }) => status === 'away')
      if (end === 'kill') await first.kill()
      else {
        first.signal('SIGTERM')
        await first.exited
      }
      const second = await scene.process({ gateway_lease_ms: 20_000 }, first.folder)
      const again = await scene.person(second.url, 'alice')
      await watch(again, ['bob'])
      const back = await scene.person(second.url, 'bob', { deviceId: 'laptop', platform: 'desktop' })
      await ask(back, { type: 'heartbeat', activity: 'idle' })
      const { presence: after } = await again.sees('bob', ({ status }) => status === 'away')
      expect(after.devices).toEqual(before.devices)
      expect(after.version).toBeGreaterThan(before.version)
      const statuses = again.sightings('bob').map(({ presence }) => presence.status)
      // After a crash only the activity at the arrival is known; after a stop the last one is.
      expect(statuses).not.toContain('offline')
      if (end === 'stop') expect(new Set(statuses)).toEqual(new Set(['away']))
    })
  }

  test('[C7] users who reconnect are online with a higher version', async () => {
    const first = await scene.process()
    const bob = await scene.person(first.url, 'bob', { deviceId: 'laptop' })
    const { version } = bob.welcome.self
    await first.kill()
    await bob.closed
    const second = await scene.process({}, first.folder)
    const alice = await scene.person(second.url, 'alice')
    await watch(alice, ['bob'])
    await scene.person(second.url, 'bob', { deviceId: 'laptop' })
    const { presence } = await alice.sees('bob', isOnline)
    expect(presence.version).toBeGreaterThan(version)
  })
})

describe('SIGTERM', () => {
  test('[C7] drains clients, refuses new ones, and exits with 0 when all have gone', async () => {
    const server = await scene.process({ drain_ms: LONG_DRAIN_MS })
    const people = await Promise.all(['a', 'b', 'c'].map((name) => scene.person(server.url, name)))
    server.signal('SIGTERM')
    for (const person of people) {
      const { reconnect_after_ms: afterMs } = await person.next('drain')
      expect(afterMs).toBeWithin(0, LONG_DRAIN_MS + 1)
    }

    const ready = await fetch(`${server.url}/readyz`)
    expect(ready.status).toBe(503)
    expect(await ready.json()).toMatchObject({ status: 'not_ready', checks: { accepting: 'draining' } })
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
    const refused = await fetch(webSocketUrl(server.url, 'late').replace('ws:', 'http:'), {
      headers: {
        upgrade: 'websocket',
        connection: 'Upgrade',
        'sec-websocket-key': Buffer.from('greendot-raw-key').toString('base64'),
        'sec-websocket-version': '13',
      },
    })
    expect(refused.status).toBe(503)
    expect(await refused.json()).toMatchObject({ code: 'unavailable' })
    const late = openClient(server.url, 'late')
    expect((await late.closed).code).not.toBe(1000)
    expect(late.heard).toEqual([])

    for (const person of people) {
      expect(person.socket.readyState).toBe(WebSocket.OPEN)
      person.close()
    }
    expect(await server.exited).toBe(0)
  })

  test('[C7] closes clients that stay with 1001 after the drain, not before, and exits with 0', async () => {
    const server = await scene.process({ drain_ms: DRAIN_MS })
    const people = await Promise.all(['a', 'b', 'c'].map((name) => scene.person(server.url, name)))
    const askedAt = Date.now()
    server.signal('SIGTERM')
    for (const person of people) {
      const { code, at } = await person.closed
      expect(code).toBe(1001)
      expect(at - askedAt).toBeGreaterThanOrEqual(DRAIN_MS - 50)
    }
    expect(await server.exited).toBe(0)
  })

  test('[S4] last seen of connected users is the moment it stopped', async () => {
    const first = await scene.process()
    await scene.person(first.url, 'bob')
    const stoppedAt = Date.now()
    first.signal('SIGTERM')
    expect(await first.exited).toBe(0)
    const endedAt = Date.now()
    const second = await scene.process({}, first.folder)
    // Presumed to be here for the grace of a restart, and dated to the end of the one before.
    const after = await read(second.url, 'bob')
    expect(after.status).toBe('online')
    expect(after.last_seen).toBeWithin(stoppedAt, endedAt + 1)
  })
})
