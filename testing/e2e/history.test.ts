// The history of a user over HTTP: who may read it, where it is off, what a choice does, and what an export and an
// erasure do with it. The archive contract and the tests of the consumer say how it is kept.
import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Problem, Settings } from '@greendot/protocol'
import type { AllHistory, UserHistory } from '../../packages/server/src/presence/people/history-view.ts'
import type { TestServer } from '../clients/server.ts'
import { until, WAIT_MS } from '../services/within.ts'
import { call, useScene } from './scene.ts'

const scene = useScene()
const SERVER_KEY = 'dev'
const HISTORY_DAYS = 30
const DAY_MS = 86_400_000

const allow = (url: string, userId: string, history = true) =>
  call<Settings>(url, `dev:${userId}`, 'PUT', '/api/v1/presence/settings', { history })
const historyOf = (url: string, userId: string, query = '', token = SERVER_KEY) =>
  call<UserHistory & Problem>(url, token, 'GET', `/api/v1/users/${userId}/history${query}`)
const hours = (url: string, query = '', token = SERVER_KEY) =>
  call<AllHistory & Problem>(url, token, 'GET', `/api/v1/history${query}`)

/** A server with a history, on which anna is online and allows hers. */
async function withAnna(): Promise<TestServer> {
  const server = await scene.server({ history_days: HISTORY_DAYS })
  await scene.person(server.url, 'anna', { platform: 'mobile' })
  expect((await allow(server.url, 'anna')).body.history).toBe(true)
  return server
}

function rowsIn({ folder }: TestServer): number {
  const database = new Database(join(folder, 'greendot.db'), { readonly: true })
  const count = database.query<{ rows: number }, []>('SELECT count(*) AS rows FROM presence_history').get()!
  database.close()
  return count.rows
}

describe('reading', () => {
  test('[X6] begins with the present state, for the user and for the backend', async () => {
    const before = Date.now()
    const { url } = await withAnna()
    const { body } = await historyOf(url, 'anna')
    expect(body).toMatchObject({ user_id: 'anna', intervals: [{ status: 'online', devices: ['mobile'] }] })
    expect(body.intervals[0]!.from).toBeWithin(before, Date.now() + 1)
    expect(body.sessions).toHaveLength(1)
    const own = await historyOf(url, 'anna', '', 'dev:anna')
    expect(own.status).toBe(200)
    expect(own.body.intervals[0]!.from).toBe(body.intervals[0]!.from)
    expect((await hours(url)).body.hours.at(-1)).toMatchObject({ users: 1 })
  })

  test('[X6, S4] goes on with what is shown, and knows no invisible time', async () => {
    const { url } = await scene.server({ history_days: HISTORY_DAYS, offline_delay_ms: 0 })
    await allow(url, 'bea')
    const bea = await scene.person(url, 'bea')
    const choose = (status: string) =>
      call(url, 'dev:bea', 'PUT', '/api/v1/presence/availability', { status })
    // Intervals without a length are left out.
    const later = async () => {
      const now = Date.now()
      await until(WAIT_MS, 'a later instant', async () => Date.now() > now + 1)
    }
    for (const status of ['busy', 'invisible', 'auto']) {
      await later()
      await choose(status)
    }
    await later()
    bea.send({ type: 'leave' })
    const read = async () => (await historyOf(url, 'bea')).body
    await until(WAIT_MS, 'the departure', async () => {
      const { sessions, to } = await read()
      return sessions?.length === 2 && sessions[1]!.to < to
    })
    expect((await read()).intervals.map(({ status }) => status)).toEqual(['online', 'busy', 'online'])
  })

  test('[X6] [C6] is for the user and the backend, and for no other user', async () => {
    const { url } = await withAnna()
    for (const answer of [await historyOf(url, 'anna', '', 'dev:bob'), await hours(url, '', 'dev:anna')])
      expect([answer.status, answer.body.code]).toEqual([403, 'forbidden'])
  })

  test('[X6] says which setting is missing, of the server or of the user', async () => {
    const off = await scene.server()
    await allow(off.url, 'anna')
    for (const { status, body } of [await historyOf(off.url, 'anna'), await hours(off.url)]) {
      expect([status, body.code]).toEqual([404, 'not_found'])
      expect(body.detail).toContain('history_days')
    }
    const { url } = await scene.server({ history_days: HISTORY_DAYS })
    const { status, body } = await historyOf(url, 'anna')
    expect([status, body.code]).toEqual([404, 'not_found'])
    expect(body.detail).toContain('{"history":true}')
  })

  test('[X6] takes instants as milliseconds or ISO 8601, and answers what it covers', async () => {
    const { url } = await withAnna()
    const now = Date.now()
    const later = new Date(now + DAY_MS).toISOString()
    const { body } = await historyOf(url, 'anna', `?from=${now - DAY_MS}&to=${later}`)
    expect(body.intervals).toHaveLength(1)
    expect(body.to).toBeWithin(now, Date.now() + 1)
    const past = await historyOf(url, 'anna', '?from=2020-01-01&to=2020-02-01')
    expect(past.body).toMatchObject({ intervals: [], sessions: [], days: [], hours: [] })
  })

  test.each([
    ['?from=yesterday', 'from is Unix milliseconds'],
    ['?to=2020-02-31', 'to is Unix milliseconds'],
    ['?to=-1', 'to is Unix milliseconds'],
    ['?from=9999999999999999', 'from is Unix milliseconds'],
    ['?from=2020-03-01&to=2020-02-01', 'from must lie before to'],
    ['?from=2020-01-01&to=2020-06-01', 'at most 92 days'],
    ['?since=5', 'since'],
    ['?from=1&from=2', 'from was sent 2 times'],
  ])('[X6] refuses %s', async (query, why) => {
    const { url } = await withAnna()
    for (const { status, body } of [await historyOf(url, 'anna', query), await hours(url, query)]) {
      expect([status, body.code]).toEqual([400, 'bad_request'])
      expect(body.detail).toContain(why)
    }
  })
})

