// Watching without a WebSocket: server-sent events with the very frames a socket gets. A stream borrows
// a row number and so has its place in the watch index and the outbox like any connection, but it is no
// session: it makes nobody present. Its event ids are the versions its viewer was shown, in the order
// of the ids asked for, so any gateway can go on from them.
import type { Failure } from '@greendot/protocol'
import type { Clock } from '../../platform/clock.ts'
import { NAMED } from '../delivery/edge-flags.ts'
import type { Outbox, SendResult } from '../delivery/outbox.ts'
import { stateFrames } from '../watching/state-frames.ts'
import type { Watches } from '../watching/watches.ts'
import type { SessionTable } from './session-table.ts'

const LOOK_EVERY_MS = 1_000
/** Ids are long, so they do not come with every event: what came after the last one is told again. */
const ID_EVERY_MS = 5_000
/** Something must come now and then, or proxies take the connection for dead. */
const KEEP_ALIVE_MS = 15_000
/** How soon a browser comes back by itself. */
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
  /** The interned user behind a stream's row; undefined for rows that are none. */
  viewerOf(row: number): number | undefined
  rowsOf(userId: string): number[]
  send(row: number, frame: string): SendResult
  /** Ends the streams of one user. */
  end(userId: string): void
  /** Ends them all, and opens none any more. */
  endAll(): void
  count(): number
  stop(): void
}

export interface StreamsParts {
  table: SessionTable
  watches: Watches
  outbox: Outbox
  clock: Clock
  watchLimit: number
  streamsPerUser: number
}

interface Stream {
  userId: string
  viewer: number
  userIds: readonly string[]
  expiresAt: number
  controller: ReadableStreamDefaultController<string>
  lastId: string
  idAt: number
  sentAt: number
}

export function createStreams(parts: StreamsParts): Streams {
  const { table, watches, outbox, clock, watchLimit, streamsPerUser } = parts
  const streams = new Map<number, Stream>()
  /** Rows that are not streams yet, and who will see them, once that is known. */
  const opening = new Map<number, { viewer: number | undefined; isOver: boolean }>()
  /** The rows of each user, those among them that are not streams yet. */
  const rowsByUser = new Map<string, Set<number>>()
  let isClosing = false

  /** Null when the user has as many as one may have. */
  function lend(userId: string): number | null {
    const rows = rowsByUser.get(userId) ?? new Set()
    if (rows.size >= streamsPerUser) return null
    const row = table.lend()
    rowsByUser.set(userId, rows.add(row))
    opening.set(row, { viewer: undefined, isOver: false })
    return row
  }

  /** Every row that was lent comes back through here, once. */
  function release(row: number, userId: string, viewer: number | null): void {
    opening.delete(row)
    watches.clear(row)
    if (viewer !== null) watches.disregard(viewer)
    table.giveBack(row)
    const rows = rowsByUser.get(userId)!
    rows.delete(row)
    if (rows.size === 0) rowsByUser.delete(userId)
  }

  const rowsOf = (userId: string) => [...(rowsByUser.get(userId) ?? [])]

  function close(row: number): void {
    const stream = streams.get(row)
    const begun = opening.get(row)
    // Whoever is still to be told the state is told to come again instead.
    if (begun !== undefined) begun.isOver = true
    if (stream === undefined) return
    streams.delete(row)
    release(row, stream.userId, stream.viewer)
    stream.controller.close()
  }

  const idOf = (row: number, userIds: readonly string[]) =>
    watches
      .versionsSeen(row, userIds)
      .map((version) => version.toString(36))
      .join('.')

  function write(stream: Stream, text: string): void {
    stream.sentAt = clock.now()
    stream.controller.enqueue(text)
  }

  function look(): void {
    const now = clock.now()
    for (const [row, stream] of streams) {
      if (stream.expiresAt <= now) {
        close(row)
        continue
      }
      const isIdDue = now - stream.idAt >= ID_EVERY_MS
      // What is held back is not known to the viewer, whatever version it has.
      if (isIdDue && outbox.isCaughtUp(row) && watches.isSettled(row)) tellId(row, stream, now)
      if (now - stream.sentAt >= KEEP_ALIVE_MS && (stream.controller.desiredSize ?? 0) > 0)
        write(stream, ':\n\n')
    }
  }

  function tellId(row: number, stream: Stream, now: number): void {
    stream.idAt = now
    const id = idOf(row, stream.userIds)
    if (id === stream.lastId) return
    stream.lastId = id
    write(stream, `id: ${id}\n\n`)
  }

  // From the beginning: when ids come must not depend on who opened the first stream.
  const timer = clock.every(LOOK_EVERY_MS, look)

  async function begin(
    row: number,
    request: StreamRequest,
  ): Promise<{ viewer: number; states: readonly string[] }> {
    const { userId, userIds, lastEventId } = request
    const viewer = await watches.attend(userId)
    opening.get(row)!.viewer = viewer
    try {
      const known = versionsIn(lastEventId, userIds)
      const states = await watches.watch(row, userIds, { known, why: NAMED, isOpen: () => true })
      return { viewer, states: states ?? [] }
    } catch (error) {
      watches.disregard(viewer)
      throw error
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
      const row = lend(userId)
      if (row === null)
        return { ok: false, failure: { code: 'rate_limited', message: 'too many streams; close some' } }
      let begun: { viewer: number; states: readonly string[] }
      try {
        begun = await begin(row, request)
      } catch (error) {
        release(row, userId, null)
        throw error
      }
      const { viewer, states } = begun
      if (opening.get(row)!.isOver) {
        release(row, userId, viewer)
        return { ok: false, failure: ENDED }
      }
      const body = new ReadableStream<string>(
        {
          start(controller) {
            const now = clock.now()
            const lastId = idOf(row, userIds)
            const expiresAt = tokenExpiresAt ?? Number.POSITIVE_INFINITY
            streams.set(row, {
              userId,
              viewer,
              userIds,
              expiresAt,
              controller,
              lastId,
              idAt: now,
              sentAt: now,
            })
            opening.delete(row)
            controller.enqueue(`retry: ${RETRY_MS}\n\n`)
            const frames = [...stateFrames(states)]
            for (const [position, frame] of frames.entries()) {
              // Only whoever has all of it may go on from here.
              const id = position === frames.length - 1 ? `id: ${lastId}\n` : ''
              controller.enqueue(`${id}data: ${frame}\n\n`)
            }
          },
          pull: () => outbox.unblock(row),
          cancel() {
            const stream = streams.get(row)
            if (stream === undefined) return
            streams.delete(row)
            release(row, userId, viewer)
          },
        },
        { highWaterMark: FRAMES_WAITING },
      )
      return { ok: true, body }
    },
    viewerOf: (row) => (streams.get(row) ?? opening.get(row))?.viewer,
    rowsOf,
    send(row, frame) {
      const stream = streams.get(row)
      if (stream === undefined) return 'gone'
      write(stream, `data: ${frame}\n\n`)
      return (stream.controller.desiredSize ?? 0) > 0 ? 'sent' : 'blocked'
    },
    end(userId) {
      for (const row of rowsOf(userId)) close(row)
    },
    endAll() {
      isClosing = true
      for (const userId of [...rowsByUser.keys()]) for (const row of rowsOf(userId)) close(row)
    },
    count: () => streams.size,
    stop: () => timer.stop(),
  }
}

/** What the viewer knows by the id of the last event they got; nothing, when it is not about these. */
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
