// A bare client for tests: sends what it is told, keeps every frame with the time it came, and lets
// a test wait for the frame it expects instead of sleeping.
import {
  decodeServerFrame,
  type Encoding,
  type Presence,
  type ServerFrame,
  SUBPROTOCOL_COMPACT,
} from '@greendot/protocol'
import { WAIT_MS } from '../services/within.ts'
import { createHearing, type Ear } from './hearing.ts'

type FrameOf<T extends ServerFrame['type']> = Extract<ServerFrame, { type: T }>

export interface TestClient extends Ear {
  socket: WebSocket
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
  closed: Promise<{ code: number; reason: string; at: number }>
  close(): void
}

export interface ClientOptions {
  token?: string
  deviceId?: string
  platform?: string
  query?: string
  /** Compact is negotiated; JSON is what a server speaks otherwise. */
  encoding?: Encoding
  /** The certificate to trust, for wss. */
  tls?: { ca: string }
}

export function webSocketUrl(url: string, userId: string, options: ClientOptions = {}): string {
  const query = new URLSearchParams({ token: options.token ?? `dev:${userId}` })
  if (options.deviceId !== undefined) query.set('device_id', options.deviceId)
  if (options.platform !== undefined) query.set('platform', options.platform)
  return `${url.replace('http', 'ws')}/api/v1/ws?${query}${options.query ?? ''}`
}

/** Bun takes them as the second argument; the types of the DOM have only protocols there. */
const socketOptions = ({ tls, encoding }: ClientOptions) =>
  ({
    ...(tls ? { tls } : {}),
    ...(encoding === 'compact' ? { protocols: [SUBPROTOCOL_COMPACT] } : {}),
  }) as unknown as string[]

/** Connects without waiting for the welcome: for tests of refusals. */
export function openClient(url: string, userId: string, options: ClientOptions = {}): TestClient {
  const socket = new WebSocket(webSocketUrl(url, userId, options), socketOptions(options))
  const { heard, hear, until, sightings, sees } = createHearing(userId)
  const taken = new Set<ServerFrame>()
  socket.onmessage = ({ data }) => hear(decodeServerFrame(String(data)))
  const closed = new Promise<{ code: number; reason: string; at: number }>((resolve) => {
    socket.onclose = ({ code, reason }) => resolve({ code, reason, at: Date.now() })
  })

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
    sees: (userId, accept, options) => sees(userId, accept, { withinMs: WAIT_MS, ...options }),
    closed,
    close: () => socket.close(),
  }
}

export async function connect(url: string, userId: string, options: ClientOptions = {}): Promise<TestClient> {
  const client = openClient(url, userId, options)
  await client.next('welcome')
  return client
}
