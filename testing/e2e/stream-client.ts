// A client of server-sent events on a bare TCP socket, for what a browser never does: to stop reading, or
// to vanish. What it reads must be HTTP and an event stream to the letter.
import { connect as connectTcp } from 'node:net'
import type { Presence, ServerFrame } from '@greendot/protocol'
import { createLookout } from '../clients/lookout.ts'
import { WAIT_MS } from '../services/within.ts'
import { createEventParser, presencesIn } from './stream-format.ts'

export interface Told {
  frame: ServerFrame
  /** The last event id once this frame was dispatched. */
  id: string
  at: number
}

export interface TestStream {
  status: number
  headers: Headers
  /** The frames, each the data of one message. */
  told: Told[]
  /** Blocks that hold an id and no data. */
  idsAlone: { id: string; at: number }[]
  commentsAt: number[]
  retryMs: number | null
  /** What a browser would send to go on from here. */
  lastEventId(): string
  /** Every state and change of one user so far, in order; `since` is a position in `told`. */
  sightings(userId: string, since?: number): Presence[]
  sees(userId: string, accept: (presence: Presence) => boolean, since?: number): Promise<Presence>
  /** Looks now and whenever something came, until there is something to find. */
  until<T>(what: string, find: () => T | undefined, withinMs?: number): Promise<T>
  bytes(): number
  stopReading(): void
  readOn(): void
  /** `whole` when the server finished the answer, `cut` when the connection just ended. */
  ended: Promise<{ how: 'whole' | 'cut'; at: number }>
  /** Goes away without a word. */
  close(): void
}

export interface StreamOptions {
  token?: string
  tokenIn?: 'header' | 'url'
  lastEventId?: string | undefined
  /** Resolve when the request is sent, before anything came back. */
  isHasty?: boolean
}

export function streamPath(userIds: readonly string[]): string {
  return `/api/v1/stream?user_ids=${userIds.map(encodeURIComponent).join(',')}`
}

/** Resolves with the snapshot in `told`; fails when the stream is refused. */
export async function openStream(
  url: string,
  viewerId: string,
  userIds: readonly string[],
  options: StreamOptions = {},
): Promise<TestStream> {
  const { token = `dev:${viewerId}`, tokenIn = 'header', lastEventId } = options
  const { hostname, port } = new URL(url)
  const socket = connectTcp(Number(port), hostname)
  const lookout = createLookout()
  const ended = Promise.withResolvers<{ how: 'whole' | 'cut'; at: number }>()
  let received = 0
  let failure: Error | null = null

  const stream: TestStream = {
    status: 0,
    headers: new Headers(),
    told: [],
    idsAlone: [],
    commentsAt: [],
    retryMs: null,
    lastEventId: () => parser.lastEventId(),
    sightings: (userId, since = 0) =>
      stream.told
        .slice(since)
        .flatMap(({ frame }) => presencesIn(frame).filter((one) => one.user_id === userId)),
    sees: (userId, accept, since = 0) =>
      stream.until(`a sighting of ${userId}`, () => stream.sightings(userId, since).find(accept)),
    until(what, find, withinMs = WAIT_MS) {
      const inVain = () => {
        const all = stream.told.map(({ frame }) => JSON.stringify(frame).slice(0, 500)).slice(-20)
        return `${viewerId} waited ${withinMs} ms for ${what}; heard\n  ${all.join('\n  ')}`
      }
      return lookout.until(withinMs, find, inVain, () => failure)
    },
    bytes: () => received,
    stopReading: () => void socket.pause(),
    readOn: () => void socket.resume(),
    ended: ended.promise,
    close: () => void socket.destroy(),
  }

  const parser = createEventParser({
    message(data, id) {
      stream.told.push({ frame: JSON.parse(data), id, at: Date.now() })
    },
    idAlone: (id) => void stream.idsAlone.push({ id, at: Date.now() }),
    comment: () => void stream.commentsAt.push(Date.now()),
    retry(ms) {
      stream.retryMs = ms
    },
  })
  const read = createAnswerReader({
    head(status, headers) {
      Object.assign(stream, { status, headers })
      if (status !== 200) throw new Error(`the stream was refused with ${status}`)
    },
    text: parser.take,
    end: () => ended.resolve({ how: 'whole', at: Date.now() }),
  })
  socket.on('data', (bytes: Buffer) => {
    received += bytes.length
    try {
      read(bytes)
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error))
      socket.destroy()
    }
    lookout.notify()
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    // A no-op after the whole answer.
    ended.resolve({ how: 'cut', at: Date.now() })
    failure ??= new Error('the stream ended')
    lookout.notify()
  })
  const path = streamPath(userIds) + (tokenIn === 'url' ? `&token=${encodeURIComponent(token)}` : '')
  const headers = [
    `Host: ${hostname}:${port}`,
    'Accept: text/event-stream',
    ...(tokenIn === 'header' ? [`Authorization: Bearer ${token}`] : []),
    ...(lastEventId === undefined ? [] : [`Last-Event-ID: ${lastEventId}`]),
  ]
  const sent = Promise.withResolvers<unknown>()
  socket.write(`GET ${path} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`, sent.resolve)
  if (options.isHasty === true) await sent.promise
  else await stream.until('the snapshot', () => stream.told[0])
  return stream
}

interface AnswerHandlers {
  head(status: number, headers: Headers): void
  text(text: string): void
  end(): void
}

/** An HTTP answer in chunks, as bytes that come as they like. */
function createAnswerReader(on: AnswerHandlers): (bytes: Buffer) => void {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let state: 'head' | 'size' | 'chunk' | 'over' = 'head'
  let waiting: Buffer = Buffer.alloc(0)
  let left = 0

  /** Up to the mark, without it; null while that is not here yet. */
  function takeUpTo(mark: string): string | null {
    const end = waiting.indexOf(mark)
    if (end === -1) return null
    const taken = waiting.subarray(0, end).toString('latin1')
    waiting = waiting.subarray(end + mark.length)
    return taken
  }

  function readHead(): boolean {
    const head = takeUpTo('\r\n\r\n')
    if (head === null) return false
    const [statusLine = '', ...lines] = head.split('\r\n')
    const headers = new Headers(
      lines.map((one): [string, string] => [one.split(':', 1)[0]!, one.slice(one.indexOf(':') + 1).trim()]),
    )
    on.head(Number(statusLine.split(' ')[1]), headers)
    if (headers.get('transfer-encoding') !== 'chunked') throw new Error('the answer does not come in chunks')
    state = 'size'
    return true
  }

  function readSize(): boolean {
    const size = takeUpTo('\r\n')
    if (size === null) return false
    if (!/^[0-9a-f]+$/i.test(size)) throw new Error(`"${size}" is no size of a chunk`)
    left = Number.parseInt(size, 16)
    state = left === 0 ? 'over' : 'chunk'
    if (left === 0) on.end()
    return left > 0
  }

  function readChunk(): boolean {
    if (left > 0) {
      const part = waiting.subarray(0, left)
      if (part.length === 0) return false
      waiting = waiting.subarray(part.length)
      left -= part.length
      on.text(decoder.decode(part, { stream: true }))
      return true
    }
    if (waiting.length < 2) return false
    if (takeUpTo('\r\n') !== '') throw new Error('a chunk is longer than it says')
    state = 'size'
    return true
  }

  const steps = { head: readHead, size: readSize, chunk: readChunk, over: () => false }
  return (bytes) => {
    waiting = waiting.length === 0 ? bytes : Buffer.concat([waiting, bytes])
    while (steps[state]()) {
      // Each step takes what it can.
    }
  }
}
