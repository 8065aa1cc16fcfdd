// Custom status and availability over HTTP: what is answered is what is true from then on, limits are
// exact, and a refused request leaves everything as it was.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { ErrorCode, OwnPresence, QueriedPresence } from '@greendot/protocol'
import { connect } from '../clients/client.ts'
import { startServer, type TestServer } from '../clients/server.ts'
import { call, expectProblem } from './calls.ts'

const STATUS = '/api/v1/presence/status'
const AVAILABILITY = '/api/v1/presence/availability'
const HOUR_MS = 3_600_000

let server: TestServer
/** A new user for each test. */
let userId: string
let userCount = 0

beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())
beforeEach(() => {
  userId = `user-${++userCount}`
})

const put = (path: string, body: unknown) =>
  call<OwnPresence>(server.url, 'PUT', path, { token: `dev:${userId}`, body })
const clear = () => call<OwnPresence>(server.url, 'DELETE', STATUS, { token: `dev:${userId}` })
const shown = async () =>
  (await call<QueriedPresence>(server.url, 'GET', `/api/v1/presence/${userId}`, { token: 'dev:other' })).body

describe('custom status', () => {
  test('[S3] PUT answers with the own view, and others see it at once', async () => {
    const expiresAt = Date.now() + HOUR_MS
    const answer = await put(STATUS, { text: 'In a meeting', emoji: '📅', expires_at: expiresAt })
    const custom = { text: 'In a meeting', emoji: '📅', expires_at: expiresAt }
    expect(answer.status).toBe(200)
    expect(answer.body).toStrictEqual({
      user_id: userId,
      status: 'offline',
      last_seen: null,
      custom_status: custom,
      devices: [],
      version: answer.body.version,
      availability: 'auto',
      availability_expires_at: null,
      sessions: [],
    })
    expect(answer.body.version).toBeGreaterThan(0)
    expect(await shown()).toMatchObject({ custom_status: custom, version: answer.body.version, source: 'db' })
  })

  test('[S3] each PUT replaces the whole, however quickly they follow each other', async () => {
    for (let round = 0; round < 60; round++) {
      const text = round % 2 === 0 ? 'b' : 'a'
      const { body } = await put(STATUS, round % 3 === 0 ? { text, emoji: '🙂' } : { text })
      const expected = { text, emoji: round % 3 === 0 ? '🙂' : null, expires_at: null }
      expect(body.custom_status).toEqual(expected)
      expect((await shown()).custom_status).toEqual(expected)
    }
  })

  test('[S3] DELETE, nothing, nulls and empty texts all clear it', async () => {
    const clearing = [
      clear,
      () => put(STATUS, {}),
      () => put(STATUS, { text: null, emoji: null, expires_at: null }),
    ]
    for (const run of [...clearing, () => put(STATUS, { text: '', emoji: '' })]) {
      await put(STATUS, { text: 'something' })
      const answer = await run()
      expect(answer.status).toBe(200)
      expect(answer.body.custom_status).toBeNull()
      expect((await shown()).custom_status).toBeNull()
    }
    expect((await clear()).status).toBe(200)
  })

  const longest: [string, object][] = [
    ['140 letters', { text: 'x'.repeat(140), emoji: null }],
    ['140 emoji of two code units', { text: '🙂'.repeat(140), emoji: null }],
    ['140 characters outside ASCII', { text: '語'.repeat(140), emoji: null }],
    ['an emoji of 32 bytes', { text: null, emoji: '🙂'.repeat(8) }],
    ['control characters, quotes and markup', { text: 'a\u0001\n"\\<b>\u2028\u202e', emoji: null }],
  ]
  test.each(longest)('[S3] %s come back as they went in', async (_, status) => {
    expect((await put(STATUS, status)).body.custom_status).toEqual({ ...status, expires_at: null } as never)
    expect((await shown()).custom_status).toEqual({ ...status, expires_at: null } as never)
  })

  test('[S3] unknown fields are refused, also those every object has, and nothing is set', async () => {
    for (const field of [
      '"__proto__":{"emoji":"🙂"}',
      '"constructor":1',
      '"user_id":"bob"',
      '"status":"busy"',
    ]) {
      const rawBody = `{"text":"hi",${field}}`
      const answer = await call(server.url, 'PUT', STATUS, { token: `dev:${userId}`, rawBody })
      expectProblem(answer, 'bad_request')
    }
    expect((await shown()).custom_status).toBeNull()
  })

  test('[S3] an expiry may be an ISO 8601 string', async () => {
    const expiresAt = Date.now() + HOUR_MS
    for (const text of [new Date(expiresAt).toISOString(), offsetIso(expiresAt)]) {
      const { body } = await put(STATUS, { text: 'soon back', expires_at: text })
      expect(body.custom_status?.expires_at).toBe(expiresAt)
    }
  })
})

