// A user's data: all of it in the export, none of it anywhere after the erasure. An erased user is an unknown
// user for every route, every watcher and the database.
import { describe, expect, test } from 'bun:test'
import type { OwnPresence, Presence, QueriedPresence } from '@greendot/protocol'
import type { Kept } from '../../packages/server/src/presence/people/person-kept.ts'
import { call, unknown } from '../http/calls.ts'
import {
  appearance,
  erase,
  explanations,
  liveFully,
  nextMillisecond,
  putAs,
  rowsThatMention,
  watcherOf,
} from './erased-person.ts'
import { ask, isOnline, useScene } from './scene.ts'
import { openStream } from './stream-client.ts'

const scene = useScene()
const ANNA = 'anna-q7x'
/** Quotes, a backslash and wildcards of SQL. */
const ODD = `a"n'n\\%_*`

interface Export {
  user_id: string
  exported_at: number
  presence: OwnPresence
  settings: object
  kept: Kept
  contacts: string[]
  contact_of: string[]
  history: object[]
  disconnects: object[]
}

const exportOf = async (url: string, userId: string) =>
  (await call<Export>(url, 'GET', `/api/v1/users/${encodeURIComponent(userId)}/export`, { token: 'dev' }))
    .body
const read = async (url: string, userId: string) =>
  (
    await call<QueriedPresence>(url, 'GET', `/api/v1/presence/${encodeURIComponent(userId)}`, {
      token: 'dev',
    })
  ).body
const connections = async (url: string) =>
  (await call<{ connections: number }>(url, 'GET', '/api/v1/stats', { token: 'dev' })).body.connections
const versionsOf = (sightings: readonly { presence: Presence }[]) =>
  sightings.map(({ presence }) => presence.version)

describe('the export', () => {
  test('[X6] holds all there is: presence, choices, contacts both ways', async () => {
    const startedAt = Date.now()
    const { url } = await scene.server({ history_days: 30 })
    const { settings, text } = await liveFully(scene, url, ANNA)
    const { presence, exported_at, kept, ...rest } = await exportOf(url, ANNA)
    expect(rest).toEqual({
      user_id: ANNA,
      settings,
      contacts: ['bob', 'carol', 'dave'],
      contact_of: ['bob', 'carol', 'dave'],
      disconnects: [],
      history: [{ status: 'busy', from: expect.any(Number), to: null, devices: expect.any(Array) }],
    })
    expect(exported_at).toBeWithin(startedAt, Date.now() + 1)
    // What is in it is looked at in export.test.ts.
    expect(kept).toMatchObject({ custom_status: { text }, privacy: { allow: ['eve'], deny: ['mallory'] } })
    expect(presence).toMatchObject({
      user_id: ANNA,
      status: 'busy',
      custom_status: { text, emoji: '🦖', expires_at: expect.any(Number) },
      availability: 'busy',
      availability_expires_at: expect.any(Number),
      last_seen: expect.any(Number),
    })
    expect(presence.sessions.map(({ device_id, platform }) => [device_id, platform]).sort()).toEqual([
      [`laptop-of-${ANNA}`, 'desktop'],
      [`phone-of-${ANNA}`, 'mobile'],
    ])
  })
})

