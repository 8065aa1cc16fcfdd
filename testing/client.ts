// A bare client for tests: sends what it is told, keeps every frame with the time it came, and lets
// a test wait for the frame it expects instead of sleeping.
import type { Presence, ServerFrame } from '@greendot/protocol'

type FrameOf<T extends ServerFrame['type']> = Extract<ServerFrame, { type: T }>

export interface Heard {
  frame: ServerFrame
  at: number
}

/** One user as a client was told of them, by a state or a change. */
export interface Sighting {
  presence: Presence
  at: number
}

export interface SightingOptions {
  /** Position in `heard` to look from: what came before it does not count. */
  since?: number
  withinMs?: number
}

export interface TestClient {
  socket: WebSocket
  heard: Heard[]
  welcome: FrameOf<'welcome'>
  send(frame: object | string): void
  /** Resolves with the first frame, heard already or still to come, that is accepted and was not taken before. */
  next<T extends ServerFrame['type']>(
    type: T,
    accept?: (frame: FrameOf<T>) => boolean,
    withinMs?: number,
  ): Promise<FrameOf<T>>
  /** The next pushed change of one user that is accepted. */
  change(userId: string, accept?: (presence: Presence) => boolean, withinMs?: number): Promise<Presence>
  /** Every state and change of one user heard so far, in order. Takes nothing. */
  sightings(userId: string, since?: number): Sighting[]
  /** Resolves with the first sighting, past or to come, that is accepted. Takes nothing. */
  sees(userId: string, accept: (presence: Presence) => boolean, options?: SightingOptions): Promise<Sighting>
  closed: Promise<{ code: number; reason: string; at: number }>
  close(): void
}

export interface ClientOptions {
  token?: string
  deviceId?: string
  platform?: string
  query?: string
}

const WAIT_MS = 5_000

export function webSocketUrl(url: string, userId: string, options: ClientOptions = {}): string {
  const query = new URLSearchParams({ token: options.token ?? `dev:${userId}` })
  if (options.deviceId !== undefined) query.set('device_id', options.deviceId)
  if (options.platform !== undefined) query.set('platform', options.platform)
  return `${url.replace('http', 'ws')}/api/v1/ws?${query}${options.query ?? ''}`
}

/** Connects without waiting for the welcome: for tests of refusals. */
export function openClient(url: string, userId: string, options: ClientOptions = {}): TestClient {
  const socket = new WebSocket(webSocketUrl(url, userId, options))
  const heard: Heard[] = []
  const taken = new Set<ServerFrame>()
  const listeners = new Set<() => void>()
  socket.onmessage = ({ data }) => {
    heard.push({ frame: JSON.parse(String(data)), at: Date.now() })
    for (const listen of [...listeners]) listen()
  }
  const closed = new Promise<{ code: number; reason: string; at: number }>((resolve) => {
    socket.onclose = ({ code, reason }) => resolve({ code, reason, at: Date.now() })
  })

  /** Looks now and after every frame, until there is something to find. */
  function until<T>(what: string, withinMs: number, find: () => T | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        listeners.delete(look)
        const all = heard.map(({ frame }) => JSON.stringify(frame)).join('\n  ')
        reject(new Error(`${userId} waited ${withinMs} ms for ${what}; heard\n  ${all}`))
      }, withinMs)
      function look(): void {
        const found = find()
        if (found === undefined) return
        listeners.delete(look)
        clearTimeout(timer)
        resolve(found)
      }
      listeners.add(look)
      look()
    })
  }

  function next<T extends ServerFrame['type']>(
    type: T,
    accept: (frame: FrameOf<T>) => boolean = () => true,
    withinMs = WAIT_MS,
  ): Promise<FrameOf<T>> {
    return until(type, withinMs, () => {
      const found = heard.find(
        ({ frame }) => frame.type === type && !taken.has(frame) && accept(frame as FrameOf<T>),
      )
      if (found === undefined) return undefined
      taken.add(found.frame)
      return found.frame as FrameOf<T>
    })
  }

  function sightings(ofUser: string, since = 0): Sighting[] {
    return heard.slice(since).flatMap(({ frame, at }) =>
      presencesIn(frame)
        .filter((presence) => presence.user_id === ofUser)
        .map((presence) => ({ presence, at })),
    )
  }

  return {
    socket,
    heard,
    get welcome(): FrameOf<'welcome'> {
      const first = heard[0]?.frame
      if (first?.type !== 'welcome') throw new Error('no welcome yet')
      return first
    },
    send: (frame) => socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame)),
    next,
    async change(userId, accept = () => true, withinMs = WAIT_MS) {
      const matches = (presence: Presence) => presence.user_id === userId && accept(presence)
      const frame = await next('presence_change', ({ changes }) => changes.some(matches), withinMs)
      return frame.changes.find(matches) as Presence
    },
    sightings,
    sees: (ofUser, accept, { since = 0, withinMs = WAIT_MS } = {}) =>
      until(`a sighting of ${ofUser}`, withinMs, () =>
        sightings(ofUser, since).find(({ presence }) => accept(presence)),
      ),
    closed,
    close: () => socket.close(),
  }
}

function presencesIn(frame: ServerFrame): Presence[] {
  if (frame.type === 'presence_state') return frame.states
  return frame.type === 'presence_change' ? frame.changes : []
}

export async function connect(url: string, userId: string, options: ClientOptions = {}): Promise<TestClient> {
  const client = openClient(url, userId, options)
  await client.next('welcome')
  return client
}