describe('the choice', () => {
  test('[X6] is set by the user or the backend, and no watcher is told', async () => {
    const { url } = await scene.server({ history_days: HISTORY_DAYS })
    await scene.person(url, 'anna')
    const bob = await scene.person(url, 'bob')
    bob.send({ type: 'watch', user_ids: ['anna', 'marker'] })
    await bob.sees('anna', ({ status }) => status === 'online')
    const heard = bob.heard.length
    await allow(url, 'anna')
    const named = await call<Settings>(url, SERVER_KEY, 'PUT', '/api/v1/users/anna/settings', {
      history: false,
    })
    expect(named.body.history).toBe(false)
    await allow(url, 'anna')
    await scene.mark(bob, url)
    expect(JSON.stringify(bob.heard.slice(heard))).not.toContain('"anna"')
  })

  test('[X6] against it deletes what was kept, and nothing of it comes back', async () => {
    const server = await withAnna()
    expect(rowsIn(server)).toBe(1)
    await allow(server.url, 'anna', false)
    expect(rowsIn(server)).toBe(0)
    expect((await historyOf(server.url, 'anna')).status).toBe(404)
    expect((await hours(server.url)).body.hours).toEqual([])
    const again = Date.now()
    await allow(server.url, 'anna')
    expect((await historyOf(server.url, 'anna')).body.intervals[0]!.from).toBeWithin(again, Date.now() + 10)
  })

  test.each([null, 'yes', 1])('[X6] %p is no choice', async (history) => {
    const { url } = await scene.server()
    const { status, body } = await call<Problem>(url, 'dev:anna', 'PUT', '/api/v1/presence/settings', {
      history,
    })
    expect([status, body.code, body.detail]).toEqual([400, 'bad_request', 'history is true or false'])
  })

  test('[X6] [S2] of an invisible user begins no interval', async () => {
    const { url } = await scene.server({ history_days: HISTORY_DAYS })
    await scene.person(url, 'anna')
    await call(url, 'dev:anna', 'PUT', '/api/v1/presence/availability', { status: 'invisible' })
    await allow(url, 'anna')
    expect((await historyOf(url, 'anna')).body).toMatchObject({ intervals: [], hours: [] })
  })
})

describe('data of a person', () => {
  interface Exported {
    history: object[]
    disconnects: object[]
    settings: Settings
    kept: { history: object | null }
  }
  const exported = async (url: string) =>
    (await call<Exported>(url, SERVER_KEY, 'GET', '/api/v1/users/anna/export')).body

  test('[X6] the export has the choice and every interval', async () => {
    const { url } = await withAnna()
    const { history, settings, kept } = await exported(url)
    const from = expect.any(Number)
    expect(history).toEqual([{ status: 'online', from, to: null, devices: ['mobile'] }])
    expect(settings.history).toBe(true)
    expect(kept.history).toMatchObject({ kept: true })
  })

  test('[X6] an erasure deletes it, from the hours too', async () => {
    const server = await withAnna()
    await call(server.url, SERVER_KEY, 'DELETE', '/api/v1/users/anna')
    expect(rowsIn(server)).toBe(0)
    expect((await exported(server.url)).history).toEqual([])
    expect((await hours(server.url)).body.hours).toEqual([])
    expect((await historyOf(server.url, 'anna')).status).toBe(404)
  })
})
