// Watching by server-sent events, with the frames a socket gets. The event ids of a stream are the versions its viewer
// was shown, in the order of the ids asked for, so any gateway can resume it. What all streams share is in
// stream-connections.ts.

import type { Failure } from '@greendot/protocol'
import { stateFrames } from '../watching/watching.ts'
import {
  createStreamConnections,
  ENDED,
  type StreamConnection,
  type StreamConnections,
  type StreamConnectionsParts,
} from './stream-connections.ts'

/** Ids are long, so not every event has one: changes after the last id are sent again on resuming. */
const ID_EVERY_MS = 5_000
/** Proxies close connections that are silent for too long. */
const KEEP_ALIVE_MS = 15_000
/** How soon a browser reconnects by itself. */
const RETRY_MS = 2_000
/** Frames that may wait for a slow reader before the outbox holds back. */
const FRAMES_WAITING = 4

export interface StreamRequest {
  userId: string
  tokenExpiresAt: number | null
  tokenIssuedAt: number | null
  /** Without repeats. */
  userIds: readonly string[]
  lastEventId: string | null
}

export type OpenedStream = { ok: true; body: ReadableStream<string> } | { ok: false; failure: Failure }

export interface Streams extends StreamConnections {
  /** A stream of server-sent events. */
  open(request: StreamRequest): Promise<OpenedStream>
}

export interface StreamsParts extends StreamConnectionsParts {
  watchLimit: number
}

/** From the moment its body is read. */
interface Begun {
  stream: StreamConnection
  userIds: readonly string[]
  controller: ReadableStreamDefaultController<string>
  lastId: string
  idAt: number
  sentAt: number
}

export function createStreams(parts: StreamsParts): Streams {
  const { clock, watchLimit } = parts
  const connections = createStreamConnections(parts)

  const idOf = (stream: StreamConnection, userIds: readonly string[]) =>
    stream
      .versionsSeen(userIds)
      .map((version) => version.toString(36))
      .join('.')

  const hasRoom = ({ controller }: Begun) => (controller.desiredSize ?? 0) > 0

  function write(begun: Begun, text: string): void {
    begun.sentAt = clock.now()
    begun.controller.enqueue(text)
  }

  function check(begun: Begun, now: number): void {
    if (now - begun.idAt >= ID_EVERY_MS && begun.stream.isCaughtUp()) writeId(begun, now)
    if (now - begun.sentAt >= KEEP_ALIVE_MS && hasRoom(begun)) write(begun, ':\n\n')
  }

  function writeId(begun: Begun, now: number): void {
    begun.idAt = now
    const id = idOf(begun.stream, begun.userIds)
    if (id === begun.lastId) return
    begun.lastId = id
    write(begun, `id: ${id}\n\n`)
  }

  function writeSnapshot({ controller, lastId }: Begun, states: readonly string[]): void {
    controller.enqueue(`retry: ${RETRY_MS}\n\n`)
    const frames = [...stateFrames(states)]
    for (const [position, frame] of frames.entries()) {
      // Only a client that has all of it may resume from here.
      const id = position === frames.length - 1 ? `id: ${lastId}\n` : ''
      controller.enqueue(`${id}data: ${frame}\n\n`)
    }
  }

  return {
    ...connections,
    async open({ userId, tokenExpiresAt, tokenIssuedAt, userIds, lastEventId }) {
      if (userIds.length > watchLimit) {
        const message = `at most ${watchLimit} watched users per stream; these are ${userIds.length}`
        return { ok: false, failure: { code: 'watch_limit', message } }
      }
      let begun: Begun | null = null
      const connected = await connections.connect({
        userId,
        tokenExpiresAt,
        tokenIssuedAt,
        sink: {
          send(frame) {
            if (begun === null) return 0
            write(begun, `data: ${frame}\n\n`)
            return hasRoom(begun) ? 1 : -1
          },
          end(_why, ended) {
            if (ended !== undefined && begun !== null)
              write(begun, `data: ${JSON.stringify({ type: 'error', ...ended })}\n\n`)
            begun?.controller.close()
          },
          check(now) {
            if (begun !== null) check(begun, now)
          },
        },
      })
      if (!connected.ok) return connected
      const { stream } = connected
      let states: readonly string[] | null
      try {
        states = await stream.watch(userIds, versionsIn(lastEventId, userIds))
      } catch (error) {
        stream.close()
        throw error
      }
      if (states === null) return { ok: false, failure: ENDED }
      const now = clock.now()
      const lastId = idOf(stream, userIds)
      const body = new ReadableStream<string>(
        {
          start(controller) {
            begun = { stream, userIds, controller, lastId, idAt: now, sentAt: now }
            writeSnapshot(begun, states)
          },
          pull: stream.unblock,
          cancel: stream.close,
        },
        { highWaterMark: FRAMES_WAITING },
      )
      return { ok: true, body }
    },
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
