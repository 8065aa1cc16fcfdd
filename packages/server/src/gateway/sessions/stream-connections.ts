// Connections that watch and are no sessions, whatever carries them: server-sent events and gRPC. Each has a number,
// edges and a sink, counts towards the streams of its user, and ends with its token, its user or this process. Every
// number that was taken is given back once.
import type { Failure } from '@greendot/protocol'
import type { Clock } from '../../platform/clock.ts'
import type { Tally } from '../../platform/measuring/tally.ts'
import { type Disconnects, TOKEN_REFUSED } from '../../presence/people/disconnects.ts'
import type { ConnectionNumbers } from '../connection-numbers.ts'
import { type Delivery, NAMED, type Sink } from '../delivery/delivery.ts'
import type { Watching } from '../watching/watching.ts'

const CHECK_EVERY_MS = 1_000

const GOING_AWAY: Failure = { code: 'unavailable', message: 'this server is going away; connect again' }
const TOO_MANY: Failure = { code: 'rate_limited', message: 'too many streams; close some' }
/** The answer for a stream that ended before it had begun. */
export const ENDED: Failure = {
  code: 'unavailable',
  message: 'the stream was ended as it began; connect again',
}

/** Why the server ended a stream. */
export type StreamEnd = 'token expired' | 'user erased' | 'disconnected' | 'going away'

export interface StreamSink extends Sink {
  /** Nothing is sent after it. The failure says more of a stream that was disconnected. */
  end(why: StreamEnd, failure?: Failure): void
  /** Called about once a second. */
  check?(now: number): void
}

export interface StreamOpening {
  userId: string
  tokenExpiresAt: number | null
  /** Null where the token does not say so. */
  tokenIssuedAt: number | null
  sink: StreamSink
}

export interface StreamConnection {
  isOpen(): boolean
  /** Why the stream may not watch these as well; null when it may. */
  limitFailure(userIds: readonly string[]): Failure | null
  /** States as JSON, without those whose version is known. Null when the stream ended meanwhile. */
  watch(userIds: readonly string[], known: Readonly<Record<string, number>>): Promise<string[] | null>
  unwatch(userIds: readonly string[]): void
  followContacts(): Promise<Failure | null>
  versionsSeen(userIds: readonly string[]): number[]
  /** Whether the viewer knows everything there is to tell. */
  isCaughtUp(): boolean
  /** The sink can take more again. */
  unblock(): void
  /** The client is gone. */
  close(): void
}

export type ConnectedStream = { ok: true; stream: StreamConnection } | { ok: false; failure: Failure }

export interface StreamConnections {
  connect(opening: StreamOpening): Promise<ConnectedStream>
  /** Ends the streams of a user who was erased. */
  end(userId: string): void
  /** Ends the streams of a user that are meant, by when they began and when their token was issued. */
  disconnect(userId: string, isMeant: (beganAt: number, issuedAt: number) => boolean, failure: Failure): void
  /** Ends them all, and opens none any more. */
  endAll(): void
  count(): number
  stop(): void
}

export interface StreamConnectionsParts {
  numbers: ConnectionNumbers
  watching: Watching
  delivery: Delivery
  clock: Clock
  disconnects: Pick<Disconnects, 'isRefused'>
  streamsPerUser: number
  tally: Tally
}

interface Open {
  connection: number
  userId: string
  /** The interned user, retained while the stream is open; null until then. */
  viewer: number | null
  expiresAt: number
  /** Of its token; minus infinity where the token does not say so. */
  issuedAt: number
  openedAt: number
  sink: StreamSink
}

export function createStreamConnections(parts: StreamConnectionsParts): StreamConnections {
  const { numbers, watching, delivery, disconnects, clock, streamsPerUser, tally } = parts
  tally.rateLimited.announce(['open_streams'])
  const byUser = new Map<string, Set<Open>>()
  const all = new Set<Open>()
  let isClosing = false

  function admit({ userId, tokenExpiresAt, tokenIssuedAt, sink }: StreamOpening): Open | null {
    const streams = byUser.get(userId) ?? new Set()
    if (streams.size >= streamsPerUser) return null
    const expiresAt = tokenExpiresAt ?? Number.POSITIVE_INFINITY
    const open: Open = {
      connection: numbers.take(),
      userId,
      viewer: null,
      expiresAt,
      issuedAt: tokenIssuedAt ?? Number.NEGATIVE_INFINITY,
      openedAt: clock.now(),
      sink,
    }
    byUser.set(userId, streams.add(open))
    all.add(open)
    watching.open(open.connection, userId)
    delivery.attach(open.connection, sink)
    return open
  }

  /** False when it is closed already. */
  function close(open: Open): boolean {
    if (!all.delete(open)) return false
    const { connection, userId, viewer } = open
    delivery.detach(connection)
    watching.close(connection)
    if (viewer !== null) watching.release(viewer)
    numbers.giveBack(connection)
    const streams = byUser.get(userId)!
    streams.delete(open)
    if (streams.size === 0) byUser.delete(userId)
    return true
  }

  function end(open: Open, why: StreamEnd, failure?: Failure): void {
    if (close(open)) open.sink.end(why, failure)
  }

  const timer = clock.every(CHECK_EVERY_MS, () => {
    const now = clock.now()
    for (const open of all) {
      if (open.expiresAt <= now) end(open, 'token expired')
      else open.sink.check?.(now)
    }
  })

  function streamOf(open: Open): StreamConnection {
    const { connection } = open
    const isOpen = () => all.has(open)
    return {
      isOpen,
      limitFailure: (userIds) => watching.limitFailure(connection, userIds),
      watch: (userIds, known) => watching.watch(connection, userIds, { known, reason: NAMED, isOpen }),
      unwatch: (userIds) => watching.unwatch(connection, userIds),
      followContacts: () => watching.followContacts(connection, isOpen),
      versionsSeen: (userIds) => watching.versionsSeen(connection, userIds),
      // What is held back is not known to the viewer, whatever version it has.
      isCaughtUp: () => delivery.isCaughtUp(connection) && watching.hasNoHolds(connection),
      unblock() {
        if (!isOpen()) return
        delivery.unblock(connection)
        watching.unblocked(connection)
      },
      close: () => void close(open),
    }
  }

  return {
    async connect(opening) {
      if (isClosing) return { ok: false, failure: GOING_AWAY }
      // The token was checked before the request waited for its rate limit.
      if (disconnects.isRefused(opening.userId, opening.tokenIssuedAt))
        return { ok: false, failure: TOKEN_REFUSED }
      const open = admit(opening)
      if (open === null) {
        tally.rateLimited.add('open_streams')
        return { ok: false, failure: TOO_MANY }
      }
      try {
        const viewer = await watching.retain(opening.userId)
        if (all.has(open)) open.viewer = viewer
        else watching.release(viewer)
      } catch (error) {
        close(open)
        throw error
      }
      return all.has(open) ? { ok: true, stream: streamOf(open) } : { ok: false, failure: ENDED }
    },
    end(userId) {
      for (const open of [...(byUser.get(userId) ?? [])]) end(open, 'user erased')
    },
    disconnect(userId, isMeant, failure) {
      for (const open of [...(byUser.get(userId) ?? [])])
        if (isMeant(open.openedAt, open.issuedAt)) end(open, 'disconnected', failure)
    },
    endAll() {
      isClosing = true
      for (const open of [...all]) end(open, 'going away')
    },
    count: () => all.size,
    stop: () => timer.stop(),
  }
}
