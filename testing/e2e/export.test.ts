// What an export holds besides the own view (X6): when each thing was chosen, whether it was
// chosen at all, sessions that are over but still count, and what others are shown meanwhile.
import { expect, test } from 'bun:test'
import type { Kept } from '../../packages/server/src/presence/people/person-kept.ts'
import { call } from '../http/calls.ts'
import { until, WAIT_MS } from '../services/within.ts'
import { putAs } from './erased-person.ts'
import { useScene } from './scene.ts'

const scene = useScene()
const ANNA = 'anna-q7x'

interface Export {
  presence: { status: string; sessions: object[] }
  settings: Record<string, unknown>
  kept: Kept
}

const exportOf = async (url: string, userId = ANNA) =>
  (await call<Export>(url, 'GET', `/api/v1/users/${userId}/export`, { token: 'dev' })).body

test('[X6] of an unknown user every part is empty', async () => {
  const { url } = await scene.server()
  const { kept } = await exportOf(url, 'unknown-q7x')
  expect(kept).toEqual({
    shown: {
      user_id: 'unknown-q7x',
      status: 'offline',
      last_seen: null,
      custom_status: null,
      devices: [],
      version: 0,
    },
    shown_since: null,
    last_seen: null,
    sessions: [],
    ended_sessions: [],
    availability: null,
    custom_status: null,
    away_after: null,
    privacy: null,
    history: null,
  })
})

test('[X6] every choice has its instant, and what was left to the server is told from what was chosen', async () => {
  const { url } = await scene.server()
  const before = Date.now()
  const expires_at = before + 3_600_000
  await putAs(url, ANNA, 'status', { text: 'at work', expires_at })
  await putAs(url, ANNA, 'availability', { status: 'busy' })
  await putAs(url, ANNA, 'settings', { last_seen_visibility: 'everyone', deny: ['mallory'] })
  const { kept, settings } = await exportOf(url)
  // Both are open to everyone; only one of them because the person said so.
  expect(settings).toMatchObject({ status_visibility: 'everyone', last_seen_visibility: 'everyone' })
  // Choices of one person are never of the same instant, so a stamp may be a little ahead.
  for (const chosen of [kept.custom_status, kept.availability, kept.privacy])
    expect(chosen!.set_at).toBeWithin(before, Date.now() + 10)
  const set_at = expect.any(Number)
  expect(kept).toMatchObject({
    custom_status: { text: 'at work', emoji: null, expires_at, set_at },
    availability: { status: 'busy', expires_at: null, set_at },
    away_after: null,
    privacy: {
      status_visibility: null,
      last_seen_visibility: 'everyone',
      reciprocal: false,
      last_seen_precision: 'exact',
      allow: [],
      deny: ['mallory'],
      set_at,
    },
  })
  await putAs(url, ANNA, 'settings', { away_after_ms: 60_000 })
  expect((await exportOf(url)).kept.away_after).toEqual({ away_after_ms: 60_000, set_at })
})

test('[X6] a session within its delay is there, and then its name for a while', async () => {
  const { url } = await scene.server({ offline_delay_ms: 60_000 })
  const anna = await scene.person(url, ANNA, { deviceId: 'laptop', platform: 'desktop' })
  const { session_id } = anna.welcome
  anna.close()
  await until(WAIT_MS, 'the end of the session', async () => {
    const { presence, kept } = await exportOf(url)
    return presence.sessions.length === 0 && kept.sessions[0]?.state === 'closed'
  })
  const { kept } = await exportOf(url)
  expect(kept.sessions).toEqual([
    {
      session_id,
      device_id: 'laptop',
      platform: 'desktop',
      gateway_id: expect.any(String),
      activity: 'active',
      connected_at: expect.any(Number),
      last_active_at: expect.any(Number),
      state: 'closed',
      ended_at: expect.any(Number),
    },
  ])
  await call(url, 'POST', '/api/v1/leave', { token: `dev:${ANNA}`, body: { device_id: 'laptop' } })
  const after = (await exportOf(url)).kept
  expect(after.sessions).toEqual([])
  expect(after.ended_sessions).toEqual([{ session_id, ended_at: expect.any(Number) }])
})

test('[X6] the export of an invisible user has what watchers see beside what is true', async () => {
  const { url } = await scene.server()
  await scene.person(url, ANNA)
  await putAs(url, ANNA, 'status', { text: 'for all' })
  await putAs(url, ANNA, 'availability', { status: 'invisible' })
  await putAs(url, ANNA, 'status', { text: 'unseen' })
  const { presence, kept } = await exportOf(url)
  expect(presence.status).toBe('online')
  const shown = (await call<object>(url, 'GET', `/api/v1/presence/${ANNA}`, { token: 'dev:bob' })).body
  expect({ ...kept.shown, source: 'db' }).toEqual(shown as never)
  expect(kept.shown).toMatchObject({ status: 'offline', custom_status: { text: 'for all' } })
  expect(kept.custom_status?.text).toBe('unseen')
})
