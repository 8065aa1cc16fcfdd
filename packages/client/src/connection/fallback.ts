// Where WebSockets are blocked: a connection made of plain requests. Heartbeats are posted, people come as
// server-sent events, and choices are put; from outside it is a transport like any other, with a welcome,
// answers and an end. Streams are read with fetch, because an EventSource takes no header and would put
// the token into URLs. Loaded only when it is needed.
import type { ClientFrame, Failure, OwnPresence, Ref } from '@greendot/protocol'
import type { Runtime, Timer } from '../platform.ts'
import { createEventReader } from './sse.ts'
import type { Address, Dial, Ending, Incoming, Welcome } from './transport.ts'

/** Of ids in one URL. Servers take 64 KB with everything else in it, proxies often less. */
const IDS_CHARS_MAX = 8_000
/** What a server lets one connection watch, unless it was told otherwise. */
const IDS_PER_STREAM_MAX = 500
/** Servers send something at least every 15 s, so a stream that is silent for longer is dead. */
const STREAM_SILENCE_MS_MAX = 40_000
const AWAY_AFTER_MS = 300_000

type HeartbeatAnswer = Pick<Welcome, 'heartbeat_interval_ms' | 'heartbeat_ttl_ms' | 'server_time'> &
  Partial<Pick<Welcome, 'user_id' | 'away_after_ms' | 'self'>>

