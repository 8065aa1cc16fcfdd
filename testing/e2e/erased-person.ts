// A user with everything a user can have, and what is left of them: on every route, in every row of the
// database. An erased user must look like an unknown one, to the byte.
import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { systemClock } from '../../packages/server/src/platform/clock.ts'
import { createLogger } from '../../packages/server/src/platform/logger.ts'
import { connectRedis } from '../../packages/server/src/redis/client.ts'
import { parseRedisUrl } from '../../packages/server/src/redis/url.ts'
import { createRedisStore } from '../../packages/server/src/store/redis.ts'
import type { TestServer } from '../clients/server.ts'
import { call } from '../http/calls.ts'
import { WAIT_MS } from '../services/within.ts'
import { type Person, type Scene, watch } from './scene.ts'
import { openStream, type TestStream } from './stream-client.ts'

const HOUR_MS = 3_600_000
const FRIENDS = ['bob', 'carol', 'dave']

export const putAs = (url: string, userId: string, what: string, body: object) =>
  call(url, 'PUT', `/api/v1/users/${encodeURIComponent(userId)}/${what}`, { token: 'dev', body })

export const erase = (url: string, userId: string) =>
  call(url, 'DELETE', `/api/v1/users/${encodeURIComponent(userId)}`, { token: 'dev' })

/** A client that connects in the very millisecond of an erasure is told to come again. */
export async function nextMillisecond(): Promise<void> {
  const present = Date.now()
  while (Date.now() === present) await systemClock.nextTurn()
}

export interface Life {
  socket: Person
  stream: TestStream
  settings: object
  text: string
}

/** Connected in three ways, with choices of every kind, in the lists of friends and they in theirs. */
export async function liveFully(scene: Scene, url: string, userId: string): Promise<Life> {
  const text = `the words of ${userId}`
  const settings = {
    status_visibility: 'contacts',
    last_seen_visibility: 'nobody',
    reciprocal: false,
    last_seen_precision: 'approximate',
    allow: ['eve'],
    deny: ['mallory'],
    away_after_ms: 123_456,
    history: true,
  }
  const socket = await scene.person(url, userId, { deviceId: `laptop-of-${userId}`, platform: 'desktop' })
  const beat = { device_id: `phone-of-${userId}`, platform: 'mobile', activity: 'active' }
  await call(url, 'POST', '/api/v1/heartbeat', { token: `dev:${userId}`, body: beat })
  const stream = await openStream(url, userId, ['bob'])
  scene.onEnd(stream.close)
  const expires_at = Date.now() + HOUR_MS
  await putAs(url, userId, 'status', { text, emoji: '🦖', expires_at })
  await putAs(url, userId, 'availability', { status: 'busy', expires_at })
  await putAs(url, userId, 'settings', settings)
  await putAs(url, userId, 'contacts', { user_ids: FRIENDS })
  for (const friend of FRIENDS) await putAs(url, friend, 'contacts', { user_ids: [userId, 'zoe'] })
  await putAs(url, 'bob', 'settings', { allow: ['zoe', userId] })
  await putAs(url, 'carol', 'settings', { deny: [userId], last_seen_visibility: 'contacts' })
  return { socket, stream, settings, text }
}

const asServer = (path: string) => ({ token: 'dev', method: 'GET', path })
const asUser = (viewerId: string, path: string) => ({ token: `dev:${viewerId}`, method: 'GET', path })

/** Every way to learn something of a person, but for the one that explains what the others say. */
const ways = (id: string) => [
  asUser('bob', `/api/v1/presence/${id}`),
  asUser('stranger', `/api/v1/presence?user_ids=${id}`),
  asUser('carol', `/presence/batch?user_ids=${id}`),
  asServer(`/api/v1/presence/${id}`),
  asServer(`/api/v1/presence/${id}?viewer_id=bob`),
  {
    token: 'dev',
    method: 'POST',
    path: '/api/v1/presence/query',
    body: { user_ids: [decodeURIComponent(id)] },
  },
  asServer(`/api/v1/users/${id}/settings`),
  asServer(`/api/v1/users/${id}/contacts`),
  asServer(`/api/v1/users/${id}/export`),
  asServer(`/api/v1/users/${id}/history`),
  asServer(`/api/v1/explain?user_id=bob&viewer_id=${id}`),
  asUser(decodeURIComponent(id), '/api/v1/presence/settings'),
  asUser('viewer', `/api/v1/public/presence/${id}`),
]

export const explanations = (id: string) => [
  asServer(`/api/v1/explain?user_id=${id}`),
  asServer(`/api/v1/explain?user_id=${id}&viewer_id=bob`),
]

/** What each of them answers, with `#` for the id and without what is different every time. */
export async function appearance(
  url: string,
  userId: string,
  waysOf: (id: string) => { token: string; method: string; path: string; body?: object }[] = ways,
): Promise<Record<string, string>> {
  const id = encodeURIComponent(userId)
  const answers: Record<string, string> = {}
  const [inJson, anonymous] = [JSON.stringify(userId).slice(1, -1), '#']
  for (const { token, method, path, ...rest } of waysOf(id)) {
    const { status, headers, text } = await call(url, method, path, { token, ...rest })
    const shown = [...headers].filter(([name]) => !/^(date|etag|content-length)$/.test(name)).sort()
    const body = text.replaceAll(inJson, anonymous).replace(/"exported_at":\d+/, '"exported_at":0')
    answers[`${method} ${path.replaceAll(id, anonymous)} ${token.replaceAll(userId, anonymous)}`] =
      `${status} ${JSON.stringify(shown)} ${body}`
  }
  return answers
}

/** The rows of all tables in which the text occurs anywhere. */
export function rowsThatMention({ folder }: Pick<TestServer, 'folder'>, text: string): string[] {
  using database = new Database(join(folder, 'greendot.db'), { readonly: true })
  const tables = database
    .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table'")
    .all()
    .map(({ name }) => name)
  if (!tables.includes('contact')) throw new Error('this is not the database of a server')
  const inJson = JSON.stringify(text).slice(1, -1)
  return tables.flatMap((table) =>
    database
      .query<Record<string, unknown>, []>(`SELECT * FROM "${table}"`)
      .all()
      .filter((row) =>
        Object.values(row).some((value) => String(value).includes(text) || String(value).includes(inJson)),
      )
      .map((row) => `${table}: ${JSON.stringify(row)}`),
  )
}

/** A watcher who has the snapshot. */
export async function watcherOf(
  scene: Scene,
  url: string,
  viewerId: string,
  userIds: string[],
): Promise<Person> {
  const watcher = await scene.person(url, viewerId)
  await watch(watcher, userIds)
  return watcher
}

/** What sweepers do every two seconds, as if so much time had passed. */
export async function forgetWhatIsPast(redisUrl: string, ms: number): Promise<void> {
  const url = parseRedisUrl(redisUrl)
  if (url.kind === 'invalid') throw new Error(url.message)
  const client = connectRedis(url, { logger: createLogger({ level: 'silent' }), clock: systemClock })
  await client.ready(WAIT_MS)
  const store = createRedisStore({ client, clock: systemClock })
  await store.forget(Date.now() + ms, 1_000)
  await client.close()
}
