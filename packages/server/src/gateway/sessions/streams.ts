// Watching without a WebSocket: server-sent events with the frames a socket gets. A stream is a connection
// with a number, edges and a sink, but it is no session: it makes its user neither online nor away. Its event
// ids are the versions its viewer was shown, in the order of the ids asked for, so any gateway can resume it.

import type { Failure } from '@greendot/protocol'
import type { Clock } from '../../platform/clock.ts'
import type { ConnectionNumbers } from '../connection-numbers.ts'
import { type Delivery, NAMED } from '../delivery/delivery.ts'
import { stateFrames, type Watching } from '../watching/watching.ts'

const CHECK_EVERY_MS = 1_000
/** Ids are long, so not every event has one: changes after the last id are sent again on resuming. */
const ID_EVERY_MS = 5_000
/** Proxies close connections that are silent for too long. */
const KEEP_ALIVE_MS = 15_000
/** How soon a browser reconnects by itself. */
const RETRY_MS = 2_000
/** Frames that may wait for a slow reader before the outbox holds back. */
const FRAMES_WAITING = 4

const GOING_AWAY: Failure = { code: 'unavailable', message: 'this server is going away; connect again' }
const ENDED: Failure = { code: 'unavailable', message: 'the stream was ended as it began; connect again' }

export interface StreamRequest {
  userId: string
  tokenExpiresAt: number | null
  /** Without repeats. */
  userIds: readonly string[]
  lastEventId: string | null
}

export type OpenedStream = { ok: true; body: ReadableStream<string> } | { ok: false; failure: Failure }

export interface Streams {
  open(request: StreamRequest): Promise<OpenedStream>
  /** Ends the streams of one user. */
  end(userId: string): void
  /** Ends them all, and opens none any more. */
  endAll(): void
  count(): number
  stop(): void
}

export interface StreamsParts {
  numbers: ConnectionNumbers
  watching: Watching
  delivery: Delivery
  clock: Clock
  watchLimit: number
  streamsPerUser: number
}

interface Stream {
  userId: string
  /** The interned user, retained while the stream is open. */
  viewer: number
  userIds: readonly string[]
  expiresAt: number
  controller: ReadableStreamDefaultController<string>
  lastId: string
  idAt: number
  sentAt: number
}