export function httpDial(runtime: Runtime, { url, deviceId, platform }: Address): Dial {
  return ({ token, activity }, on) => {
    const ending = new AbortController()
    /** Everybody watched, and the version we know of them. */
    const versions = new Map<string, number | undefined>()
    /** Wishes that are answered with the next complete snapshot. */
    let wishes: Wish[] = []
    let streams: AbortController | null = null
    let nextStreams: AbortController | null = null
    let opening: 'no' | 'now' | 'now and again' = 'no'

    function end(why: Ending): void {
      if (ending.signal.aborted) return
      close()
      on.closed(why)
    }

    function close(): void {
      ending.abort()
      streams?.abort()
      nextStreams?.abort()
    }

    const hear = (frame: Incoming) => ending.signal.aborted || on.frame(frame)

    function request(path: string, init: RequestInit = {}): Promise<Response> {
      const headers = { authorization: `Bearer ${token}`, ...init.headers }
      return runtime.fetch(url + path, { signal: ending.signal, cache: 'no-store', ...init, headers })
    }

    const post = (path: string, body: object, method = 'POST') =>
      request(path, { method, body: JSON.stringify(body) })

    /** Null when it went well; otherwise why not, and without any access the connection has ended. */
    async function failureOf(response: Response): Promise<Failure | null> {
      if (response.ok) return null
      const { code, detail } = await response.json()
      const failure: Failure = { code, message: detail }
      if (response.status === 401) {
        hear({ type: 'error', ...failure })
        end('refused')
      }
      return failure
    }

    async function beat(frame: { activity: ClientActivity }): Promise<HeartbeatAnswer | null> {
      const body = { device_id: deviceId, platform, activity: frame.activity }
      const response = await post('/api/v1/heartbeat', body)
      const failure = await failureOf(response)
      if (failure === null) return response.json()
      hear({ type: 'error', ...failure })
      end(response.status === 429 ? 'too_often' : 'lost')
      return null
    }

    async function begin(): Promise<void> {
      const answer = await beat({ activity })
      if (answer === null) return
      hear({
        user_id: null,
        away_after_ms: AWAY_AFTER_MS,
        self: null,
        ...answer,
        type: 'welcome',
        session_id: `http-${answer.server_time}`,
        device_id: deviceId,
      })
    }

    async function put(path: string, { ref, ...body }: ClientFrame): Promise<void> {
      const response = await post(path, body, 'PUT')
      const failure = await failureOf(response)
      if (failure === null) hear({ type: 'self', presence: (await response.json()) as OwnPresence })
      answer(ref, failure)
    }

    function answer(ref: Ref | undefined, failure: Failure | null = null): void {
      if (ref === undefined) return
      hear(failure === null ? { type: 'ok', ref } : { type: 'error', ...failure, ref })
    }

    /** One at a time, and with all the wishes that came meanwhile. */
    async function openStreams(): Promise<void> {
      if (opening !== 'no') {
        opening = 'now and again'
        return
      }
      do {
        opening = 'now'
        // The frames of this turn belong together.
        await null
        await openOnce()
        // @ts-expect-error it may have been set again while we waited
      } while (opening === 'now and again')
      opening = 'no'
    }

    /** The stream before goes on until there is a new one, and stays when there will be none. */
    async function openOnce(): Promise<void> {
      const granted = wishes
      wishes = []
      const next = new AbortController()
      nextStreams = next
      const outcomes = await Promise.all(idLists([...versions.keys()]).map((ids) => open(ids, next.signal)))
      const failure = outcomes.find((outcome) => outcome !== null) ?? null
      if (failure === null) {
        streams?.abort()
        streams = next
      } else {
        next.abort()
        for (const { ids } of granted) for (const id of ids) versions.delete(id)
      }
      for (const { ref } of granted) answer(ref, failure)
    }

    /** Resolves once the snapshot is complete; what follows is heard as it comes. */
    async function open(ids: readonly string[], signal: AbortSignal): Promise<Failure | null> {
      const known = ids.map((id) => versions.get(id))
      // The id of an event is the version of everybody in the order asked for, in base 36: what we know is
      // what the last event of any stream would have told.
      const resume = known.every((version) => version !== undefined)
        ? { 'last-event-id': known.map((version) => version!.toString(36)).join('.') }
        : {}
      const query = `user_ids=${ids.map(encodeURIComponent).join(',')}`
      const response = await request(`/api/v1/stream?${query}`, { headers: resume, signal })
      const failure = await failureOf(response)
      // A server that cannot, or will not any more: the next one may.
      if (response.status >= 500) end('lost')
      if (failure !== null) return failure
      return new Promise((resolve) => void read(response.body!, signal, () => resolve(null)))
    }

    async function read(body: ReadableStream<Uint8Array>, signal: AbortSignal, onSnapshot: () => void) {
      const decoder = new TextDecoder()
      const reader = body.getReader()
      const events = createEventReader((data) => {
        const frame: Incoming = JSON.parse(data)
        const told =
          frame.type === 'presence_state'
            ? frame.states
            : frame.type === 'presence_change'
              ? frame.changes
              : []
        for (const { user_id, version } of told) if (versions.has(user_id)) versions.set(user_id, version)
        hear(frame)
        // It comes first, and for as many as these in one part.
        if (frame.type === 'presence_state') onSnapshot()
      })
      let silence: Timer | undefined
      try {
        for (;;) {
          silence = runtime.after(STREAM_SILENCE_MS_MAX, () => void reader.cancel())
          const { done, value } = await reader.read()
          silence.stop()
          if (done || signal.aborted) break
          events.take(decoder.decode(value, { stream: true }))
        }
      } catch {
        // Cut off, by us or by the network; which of the two is looked at below.
      }
      silence?.stop()
      if (!signal.aborted) end('lost')
    }

    function send(frame: ClientFrame): Promise<void> | void {
      switch (frame.type) {
        case 'heartbeat':
          return beat(frame).then((told) => {
            if (told?.self) hear({ type: 'self', presence: told.self })
            answer(frame.ref)
          })
        case 'watch':
          for (const id of frame.user_ids) versions.set(id, frame.known?.[id])
          wishes.push({ ref: frame.ref, ids: frame.user_ids })
          return openStreams()
        case 'unwatch':
          for (const id of frame.user_ids) versions.delete(id)
          answer(frame.ref)
          return openStreams()
        case 'set_availability':
          return put('/api/v1/presence/availability', frame)
        case 'set_custom_status':
          return put('/api/v1/presence/status', frame)
        case 'leave':
          return post('/api/v1/leave', { device_id: deviceId }).then(() => end('left'))
        default:
          return answer(frame.ref, { code: 'unknown_type', message: `no ${frame.type} without WebSockets` })
      }
    }

    begin().catch(() => end('lost'))
    return {
      send(frame) {
        Promise.resolve(send(frame)).catch(() => end('lost'))
      },
      close,
    }
  }
}

interface Wish {
  ref: Ref | undefined
  ids: readonly string[]
}

type ClientActivity = Extract<ClientFrame, { type: 'heartbeat' }>['activity']

/** Lists that fit into a URL each. Without anybody there is none, and no stream. */
function idLists(ids: readonly string[]): string[][] {
  const lists: string[][] = []
  let room = 0
  for (const id of ids) {
    const length = encodeURIComponent(id).length + 1
    if (length > room || lists.at(-1)?.length === IDS_PER_STREAM_MAX) {
      lists.push([])
      room = IDS_CHARS_MAX
    }
    room -= length
    lists.at(-1)!.push(id)
  }
  return lists
}
