// A user who comes back after an erasure, or never stopped connecting, is new: nothing of before is seen by
// any viewer, and versions still only grow.
import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { QueriedPresence } from '@greendot/protocol'
import { createSqliteArchive } from '../../packages/server/src/archive/sqlite.ts'
import { systemClock } from '../../packages/server/src/platform/clock.ts'
import { openClient, type TestClient } from '../clients/client.ts'
import { call, unknown } from '../http/calls.ts'
import { openLine } from './audience/line.ts'
import { erase, liveFully, nextMillisecond, putAs, rowsThatMention, watcherOf } from './erased-person.ts'
import { isOffline, isOnline, useScene } from './scene.ts'

const scene = useScene()
const ANNA = 'anna-q7x'

const read = async (url: string, userId: string, token = 'dev') =>
  (await call<QueriedPresence>(url, 'GET', `/api/v1/presence/${userId}`, { token })).body

describe('coming back', () => {
  test('[X6] a user who comes back is new, with versions above all that were seen', async () => {
    const { url } = await scene.server({ offline_delay_ms: 0 })
    const { socket } = await liveFully(scene, url, ANNA)
    await putAs(url, ANNA, 'settings', { status_visibility: 'everyone', last_seen_visibility: 'everyone' })
    const eve = await watcherOf(scene, url, 'eve', [ANNA])
    const seenBefore = eve.sightings(ANNA)[0]!.presence.version
    await erase(url, ANNA)
    await socket.closed
    const erasedAt = Date.now()
    await nextMillisecond()
    const since = eve.heard.length
    const back = await scene.person(url, ANNA, { deviceId: `laptop-of-${ANNA}`, platform: 'desktop' })
    expect(back.welcome.self).toMatchObject({ status: 'online', custom_status: null, availability: 'auto' })
    expect(back.welcome.self.sessions).toHaveLength(1)
    const { presence } = await eve.sees(ANNA, isOnline, { since })
    expect(presence.version).toBeGreaterThan(seenBefore)
    expect(presence.last_seen).toBeGreaterThanOrEqual(erasedAt - 1)
    expect(presence).toMatchObject({ custom_status: null, devices: ['desktop'] })
    const { body } = await call(url, 'GET', `/api/v1/users/${ANNA}/export`, { token: 'dev' })
    expect(body).toMatchObject({ contacts: [], contact_of: [] })
    back.send({ type: 'leave' })
    await eve.sees(ANNA, isOffline, { since: eve.heard.length })
    expect((await read(url, ANNA)).last_seen).toBeGreaterThanOrEqual(erasedAt - 1)
  })

  test('[X6, W9] versions go on above all that were seen, however many changes there were', async () => {
    const { url } = await scene.server({ frames_per_second: 1_000 })
    const busy = await scene.person(url, ANNA)
    // More changes than milliseconds.
    for (let n = 0; n < 190; n++) busy.send({ type: 'set_custom_status', text: `text ${n}`, ref: n })
    await busy.next('ok', ({ ref }) => ref === 189)
    const { version } = await read(url, ANNA)
    await erase(url, ANNA)
    await busy.closed
    await nextMillisecond()
    const back = await scene.person(url, ANNA)
    expect(back.welcome.self.version).toBeGreaterThan(version)
  })

  test('[X6, S6] a former contact is a stranger to the user who comes back', async () => {
    // A list that was not edited since the server started.
    const folder = mkdtempSync(join(tmpdir(), 'greendot-test-'))
    scene.onEnd(() => rmSync(folder, { recursive: true, force: true }))
    const path = join(folder, 'greendot.db')
    const archive = await createSqliteArchive({ path })
    await archive.migrate()
    await archive.addContacts(ANNA, ['bob'], Date.now())
    await archive.close()
    const database_url = `sqlite://${path}`
    const { url } = await scene.server({ database_url, default_visibility: 'contacts' })
    const first = await scene.person(url, ANNA)
    expect((await read(url, ANNA, 'dev:bob')).status).toBe('online')
    await erase(url, ANNA)
    await first.closed
    await nextMillisecond()
    await scene.person(url, ANNA)
    expect((await read(url, ANNA)).status).toBe('online')
    expect(await read(url, ANNA, 'dev:bob')).toEqual(unknown(ANNA) as never)
  })
})

