// What tests of privacy do and look at: users choose their audience, the app's backend edits contact lists, a
// viewer watches by WebSocket and by stream. Every edit here is answered before it returns, and `untilDelivered`
// returns when what was announced before it has reached every watcher.
import { expect } from 'bun:test'
import type { OwnPresence, Presence, QueriedPresence, Settings } from '@greendot/protocol'
import { call, type Person, type Scene, watch } from '../scene.ts'
import { type Ear, openStreamEar } from './stream.ts'

/** How much of a target a viewer may see. `status` is everything but the last seen. */
export type ViewLevel = 'everything' | 'approximate' | 'status' | 'nothing'

/** What a user chooses; null returns to the server's default. */
export type Chosen = { [Key in keyof Settings]?: Settings[Key] | null }

export const SERVER_KEY = 'dev'
const MARKER = 'marker'

/** A hidden user, and an unknown one. */
export function hidden(userId: string, hiddenAs: 'offline' | null = 'offline'): Presence {
  return { user_id: userId, status: hiddenAs, last_seen: null, custom_status: null, devices: [], version: 0 }
}

/** The truth about a user who was here within the last three days, as far as it is seen. */
export function seenAs(truth: Presence, level: ViewLevel, hiddenAs: 'offline' | null = 'offline'): Presence {
  switch (level) {
    case 'everything':
      return truth
    case 'approximate':
      return { ...truth, last_seen: null, last_seen_bucket: 'recently' }
    case 'status':
      return { ...truth, last_seen: null }
    case 'nothing':
      return hidden(truth.user_id, hiddenAs)
  }
}

/** What others may see at most, from what the person sees. */
export function openPart(own: OwnPresence): Presence {
  const { availability, availability_expires_at, sessions, ...presence } = own
  return presence
}

export async function choose(url: string, userId: string, chosen: Chosen): Promise<Settings> {
  const { status, body } = await call<Settings>(
    url,
    `dev:${userId}`,
    'PUT',
    '/api/v1/presence/settings',
    chosen,
  )
  expect(status).toBe(200)
  return body
}

/** Sets a custom status and returns the truth about its user. */
export async function say(url: string, userId: string, text: string): Promise<Presence> {
  const { status, body } = await call<OwnPresence>(url, `dev:${userId}`, 'PUT', '/api/v1/presence/status', {
    text,
  })
  expect(status).toBe(200)
  return openPart(body)
}

/** Ends every session of the device, cleanly, and returns when that was announced. */
export async function leave(url: string, userId: string, deviceId: string): Promise<void> {
  const body = { device_id: deviceId }
  expect((await call(url, `dev:${userId}`, 'POST', '/api/v1/leave', body)).status).toBe(204)
}

/** The truth, as the app's backend reads it. */
export async function truthOf(url: string, userId: string): Promise<Presence> {
  const { body } = await call<QueriedPresence>(url, SERVER_KEY, 'GET', `/api/v1/presence/${userId}`)
  const { source, ...presence } = body
  return presence
}

type Edit = 'PUT' | 'POST' | 'DELETE'

export async function editContacts(
  url: string,
  method: Edit,
  ownerId: string,
  userIds: readonly string[],
): Promise<void> {
  const body = { user_ids: userIds }
  const { status } = await call(url, SERVER_KEY, method, `/api/v1/users/${ownerId}/contacts`, body)
  expect(status).toBe(204)
}

/** One viewer who watches by both ways. */
export interface Audience {
  socket: Person
  ears: Ear[]
}

/** Watches these, and whatever `untilDelivered` needs, by a stream and by a WebSocket. */
export async function openAudience(
  scene: Scene,
  url: string,
  viewerId: string,
  userIds: readonly string[],
): Promise<Audience> {
  const watched = [...userIds, MARKER]
  // Also where users are hidden unless they choose otherwise.
  await choose(url, MARKER, { status_visibility: 'everyone' })
  // The stream first: it has to find out by itself what its viewer shows in return.
  const stream = await openStreamEar(url, viewerId, watched)
  scene.onEnd(stream.close)
  const socket = await scene.person(url, viewerId)
  await watch(socket, watched)
  return { socket, ears: [socket, stream] }
}

let marks = 0

/** Returns when what was announced before has reached these, who watch the marker. */
export async function untilDelivered(url: string, ears: readonly Ear[]): Promise<void> {
  const text = `mark ${++marks}`
  await say(url, MARKER, text)
  await Promise.all(ears.map((ear) => ear.sees(MARKER, says(text))))
}

export const says = (text: string | null) => (presence: Presence) =>
  (presence.custom_status?.text ?? null) === text

export const isHidden = ({ version }: Presence) => version === 0

/** What each watcher was told of a target since its position. */
export function toldSince(ears: readonly Ear[], since: readonly number[], userId: string): Presence[][] {
  return ears.map((ear, index) => ear.sightings(userId, since[index]).map(({ presence }) => presence))
}

/** The point in time that `toldSince` counts from. */
export const positions = (ears: readonly Ear[]): number[] => ears.map(({ heard }) => heard.length)
