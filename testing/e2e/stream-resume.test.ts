// Going on with a stream after it broke: an event id says what its viewer was told, and any server of the
// deployment can go on from it. What cannot be trusted to be the same is told again.
import { describe, expect, test } from 'bun:test'
import type { ServerFrame } from '@greendot/protocol'
import { systemClock } from '../../packages/server/src/platform/clock.ts'
import { call } from '../http/calls.ts'
import { describeWithService } from '../services/describe.ts'
import { findRedis, startRedis } from '../services/redis.ts'
import { until, WAIT_MS } from '../services/within.ts'
import { isOnline, useScene } from './scene.ts'
import { openStream, type StreamOptions } from './stream-client.ts'

const scene = useScene()

async function stream(url: string, userIds: string[], options?: StreamOptions) {
  const opened = await openStream(url, 'alice', userIds, options)
  scene.onEnd(opened.close)
  return opened
}

const put = (url: string, path: string, body: object) => call(url, 'PUT', path, { token: 'dev', body })
const setText = (url: string, userId: string, text: string) =>
  put(url, `/api/v1/users/${userId}/status`, { text })
const isText = (text: string) => (presence: { custom_status: { text: string | null } | null }) =>
  presence.custom_status?.text === text

/** The users in a frame with their custom status. */
function said(frame: ServerFrame): Record<string, string | null> {
  const presences =
    frame.type === 'presence_state' ? frame.states : frame.type === 'presence_change' ? frame.changes : []
  return Object.fromEntries(presences.map((one) => [one.user_id, one.custom_status?.text ?? null]))
}

describe('on the same server', () => {
  test('[W9] from the snapshot: only targets that changed since, and nothing twice', async () => {
    const { url } = await scene.server()
    const userIds = ['bob', 'carol', 'nobody', 'dave']
    for (const userId of ['bob', 'carol', 'dave']) await setText(url, userId, 'one')
    const first = await stream(url, userIds)
    first.close()
    await setText(url, 'carol', 'two')
    await setText(url, 'nobody', 'somebody')
    const second = await stream(url, userIds, { lastEventId: first.lastEventId() })
    expect(second.told.map(({ frame }) => said(frame))).toEqual([{ carol: 'two', nobody: 'somebody' }])
    second.close()
    const third = await stream(url, userIds, { lastEventId: second.lastEventId() })
    expect(third.told.map(({ frame }) => said(frame))).toEqual([{}])
    expect(third.lastEventId()).toBe(second.lastEventId())
    await setText(url, 'bob', 'two')
    await third.sees('bob', isText('two'))
  })

  test('[W9] from an id that came by itself, a few seconds after a change', async () => {
    const { url } = await scene.server()
    const userIds = ['bob', 'carol']
    const first = await stream(url, userIds)
    await setText(url, 'bob', 'one')
    await first.sees('bob', isText('one'))
    await first.until('an id alone', () => first.idsAlone[0])
    expect(first.idsAlone[0]!.id).not.toBe(first.told[0]!.id)
    first.close()
    await setText(url, 'carol', 'two')
    const second = await stream(url, userIds, { lastEventId: first.lastEventId() })
    expect(second.told.map(({ frame }) => said(frame))).toEqual([{ carol: 'two' }])
  })

  test('[S6] a viewer who is denied while their stream opens gets nothing from then on', async () => {
    const { url } = await scene.server({ flush_ms: 5, sessions_per_user: 1_000 })
    const names = Array.from({ length: 100 }, (_, n) => `bob-${n}`)
    await Promise.all(names.map((name) => setText(url, name, 'for all')))
    const streams = await Promise.all(
      names.map(async (name, n) => {
        const opening = stream(url, [name, 'marker'])
        for (let turn = 0; turn < n % 12; turn++) await systemClock.nextTurn()
        await put(url, `/api/v1/users/${name}/settings`, { deny: ['alice'] })
        return opening
      }),
    )
    await Promise.all(names.map((name) => setText(url, name, 'not for alice')))
    await setText(url, 'marker', 'done')
    for (const [n, one] of streams.entries()) {
      await one.sees('marker', isText('done'))
      const told = one.sightings(names[n]!)
      expect(told.some(isText('not for alice'))).toBe(false)
      expect(told.at(-1)!.version).toBe(0)
    }
  })
})

describeWithService('on another server', await findRedis(), startRedis, (redis) => {
  async function deployment() {
    const settings = { redis_url: redis().url, read_cache_ms: 0 }
    const first = await scene.server(settings)
    const database_url = `sqlite://${first.folder}/greendot.db`
    return [first, await scene.server({ ...settings, database_url })] as const
  }

  test('[W9] it goes on as if nothing had happened', async () => {
    const [first, second] = await deployment()
    const userIds = ['bob', 'carol', 'dave']
    await scene.person(first.url, 'bob')
    await setText(second.url, 'carol', 'one')
    const before = await stream(first.url, userIds)
    await before.sees('bob', isOnline)
    before.close()
    const unchanged = await stream(second.url, userIds, { lastEventId: before.lastEventId() })
    expect(unchanged.told.map(({ frame }) => said(frame))).toEqual([{}])
    unchanged.close()
    await setText(first.url, 'dave', 'new')
    const after = await stream(second.url, userIds, { lastEventId: unchanged.lastEventId() })
    expect(after.told.map(({ frame }) => said(frame))).toEqual([{ dave: 'new' }])
    await setText(first.url, 'bob', 'here')
    await after.sees('bob', isText('here'))
  })

  test('[W4] when the last stream ends, no interest in its targets is left', async () => {
    const [first] = await deployment()
    const interest = async () =>
      (await redis().cli('--scan')).split('\n').filter((key) => /^\{s\d+\}:[iw]:/.test(key))
    const streams = await Promise.all([stream(first.url, ['bob', 'carol']), stream(first.url, ['bob'])])
    expect((await interest()).length).toBeGreaterThan(0)
    for (const one of streams) one.close()
    await until(WAIT_MS, 'the end of all interest', async () => (await interest()).length === 0)
  })

  test('[C7] a client that leaves before it was answered leaves nothing behind', async () => {
    const [first] = await deployment()
    const gauges = async () => {
      const { body } = await call<Record<string, number>>(first.url, 'GET', '/api/v1/stats', { token: 'dev' })
      return [body.streams, body.watches, body.watched_users]
    }
    await redis().kill('SIGSTOP')
    const leaving = await Promise.all(
      Array.from({ length: 5 }, (_, n) => stream(first.url, [`bob-${n}`], { isHasty: true })),
    )
    // Answered without Redis, and after the requests that were sent before it were read.
    expect((await fetch(`${first.url}/healthz`)).status).toBe(200)
    expect(leaving.flatMap(({ told }) => told)).toEqual([])
    for (const one of leaving) one.close()
    await Promise.all(leaving.map(({ ended }) => ended))
    await redis().kill('SIGCONT')
    await until(WAIT_MS, 'nothing to be left', async () => (await gauges()).every((gauge) => gauge === 0))
  })
})
