// Erasing a person of a deployment: asked of one server, it reaches the connections, watchers and lists
// on all of them, and Redis holds nothing of the person once the mark is gone.
import { expect, test } from 'bun:test'
import type { Presence } from '@greendot/protocol'
import { systemClock } from '../../packages/server/src/platform/clock.ts'
import { createLogger } from '../../packages/server/src/platform/logger.ts'
import { connectRedis } from '../../packages/server/src/redis/client.ts'
import { parseRedisUrl } from '../../packages/server/src/redis/url.ts'
import { createRedisStore } from '../../packages/server/src/store/redis.ts'
import { call } from '../http/calls.ts'
import { describeWithService } from '../services/describe.ts'
import { findRedis, startRedis } from '../services/redis.ts'
import { until, WAIT_MS } from '../services/within.ts'
import {
  appearance,
  erase,
  liveFully,
  nextMillisecond,
  putAs,
  rowsThatMention,
  watcherOf,
} from './erased-person.ts'
import { ask, isOnline, type Person, useScene } from './scene.ts'
import { openStream } from './stream-client.ts'

const ANNA = 'anna-q7x'
const MARK_MS = 60_000

describeWithService('erasing a person of a deployment', await findRedis(), startRedis, (redis) => {
  const scene = useScene()

  async function deployment() {
    await redis().cli('FLUSHALL')
    const settings = { redis_url: redis().url, read_cache_ms: 0 }
    const first = await scene.server(settings)
    const database_url = `sqlite://${first.folder}/greendot.db`
    return [first, await scene.server({ ...settings, database_url })] as const
  }

  /** Keys that are named after the text or hold it anywhere. */
  async function keysThatMention(text: string): Promise<string[]> {
    const keys = (await redis().cli('--scan')).split('\n').filter((key) => key !== '')
    const found = await Promise.all(
      keys.map(async (key) => {
        const kind = await redis().cli('TYPE', key)
        const how = {
          string: ['GET', key],
          set: ['SMEMBERS', key],
          zset: ['ZRANGE', key, '0', '-1'],
          hash: ['HGETALL', key],
        }[kind]
        if (how === undefined) throw new Error(`${key} is a ${kind}`)
        return key.includes(text) || (await redis().cli(...how)).includes(text) ? [key] : []
      }),
    )
    return found.flat()
  }

  /** What sweepers do every two seconds, as if a minute had passed. */
  async function forgetWhatIsPast(ms: number): Promise<void> {
    const url = parseRedisUrl(redis().url)
    if (url.kind === 'invalid') throw new Error(url.message)
    const client = connectRedis(url, {
      logger: createLogger({ level: 'silent' }),
      clock: systemClock,
      onBack: () => {},
    })
    await client.ready(5_000)
    const store = createRedisStore({ client, clock: systemClock })
    await store.forget(Date.now() + ms, 1_000)
    await client.close()
  }

  test('[X6] connections on every server end, and every server answers as for somebody who never came', async () => {
    const [first, second] = await deployment()
    const here = await liveFully(scene, first.url, ANNA)
    const there = await scene.person(second.url, ANNA)
    const thereToo = await openStream(second.url, ANNA, ['bob'])
    scene.onEnd(thereToo.close)
    const body = { device_id: 'tablet', platform: 'tablet', activity: 'active' }
    await call(second.url, 'POST', '/api/v1/heartbeat', { token: `dev:${ANNA}`, body })
    expect((await erase(first.url, ANNA)).status).toBe(204)
    for (const { closed } of [here.socket, there]) expect(await closed).toMatchObject({ code: 4401 })
    for (const { ended } of [here.stream, thereToo]) expect((await ended).how).toBe('whole')
    for (const { url } of [first, second]) {
      const sessions = async () =>
        (await call<{ connections: number }>(url, 'GET', '/api/v1/stats', { token: 'dev' })).body.connections
      await until(WAIT_MS, 'the end of all sessions', async () => (await sessions()) === 0)
      expect(await appearance(url, ANNA)).toEqual(await appearance(url, 'never-q7x'))
    }
    expect(rowsThatMention(first, ANNA)).toEqual([])
  })

  test('[X6] watchers and followers on every server see version 0', async () => {
    const [first, second] = await deployment()
    await scene.person(first.url, ANNA)
    const viewers = await Promise.all(
      [first, second].map(async ({ url }, n) => {
        await putAs(url, `follower-${n}`, 'contacts', { user_ids: [ANNA, 'marker'] })
        const follower = await scene.person(url, `follower-${n}`)
        await ask(follower, { type: 'watch_contacts' })
        return [follower, await watcherOf(scene, url, `watcher-${n}`, [ANNA, 'marker'])]
      }),
    )
    for (const viewer of viewers.flat()) await viewer.sees(ANNA, isOnline)
    await erase(second.url, ANNA)
    const isGone = ({ version }: Presence) => version === 0
    for (const viewer of viewers.flat()) await viewer.sees(ANNA, isGone)
    for (const [, watcher] of viewers) await scene.mark(watcher!, first.url)
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
      const { body } = await call(first.url, 'GET', `/api/v1/users/follower-${n}/contacts`, { token: 'dev' })
      expect(body).toEqual({ user_ids: ['marker'] })
    }
  })

  test('[X6] nothing in Redis mentions them once the mark is gone', async () => {
    const [first, second] = await deployment()
    const here = await liveFully(scene, first.url, ANNA)
    const there = await scene.person(second.url, ANNA)
    expect((await keysThatMention(ANNA)).length).toBeGreaterThan(3)
    expect(await keysThatMention(here.text)).not.toEqual([])
    await erase(second.url, ANNA)
    await Promise.all([here.socket.closed, there.closed, here.stream.ended])
    expect(await keysThatMention(here.text)).toEqual([])
    // The record that is a mark, and the index that says how long it is kept.
    await until(WAIT_MS, 'only the mark to be left', async () => (await keysThatMention(ANNA)).length === 2)
    await forgetWhatIsPast(MARK_MS)
    expect(await keysThatMention(ANNA)).toEqual([])
  })

  test('[X6] somebody who comes back to another server is new there', async () => {
    const [first, second] = await deployment()
    const { socket } = await liveFully(scene, first.url, ANNA)
    const before = socket.welcome.self.version
    await erase(first.url, ANNA)
    await socket.closed
    await nextMillisecond()
    const bob = await watcherOf(scene, first.url, 'bob', [ANNA])
    const back = await scene.person(second.url, ANNA)
    expect(back.welcome.self).toMatchObject({ status: 'online', custom_status: null, availability: 'auto' })
    const { presence } = await bob.sees(ANNA, isOnline)
    expect(presence.version).toBeGreaterThan(before)
  })
})