export function createStreams(parts: StreamsParts): Streams {
  const { numbers, watching, delivery, clock, watchLimit, streamsPerUser } = parts
  const streams = new Map<number, Stream>()
  /** Connections of each user, those among them that are still opening. */
  const byUser = new Map<string, Set<number>>()
  /** Connections that were ended while they were opening. */
  const endedEarly = new Set<number>()
  let isClosing = false

  /** Null when the user has as many as one may have. */
  function take(userId: string): number | null {
    const connections = byUser.get(userId) ?? new Set()
    if (connections.size >= streamsPerUser) return null
    const connection = numbers.take()
    byUser.set(userId, connections.add(connection))
    watching.open(connection, userId)
    delivery.attach(connection, { send: (frame) => send(connection, frame) })
    return connection
  }

  /** Every connection that was taken comes back through here, once. */
  function release(connection: number, userId: string, viewer: number | null): void {
    endedEarly.delete(connection)
    delivery.detach(connection)
    watching.close(connection)
    if (viewer !== null) watching.release(viewer)
    numbers.giveBack(connection)
    const connections = byUser.get(userId)!
    connections.delete(connection)
    if (connections.size === 0) byUser.delete(userId)
  }

  function send(connection: number, frame: string): number {
    const stream = streams.get(connection)
    if (stream === undefined) return 0
    write(stream, `data: ${frame}\n\n`)
    return (stream.controller.desiredSize ?? 0) > 0 ? 1 : -1
  }

  function close(connection: number): void {
    const stream = streams.get(connection)
    if (stream === undefined) {
      endedEarly.add(connection)
      return
    }
    streams.delete(connection)
    release(connection, stream.userId, stream.viewer)
    stream.controller.close()
  }

  function closeAllOf(userId: string): void {
    for (const connection of [...(byUser.get(userId) ?? [])]) close(connection)
  }

  const idOf = (connection: number, userIds: readonly string[]) =>
    watching
      .versionsSeen(connection, userIds)
      .map((version) => version.toString(36))
      .join('.')

  function write(stream: Stream, text: string): void {
    stream.sentAt = clock.now()
    stream.controller.enqueue(text)
  }

  function check(): void {
    const now = clock.now()
    for (const [connection, stream] of streams) {
      if (stream.expiresAt <= now) {
        close(connection)
        continue
      }
      const isIdDue = now - stream.idAt >= ID_EVERY_MS
      // What is held back is not known to the viewer, whatever version it has.
      if (isIdDue && delivery.isCaughtUp(connection) && watching.isSettled(connection))
        writeId(connection, stream, now)
      if (now - stream.sentAt >= KEEP_ALIVE_MS && (stream.controller.desiredSize ?? 0) > 0)
        write(stream, ':\n\n')
    }
  }

  function writeId(connection: number, stream: Stream, now: number): void {
    stream.idAt = now
    const id = idOf(connection, stream.userIds)
    if (id === stream.lastId) return
    stream.lastId = id
    write(stream, `id: ${id}\n\n`)
  }

  const timer = clock.every(CHECK_EVERY_MS, check)

  async function begin(
    connection: number,
    { userId, userIds, lastEventId }: StreamRequest,
  ): Promise<{ viewer: number; states: readonly string[] }> {
    const viewer = await watching.retain(userId)
    try {
      const known = versionsIn(lastEventId, userIds)
      const options = { known, reason: NAMED, isOpen: () => true } as const
      const states = await watching.watch(connection, userIds, options)
      return { viewer, states: states ?? [] }
    } catch (error) {
      watching.release(viewer)
      throw error
    }
  }

  function start(connection: number, stream: Stream, states: readonly string[]): void {
    streams.set(connection, stream)
    stream.controller.enqueue(`retry: ${RETRY_MS}\n\n`)
    const frames = [...stateFrames(states)]
    for (const [position, frame] of frames.entries()) {
      // Only a client that has all of it may resume from here.
      const id = position === frames.length - 1 ? `id: ${stream.lastId}\n` : ''
      stream.controller.enqueue(`${id}data: ${frame}\n\n`)
    }
  }

  return {
    async open(request) {
      const { userId, userIds, tokenExpiresAt } = request
      if (isClosing) return { ok: false, failure: GOING_AWAY }
      if (userIds.length > watchLimit) {
        const message = `at most ${watchLimit} watched users per stream; these are ${userIds.length}`
        return { ok: false, failure: { code: 'watch_limit', message } }
      }
      const connection = take(userId)
      if (connection === null)
        return { ok: false, failure: { code: 'rate_limited', message: 'too many streams; close some' } }
      let begun: { viewer: number; states: readonly string[] }
      try {
        begun = await begin(connection, request)
      } catch (error) {
        release(connection, userId, null)
        throw error
      }
      const { viewer, states } = begun
      if (endedEarly.has(connection)) {
        release(connection, userId, viewer)
        return { ok: false, failure: ENDED }
      }
      const now = clock.now()
      const lastId = idOf(connection, userIds)
      const expiresAt = tokenExpiresAt ?? Number.POSITIVE_INFINITY
      const stream = { userId, viewer, userIds, expiresAt, lastId, idAt: now, sentAt: now }
      const body = new ReadableStream<string>(
        {
          start: (controller) => start(connection, { ...stream, controller }, states),
          pull: () => delivery.unblock(connection),
          cancel() {
            if (streams.delete(connection)) release(connection, userId, viewer)
          },
        },
        { highWaterMark: FRAMES_WAITING },
      )
      return { ok: true, body }
    },
    end: closeAllOf,
    endAll() {
      isClosing = true
      for (const userId of [...byUser.keys()]) closeAllOf(userId)
    },
    count: () => streams.size,
    stop: () => timer.stop(),
  }
}

/** Versions the viewer knows by the last event id; none when the id does not fit the list. */
function versionsIn(lastEventId: string | null, userIds: readonly string[]): Record<string, number> {
  const versions = (lastEventId ?? '').split('.')
  if (versions.length !== userIds.length) return {}
  const known: Record<string, number> = Object.create(null)
  for (const [position, version] of versions.entries()) {
    if (!/^[0-9a-z]{1,11}$/.test(version)) return {}
    known[userIds[position]!] = Number.parseInt(version, 36)
  }
  return known
}