describe('the erasure', () => {
  test('[X6] closes every connection of the user and no other', async () => {
    const { url } = await scene.server()
    const bob = await watcherOf(scene, url, 'bob', ['carol'])
    const { socket, stream } = await liveFully(scene, url, ANNA)
    expect((await erase(url, ANNA)).status).toBe(204)
    expect(await socket.closed).toMatchObject({ code: 4401, reason: 'erased' })
    expect(socket.heard.at(-1)!.frame).toMatchObject({ type: 'error', code: 'unauthorized' })
    expect((await stream.ended).how).toBe('whole')
    expect(await connections(url)).toBe(1)
    await ask(bob, { type: 'heartbeat', activity: 'active' })
  })

  test('[X6] also of a user without watchers', async () => {
    const { url } = await scene.server()
    const socket = await scene.person(url, ANNA)
    const body = { device_id: 'phone', platform: 'mobile', activity: 'active' }
    await call(url, 'POST', '/api/v1/heartbeat', { token: `dev:${ANNA}`, body })
    expect(await connections(url)).toBe(2)
    await erase(url, ANNA)
    expect(await socket.closed).toMatchObject({ code: 4401 })
    expect(await connections(url)).toBe(0)
  })

  test('[X6] every route answers as for an unknown user, to the byte', async () => {
    const { url } = await scene.server({ history_days: 30 })
    await liveFully(scene, url, ANNA)
    const before = await appearance(url, ANNA)
    await erase(url, ANNA)
    const after = await appearance(url, ANNA)
    expect(after).toEqual(await appearance(url, 'never-q7x'))
    // Whatever was compared did tell something.
    const changed = Object.keys(after).filter((way) => after[way] !== before[way])
    expect(changed.length).toBeGreaterThan(6)
    expect(await read(url, ANNA)).toEqual(unknown(ANNA) as never)
  })

  test('[X6, S7] and no explanation knows better', async () => {
    const { url } = await scene.server()
    await liveFully(scene, url, ANNA)
    await erase(url, ANNA)
    const never = await appearance(url, 'never-q7x', explanations)
    expect(await appearance(url, ANNA, explanations)).toEqual(never)
  })

  test.each([ANNA, ODD])('[X6] no row of any table mentions %s or what they said', async (userId) => {
    const server = await scene.server({ history_days: 30 })
    const { text, socket } = await liveFully(scene, server.url, userId)
    expect(rowsThatMention(server, userId).length).toBeGreaterThan(8)
    expect(rowsThatMention(server, text)).not.toEqual([])
    await erase(server.url, userId)
    await socket.closed
    expect(rowsThatMention(server, userId)).toEqual([])
    expect(rowsThatMention(server, text)).toEqual([])
  })

  test('[X6] the lists of others no longer name them, and are otherwise as they were', async () => {
    const { url } = await scene.server()
    await liveFully(scene, url, ANNA)
    const settingsOf = async (userId: string) =>
      (await call<object>(url, 'GET', `/api/v1/users/${userId}/settings`, { token: 'dev' })).body
    const [bob, carol] = [await settingsOf('bob'), await settingsOf('carol')]
    await erase(url, ANNA)
    expect(await settingsOf('bob')).toEqual({ ...bob, allow: ['zoe'] })
    expect(await settingsOf('carol')).toEqual({ ...carol, deny: [] })
    for (const friend of ['bob', 'carol', 'dave'])
      expect(await exportOf(url, friend)).toMatchObject({ contacts: ['zoe'], contact_of: [] })
  })

  test('[X6] watchers and followers get version 0 once, by socket and stream; a viewer who saw nothing gets nothing', async () => {
    const { url } = await scene.server()
    await putAs(url, 'dave', 'contacts', { user_ids: [ANNA, 'marker'] })
    await putAs(url, ANNA, 'settings', { deny: ['mallory'] })
    await scene.person(url, ANNA)
    const bob = await watcherOf(scene, url, 'bob', [ANNA, 'marker'])
    const mallory = await watcherOf(scene, url, 'mallory', [ANNA, 'marker'])
    const dave = await scene.person(url, 'dave')
    await ask(dave, { type: 'watch_contacts' })
    const erin = await openStream(url, 'erin', [ANNA, 'marker'])
    scene.onEnd(erin.close)
    const known = (await read(url, ANNA)).version
    await erase(url, ANNA)
    for (const viewer of [bob, mallory]) await scene.mark(viewer, url)
    for (const viewer of [dave, erin]) await viewer.sees('marker', ({ version }) => version > 0)
    expect(versionsOf(bob.sightings(ANNA))).toEqual([known, 0])
    // Erased, and taken off the list: the second may come by itself, and says the same.
    expect([
      [known, 0],
      [known, 0, 0],
    ]).toContainEqual(versionsOf(dave.sightings(ANNA)))
    expect(erin.sightings(ANNA).map(({ version }) => version)).toEqual([known, 0])
    expect(versionsOf(mallory.sightings(ANNA))).toEqual([0])
    expect(bob.sightings(ANNA)[1]!.presence).toEqual({
      user_id: ANNA,
      status: 'offline',
      last_seen: null,
      custom_status: null,
      devices: [],
      version: 0,
    })
  })

  test('[X6] a user who followed them as a contact does not follow them when they come back', async () => {
    const { url } = await scene.server()
    await putAs(url, 'dave', 'contacts', { user_ids: [ANNA, 'zoe'] })
    const dave = await scene.person(url, 'dave')
    await ask(dave, { type: 'watch_contacts' })
    const bob = await watcherOf(scene, url, 'bob', [ANNA])
    await scene.person(url, ANNA)
    await dave.sees(ANNA, isOnline)
    const beforeErasure = dave.heard.length
    await erase(url, ANNA)
    await dave.sees(ANNA, ({ version }) => version === 0, { since: beforeErasure })
    await nextMillisecond()
    const since = bob.heard.length
    await scene.person(url, ANNA)
    await bob.sees(ANNA, isOnline, { since })
    // Whatever dave was to hear of it he would have heard before his answer.
    await ask(dave, { type: 'watch', user_ids: ['zoe'] })
    expect(new Set(versionsOf(dave.sightings(ANNA, beforeErasure)))).toEqual(new Set([0]))
  })

  test('[X6] erasing twice, and erasing an unknown user, succeed and change nothing', async () => {
    const server = await scene.server()
    const { socket } = await liveFully(scene, server.url, ANNA)
    const statuses = [
      await erase(server.url, ANNA),
      await erase(server.url, ANNA),
      await erase(server.url, 'unknown-q7x'),
      ...(await Promise.all([1, 2, 3].map(() => erase(server.url, ANNA)))),
    ].map(({ status }) => status)
    expect(new Set(statuses)).toEqual(new Set([204]))
    await socket.closed
    const never = await appearance(server.url, 'never-q7x')
    expect(await appearance(server.url, ANNA)).toEqual(never)
    expect(await appearance(server.url, 'unknown-q7x')).toEqual(never)
    expect([...rowsThatMention(server, ANNA), ...rowsThatMention(server, 'unknown-q7x')]).toEqual([])
  })
})
