// Erasing a user of a deployment with Redis and PostgreSQL: asked of one server, it reaches the connections,
// watchers and lists on all of them, and neither database holds anything of the user after it.
import { expect, test } from 'bun:test'
import type { Presence } from '@greendot/protocol'
import { SQL } from 'bun'
import { call } from '../http/calls.ts'
import type { Redis } from '../services/redis.ts'
import { until, WAIT_MS } from '../services/within.ts'
import {
  appearance,
  erase,
  forgetWhatIsPast,
  liveFully,
  nextMillisecond,
  putAs,
  watcherOf,
} from './erased-person.ts'
import { ask, isOnline, type Person } from './scene.ts'
import { describeWithPairs } from './shared-services.ts'
import { openStream } from './stream-client.ts'

const ANNA = 'anna-q7x'
const MARK_MS = 60_000

/** The rows of all tables in which the text occurs anywhere. */
async function rowsThatMention(databaseUrl: string, text: string): Promise<string[]> {
  const sql = new SQL(databaseUrl, { max: 1 })
  try {
    const tables = (await sql.unsafe(
      'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = current_schema()',
    )) as { name: string }[]
    if (!tables.some(({ name }) => name === 'contact'))
      throw new Error('this is not the database of a server')
    const rows: string[] = []
    for (const { name } of tables) {
      const all = (await sql.unsafe(`SELECT row_to_json(t)::text AS row FROM ${name} t`)) as { row: string }[]
      rows.push(...all.filter(({ row }) => row.includes(text)).map(({ row }) => `${name}: ${row}`))
    }
    return rows
  } finally {
    await sql.close()
  }
}

/** Keys that are named after the text or hold it anywhere. */
async function keysThatMention(redis: Redis, text: string): Promise<string[]> {
  const keys = (await redis.cli('--scan')).split('\n').filter((key) => key !== '')
  const found = await Promise.all(
    keys.map(async (key) => {
      const kind = await redis.cli('TYPE', key)
      // It went since the scan.
      if (kind === 'none') return []
      const how = {
        string: ['GET', key],
        set: ['SMEMBERS', key],
        zset: ['ZRANGE', key, '0', '-1'],
        hash: ['HGETALL', key],
      }[kind]
      if (how === undefined) throw new Error(`${key} is a ${kind}`)
      return key.includes(text) || (await redis.cli(...how)).includes(text) ? [key] : []
    }),
  )
  return found.flat()
}

describeWithPairs('erasing a user of a deployment', (scene, pair) => {
  const deployment = () => pair({ read_cache_ms: 0 })

  test('[X6] connections on every server end, and every route and row is as if they had never come', async () => {
    const { here, there, databaseUrl } = await deployment()
    const life = await liveFully(scene, here, ANNA)
    const thereToo = await scene.person(there, ANNA)
    const streamThere = await openStream(there, ANNA, ['bob'])
    scene.onEnd(streamThere.close)
    const body = { device_id: 'tablet', platform: 'tablet', activity: 'active' }
    await call(there, 'POST', '/api/v1/heartbeat', { token: `dev:${ANNA}`, body })
    expect((await rowsThatMention(databaseUrl, ANNA)).length).toBeGreaterThan(6)
    expect(await rowsThatMention(databaseUrl, life.text)).not.toEqual([])
    expect((await erase(there, ANNA)).status).toBe(204)
    expect(await rowsThatMention(databaseUrl, ANNA)).toEqual([])
    for (const { closed } of [life.socket, thereToo]) expect(await closed).toMatchObject({ code: 4401 })
    for (const { ended } of [life.stream, streamThere]) expect((await ended).how).toBe('whole')
    for (const url of [here, there]) {
      const connections = async () =>
        (await call<{ connections: number }>(url, 'GET', '/api/v1/stats', { token: 'dev' })).body.connections
      await until(WAIT_MS, 'the end of all sessions', async () => (await connections()) === 0)
      expect(await appearance(url, ANNA)).toEqual(await appearance(url, 'never-q7x'))
    }
    expect(await rowsThatMention(databaseUrl, ANNA)).toEqual([])
  })

  test('[X6] watchers and followers on every server see version 0', async () => {
    const { here, there } = await deployment()
    await scene.person(here, ANNA)
    const viewers = await Promise.all(
      [here, there].map(async (url, n) => {
        await putAs(url, `follower-${n}`, 'contacts', { user_ids: [ANNA, 'marker'] })
        const follower = await scene.person(url, `follower-${n}`)
        await ask(follower, { type: 'watch_contacts' })
        return [follower, await watcherOf(scene, url, `watcher-${n}`, [ANNA, 'marker'])]
      }),
    )
    for (const viewer of viewers.flat()) await viewer.sees(ANNA, isOnline)
    await erase(there, ANNA)
    const isGone = ({ version }: Presence) => version === 0
    for (const viewer of viewers.flat()) await viewer.sees(ANNA, isGone)
    for (const [, watcher] of viewers) await scene.mark(watcher!, here)
    for (const [follower, watcher] of viewers) {
      const zeros = (viewer: Person) =>
        viewer
          .sightings(ANNA)
          .slice(1)
          .map(({ presence }) => presence.version)
      expect(zeros(watcher!)).toEqual([0])
      // Erased, and taken off the list: the second may come by itself, and says the same.
      expect([[0], [0, 0]]).toContainEqual(zeros(follower!))
    }
    for (const n of [0, 1]) {
      const { body } = await call(here, 'GET', `/api/v1/users/follower-${n}/contacts`, { token: 'dev' })
      expect(body).toEqual({ user_ids: ['marker'] })
    }
  })

  test('[X6] nothing in Redis mentions them once the mark is gone', async () => {
    const { here, there, redis } = await deployment()
    const life = await liveFully(scene, here, ANNA)
    const thereToo = await scene.person(there, ANNA)
    expect((await keysThatMention(redis, ANNA)).length).toBeGreaterThan(3)
    expect(await keysThatMention(redis, life.text)).not.toEqual([])
    await erase(there, ANNA)
    await Promise.all([life.socket.closed, thereToo.closed, life.stream.ended])
    expect(await keysThatMention(redis, life.text)).toEqual([])
    // The record that is a mark, and the index that says how long it is kept.
    const isMarkOnly = async () => (await keysThatMention(redis, ANNA)).length === 2
    await until(WAIT_MS, 'only the mark to be left', isMarkOnly)
    await forgetWhatIsPast(redis.url, MARK_MS)
    expect(await keysThatMention(redis, ANNA)).toEqual([])
  })

  test('[X6] a user who comes back to another server is new there, and can be erased again', async () => {
    const { here, there, databaseUrl } = await deployment()
    const { socket } = await liveFully(scene, here, ANNA)
    const before = socket.welcome.self.version
    await erase(here, ANNA)
    await socket.closed
    await nextMillisecond()
    const bob = await watcherOf(scene, here, 'bob', [ANNA])
    const back = await scene.person(there, ANNA)
    expect(back.welcome.self).toMatchObject({ status: 'online', custom_status: null, availability: 'auto' })
    expect((await bob.sees(ANNA, isOnline)).presence.version).toBeGreaterThan(before)
    await putAs(here, ANNA, 'contacts', { user_ids: ['bob'] })
    await erase(there, ANNA)
    await back.closed
    expect(await rowsThatMention(databaseUrl, ANNA)).toEqual([])
  })
})