describe('at the very moment', () => {
  test('[X6] a user who connects again and again is erased all the same', async () => {
    const server = await scene.server({ offline_delay_ms: 0, frames_per_second: 100_000 })
    const { url } = server
    await putAs(url, ANNA, 'contacts', { user_ids: ['bob'] })
    let isOver = false
    let connections = 0
    let current: TestClient | null = null
    async function comeAgain(): Promise<void> {
      while (!isOver) {
        connections++
        current = openClient(url, ANNA, { deviceId: 'stubborn' })
        const { closed, socket } = current
        socket.onopen = () => setImmediate(() => socket.close())
        await closed
      }
    }
    const coming = Promise.all([comeAgain(), comeAgain(), comeAgain()])
    for (let round = 0; round < 20; round++) {
      await putAs(url, ANNA, 'status', { text: `words of before ${round}` })
      const erasedAt = Date.now()
      expect((await erase(url, ANNA)).status).toBe(204)
      const after = await read(url, ANNA)
      expect(after.custom_status).toBeNull()
      if (after.last_seen !== null) expect(after.last_seen).toBeGreaterThanOrEqual(erasedAt)
      expect(rowsThatMention(server, 'words of before')).toEqual([])
    }
    isOver = true
    await coming
    expect(connections).toBeGreaterThan(20)
    expect((await read(url, ANNA)).custom_status).toBeNull()
  })

  test('[X6] a user who connects in that instant is either closed or online', async () => {
    const { url } = await scene.server()
    const names = Array.from({ length: 40 }, (_, n) => `person-${n}`)
    const clients: TestClient[] = []
    for (const name of names) {
      const client = openClient(url, name)
      scene.onEnd(client.close)
      clients.push(client)
      const erasures: Promise<unknown>[] = []
      for (let turn = 0; turn < 4; turn++) {
        erasures.push(erase(url, name))
        await systemClock.nextTurn()
      }
      await Promise.all(erasures)
      // Either the welcome or the end comes; after the welcome the end may still be on its way.
      await Promise.race([client.closed, client.next('welcome').catch(() => {})])
    }
    const marker = await scene.person(url, 'marker')
    expect((await read(url, 'marker')).version).toBe(marker.welcome.self.version)
    const ghosts = await Promise.all(
      names.map(async (name, n) => {
        const isOpen = clients[n]!.socket.readyState === WebSocket.OPEN
        return isOpen && !isOnline(await read(url, name)) ? [name] : []
      }),
    )
    expect(ghosts.flat()).toEqual([])
  })

  test('[X6, D8] the same holds for a heartbeat over HTTP in that instant', async () => {
    // A session that ran out is for some time still a user who is online, and no connection any more.
    const { url } = await scene.server({ heartbeat_ttl_ms: 600_000 })
    const names = Array.from({ length: 40 }, (_, n) => `person-${n}`)
    const beat = { device_id: 'phone', platform: 'mobile', activity: 'active' }
    for (const name of names) {
      const beating = call(url, 'POST', '/api/v1/heartbeat', { token: `dev:${name}`, body: beat })
      await Promise.all([erase(url, name), erase(url, name), beating, erase(url, name)])
    }
    type Stats = { connections: number; users: { online: number } }
    const { body } = await call<Stats>(url, 'GET', '/api/v1/stats', { token: 'dev' })
    expect(body.connections).toBe(body.users.online)
  })

  test('[X6] what was being written then is not shown after it', async () => {
    const server = await scene.server()
    const { url } = server
    const bob = await watcherOf(scene, url, 'bob', [ANNA, 'marker'])
    await scene.person(url, ANNA)
    await bob.sees(ANNA, isOnline)
    const [other, anna] = await Promise.all(['other', ANNA].map((userId) => openLine(url, `dev:${userId}`)))
    for (const line of [other!, anna!]) scene.onEnd(line.close)
    // The database is locked by another writer for a moment.
    using database = new Database(join(server.folder, 'greendot.db'))
    database.run('BEGIN IMMEDIATE')
    // One row is on its way to it, and that of the user waits behind it. Both requests are on open lines, so
    // that the server has read them before the marker comes.
    const saying = [
      other!.put('/api/v1/presence/status', { text: 'hello' }),
      anna!.put('/api/v1/presence/status', { text: 'last words' }),
    ]
    await scene.person(url, 'marker')
    const since = bob.heard.length
    // Its first row waits behind the one on its way.
    const erasing = erase(url, ANNA)
    database.run('ROLLBACK')
    expect((await Promise.all([...saying, erasing]))[0]).toBe(200)
    await bob.sees(ANNA, ({ version }) => version === 0, { since })
    expect(rowsThatMention(server, ANNA)).toEqual([])
    expect(await read(url, ANNA)).toEqual(unknown(ANNA) as never)
    await putAs(url, 'marker', 'status', { text: 'done' })
    await bob.sees('marker', ({ custom_status }) => custom_status?.text === 'done')
    expect(bob.sightings(ANNA, since).at(-1)!.presence).toMatchObject({ version: 0 })
  })
})
