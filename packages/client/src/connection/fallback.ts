// The transport for networks that block WebSockets. Heartbeats are POST requests, presence comes as
// server-sent events, settings are PUT requests; to the link it is a transport like any other, with a welcome,
// answers and an end. Streams are read with fetch, because an EventSource cannot send a header and would put
// the token into the URL. Loaded on first use.
import type { ClientFrame, Failure, OwnPresence, Ref } from '@greendot/protocol'
import type { Runtime, Timer } from '../platform.ts'
import { createEventReader } from './sse.ts'
import type { Address, CloseReason, Dial, Incoming, Welcome } from './transport.ts'

/** Total length of ids in one URL. Servers accept 64 KB, proxies often less. */
const IDS_CHARS_MAX = 8_000
/** The default watch limit of a server. */
const IDS_PER_STREAM_MAX = 500
/** Servers send at least a comment every 15 s, so a stream that is silent for longer is dead. */
const STREAM_SILENCE_MS_MAX = 40_000
const AWAY_AFTER_MS = 300_000

type HeartbeatAnswer = Pick<Welcome, 'heartbeat_interval_ms' | 'heartbeat_ttl_ms' | 'server_time'> &
  Partial<Pick<Welcome, 'user_id' | 'away_after_ms' | 'self'>>

export function httpDial(runtime: Runtime, { url, deviceId, platform }: Address): Dial {
  return ({ token, activity }, on) => {
    const ending = new AbortController()
    /** Watched ids and the last known version of each. */
    const versions = new Map<string, number | undefined>()
    /** Watch frames that are answered with the next complete snapshot. */
    let pending: PendingWatch[] = []
    let streams: AbortController | null = null
    let nextStreams: AbortController | null = null
    let opening: 'no' | 'now' | 'now and again' = 'no'

    function end(why: CloseReason): void {
      if (ending.signal.aborted) return
      close()
      on.closed(why)
    }

    function close(): void {
      ending.abort()
      streams?.abort()
      nextStreams?.abort()
    }

    const deliver = (frame: Incoming) => ending.signal.aborted || on.frame(frame)

    function request(path: string, init: RequestInit = {}): Promise<Response> {
      const headers = { authorization: `Bearer ${token}`, ...init.headers }
      return runtime.fetch(url + path, { signal: ending.signal, cache: 'no-store', ...init, headers })
    }

    const post = (path: string, body: object, method = 'POST') =>
      request(path, { method, body: JSON.stringify(body) })

    /** Null if the request succeeded. A 401 also ends the connection. */
    async function failureOf(response: Response): Promise<Failure | null> {
      if (response.ok) return null
      const { code, detail } = await response.json()
      const failure: Failure = { code, message: detail }
      if (response.status === 401) {
        deliver({ type: 'error', ...failure })
        end('refused')
      }
      return failure
    }

    async function beat(frame: { activity: ClientActivity }): Promise<HeartbeatAnswer | null> {
      const body = { device_id: deviceId, platform, activity: frame.activity }
      const response = await post('/api/v1/heartbeat', body)
      const failure = await failureOf(response)
      if (failure === null) return response.json()
      deliver({ type: 'error', ...failure })
      end(failure.code === 'forbidden' ? 'disconnected' : response.status === 429 ? 'too_often' : 'lost')
      return null
    }

    async function begin(): Promise<void> {
      const answer = await beat({ activity })
      if (answer === null) return
      deliver({
        user_id: null,
        away_after_ms: AWAY_AFTER_MS,
        self: null,
        ...answer,
        type: 'welcome',
        session_id: `http-${answer.server_time}`,
        device_id: deviceId,
      })
    }

    async function put(path: string, { ref, type: _, ...body }: ClientFrame): Promise<void> {
      const response = await post(path, body, 'PUT')
      const failure = await failureOf(response)
      if (failure === null) deliver({ type: 'self', presence: (await response.json()) as OwnPresence })
      answer(ref, failure)
    }

    function answer(ref: Ref | undefined, failure: Failure | null = null): void {
      if (ref === undefined) return
      deliver(failure === null ? { type: 'ok', ref } : { type: 'error', ...failure, ref })
    }

    /** One run at a time; a call during a run starts another one after it. */
    async function openStreams(): Promise<void> {
      if (opening !== 'no') {
        opening = 'now and again'
        return
      }
      do {
        opening = 'now'
        // All frames sent in this turn are covered by one stream.
        await null
        await openOnce()
        // @ts-expect-error another call may have set it during the await
      } while (opening === 'now and again')
      opening = 'no'
    }

    /** The current stream stays open until the next one is complete; if that fails, the current one stays. */
    async function openOnce(): Promise<void> {
      const granted = pending
      pending = []
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

    /** Resolves once the snapshot is complete; later events are delivered as they come. */
    async function open(ids: readonly string[], signal: AbortSignal): Promise<Failure | null> {
      const known = ids.map((id) => versions.get(id))
      // An event id is the version of each target in the order requested, in base 36. Sending the known
      // versions in this form resumes from them.
      const resume = known.every((version) => version !== undefined)
        ? { 'last-event-id': known.map((version) => version!.toString(36)).join('.') }
        : {}
      const query = `user_ids=${ids.map(encodeURIComponent).join(',')}`
      const response = await request(`/api/v1/stream?${query}`, { headers: resume, signal })
      const failure = await failureOf(response)
      // Another server may be able to answer.
      if (response.status >= 500) end('lost')
      if (failure !== null) return failure
      return new Promise((resolve) => void read(response.body!, signal, () => resolve(null)))
    }

    async function read(body: ReadableStream<Uint8Array>, signal: AbortSignal, onSnapshot: () => void) {
      const decoder = new TextDecoder()
      const reader = body.getReader()
      const events = createEventReader((data) => {
        const frame: Incoming = JSON.parse(data)
        const presences =
          frame.type === 'presence_state'
            ? frame.states
            : frame.type === 'presence_change'
              ? frame.changes
              : []
        for (const { user_id, version } of presences)
          if (versions.has(user_id)) versions.set(user_id, version)
        deliver(frame)
        // The last frame of a stream that the backend of the app ended.
        if (frame.type === 'error') end('disconnected')
        // The snapshot is the first event, and it comes in one piece.
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
        // Aborted by this client or cut by the network; told apart below.
      }
      silence?.stop()
      if (!signal.aborted) end('lost')
    }

    function send(frame: ClientFrame): Promise<void> | void {
      switch (frame.type) {
        case 'heartbeat':
          return beat(frame).then((answered) => {
            if (answered?.self) deliver({ type: 'self', presence: answered.self })
            answer(frame.ref)
          })
        case 'watch':
          for (const id of frame.user_ids) versions.set(id, frame.known?.[id])
          pending.push({ ref: frame.ref, ids: frame.user_ids })
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

interface PendingWatch {
  ref: Ref | undefined
  ids: readonly string[]
}

type ClientActivity = Extract<ClientFrame, { type: 'heartbeat' }>['activity']

/** Splits ids into lists that fit into a URL each. No ids: no list and no stream. */
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