/** The same instant as the clock on a wall two hours further east shows it. */
const offsetIso = (at: number) => new Date(at + 2 * HOUR_MS).toISOString().replace('Z', '+02:00')

describe('availability', () => {
  const chosen = ['away', 'busy', 'invisible'] as const
  test.each(chosen)('[S1] %s stays until it is taken back', async (status) => {
    const answer = await put(AVAILABILITY, { status })
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({ availability: status, availability_expires_at: null })
    const back = await put(AVAILABILITY, { status: 'online' })
    expect(back.body).toMatchObject({ availability: 'auto', availability_expires_at: null })
  })

  test('[S1] what the own view says can be set again, over HTTP and WebSocket', async () => {
    const client = await connect(server.url, userId)
    for (const status of ['auto', 'away', 'busy', 'invisible', 'auto'] as const) {
      expect((await put(AVAILABILITY, { status })).body.availability).toBe(status)
      client.send({ type: 'set_availability', status: 'busy', ref: `busy before ${status}` })
      client.send({ type: 'set_availability', status, ref: status })
      await client.next('ok', ({ ref }) => ref === status)
      const again = await put(AVAILABILITY, { status })
      expect(again.body).toMatchObject({ availability: status, availability_expires_at: null })
    }
    client.close()
  })

  test('[S1] it is what others see of a connected user', async () => {
    const client = await connect(server.url, userId, { platform: 'web' })
    for (const status of ['busy', 'away', 'busy', 'online'] as const) {
      const { body } = await put(AVAILABILITY, { status })
      expect(body.status).toBe(status)
      expect((await shown()).status).toBe(status)
    }
    const hidden = await put(AVAILABILITY, { status: 'invisible' })
    expect(hidden.body).toMatchObject({ status: 'online', availability: 'invisible' })
    expect(await shown()).toMatchObject({ status: 'offline', devices: [], source: 'db' })
    client.close()
  })

  test('[S1] an expiry is kept, as number and as ISO 8601 string; automatic has none', async () => {
    const expiresAt = Date.now() + HOUR_MS
    for (const expires_at of [expiresAt, new Date(expiresAt).toISOString()]) {
      const { body } = await put(AVAILABILITY, { status: 'busy', expires_at })
      expect(body).toMatchObject({ availability: 'busy', availability_expires_at: expiresAt })
    }
    const { body } = await put(AVAILABILITY, { status: 'online', expires_at: expiresAt })
    expect(body).toMatchObject({ availability: 'auto', availability_expires_at: null })
  })
})

describe('refusals change nothing', () => {
  const past = () => Date.now() - 1_000
  // One for each code and route; input/schemas.test.ts has every bad value.
  const refused: [string, string, () => unknown, ErrorCode][] = [
    ['141 letters', STATUS, () => ({ text: 'x'.repeat(141) }), 'text_too_long'],
    ['a number for a text', STATUS, () => ({ text: 5, emoji: '🙂' }), 'bad_request'],
    ['an expiry in the past', STATUS, () => ({ text: 'new', expires_at: past() }), 'invalid_expiry'],
    ['a past expiry on clearing', STATUS, () => ({ expires_at: past() }), 'invalid_expiry'],
    ['a list', STATUS, () => [], 'bad_request'],
    ['status offline', AVAILABILITY, () => ({ status: 'offline' }), 'invalid_status'],
    ['busy until before', AVAILABILITY, () => ({ status: 'busy', expires_at: past() }), 'invalid_expiry'],
    ['a number', AVAILABILITY, () => 7, 'bad_request'],
  ]
  test.each(refused)('[S1, S3] %s', async (_, path, body, code) => {
    await put(AVAILABILITY, { status: 'away' })
    const before = (await put(STATUS, { text: 'before', emoji: '🙂' })).body
    const shownBefore = await shown()
    expectProblem(await put(path, body()), code)
    expect(await shown()).toEqual(shownBefore)
    // What is chosen now shows that nothing else was: the rest is still as it was before.
    const after = (await put(AVAILABILITY, { status: 'away' })).body
    expect(after).toEqual(before)
  })
})
