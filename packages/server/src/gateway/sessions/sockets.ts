// The WebSocket itself: opening with a welcome, reading frames in order, closing with the right
// code. Heartbeats are recognised by their bytes and touch nothing but the table. Any other frame
// waits in the lane of its socket and is decoded when its turn comes.
import {
  type Activity,
  BAD_FRAMES_MAX,
  CLOSE,
  COMPACT_ACTIVE,
  COMPACT_IDLE,
  type Failure,
  HEARTBEAT_ACTIVE,
  HEARTBEAT_IDLE,
  type Ref,
  type WelcomeFrame,
} from '@greendot/protocol'
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/logger.ts'
import type { Tally } from '../../platform/measuring/tally.ts'
import { NIL } from '../../platform/typed-arrays.ts'
import type { Policy } from '../../presence/core/policy.ts'
import { toOwnPresence } from '../../presence/core/view.ts'
import { type Disconnects, TOKEN_REFUSED } from '../../presence/people/disconnects.ts'
import type { Tracked } from '../../presence/pipeline/tracker.ts'
import { Unavailable } from '../../presence/unavailable.ts'
import type { Delivery } from '../delivery/delivery.ts'
import type { Watching } from '../watching/watching.ts'
import { decodeFrame, type FrameHandler } from './frames.ts'
import { createLanes } from './lanes.ts'
import type { OwnViews } from './own-views.ts'
import type { Opening, SessionTable, Socket } from './session-table.ts'
import type { Sessions } from './sessions.ts'

export interface Sockets {
  open(socket: Socket): void
  message(socket: Socket, message: string | Buffer): void
  /** The socket sent some of its bytes and can take more. */
  drained(socket: Socket): void
  close(socket: Socket): void
  /** Ends a session from this side and closes its socket. */
  hangUp(row: number, code: number, reason: string, failure?: Failure): void
  /** The clean goodbye, by socket or by HTTP. */
  leave(row: number): void
  /** The app disconnects the user: the session is over at once. */
  disconnect(row: number, failure: Failure): void
}

export interface SocketsParts {
  table: SessionTable
  sessions: Sessions
  handleFrame: FrameHandler
  policy: Policy
  framesPerSecond: number
  clock: Clock
  logger: Logger
  tally: Tally
  ownViews: OwnViews
  delivery: Pick<Delivery, 'unblock' | 'encodingOf'>
  watching: Pick<Watching, 'unblocked'>
  disconnects: Pick<Disconnects, 'isRefused'>
}

export function createSockets(parts: SocketsParts): Sockets {
  const { table, sessions, handleFrame, policy, framesPerSecond, clock, logger, tally } = parts
  const { ownViews, delivery, watching, disconnects } = parts
  const { columns } = table
  tally.rateLimited.announce(['frames', 'waiting_frames'])
  const lanes = createLanes((error) => logger.error({ err: error }, 'a frame failed'))

  const say = (socket: Socket, frame: object) => void socket.send(JSON.stringify(frame))

  function refuse(socket: Socket, failure: Failure, ref: Ref | null): void {
    tally.errorsSent++
    say(socket, { type: 'error', ...failure, ...(ref === null ? {} : { ref }) })
  }

  function queue(row: number, socket: Socket, bytes: number, run: () => Promise<void>): void {
    if (lanes.add(socket, bytes, run)) return
    tally.rateLimited.add('waiting_frames')
    const message = 'too many frames are waiting for an answer; slow down'
    hangUp(row, CLOSE.tooManyFrames, 'too many frames', { code: 'rate_limited', message })
  }

  async function greet(row: number, opening: Opening, socket: Socket): Promise<void> {
    let tracked: Tracked | null
    try {
      tracked = await sessions.announce(row, opening)
    } catch (error) {
      if (!(error instanceof Unavailable)) logger.error({ err: error }, 'a session could not be announced')
      if (socket.data === row) hangUp(row, CLOSE.shuttingDown, 'unavailable', UNAVAILABLE)
      return
    }
    if (tracked === null) return
    const now = clock.now()
    const welcome: WelcomeFrame = {
      type: 'welcome',
      session_id: table.sessionId(row),
      user_id: opening.userId,
      device_id: opening.deviceId,
      server_time: now,
      heartbeat_interval_ms: policy.heartbeatIntervalMs,
      heartbeat_ttl_ms: policy.heartbeatTtlMs,
      away_after_ms: columns.awayAfterMs[row]!,
      self: toOwnPresence(opening.userId, tracked.record, now, policy),
    }
    say(socket, welcome)
    ownViews.welcomed(row, tracked.revision, welcome.self.availability === 'invisible')
  }

  async function answer(row: number, message: string | Buffer, socket: Socket): Promise<void> {
    const isOpen = () => socket.data === row
    if (!isOpen()) return
    const decoded = decodeFrame(message)
    if (!decoded.ok) {
      const isLast = ++columns.badFrames[row]! >= BAD_FRAMES_MAX
      if (isLast) hangUp(row, CLOSE.badFrames, 'too many bad frames', decoded.failure)
      else refuse(socket, decoded.failure, null)
      return
    }
    columns.badFrames[row] = 0
    const frame = decoded.value
    try {
      const outcome = await handleFrame(row, frame, isOpen)
      if (!isOpen()) return
      if (outcome.result === 'failed') return refuse(socket, outcome.failure, frame.ref)
      if (frame.ref !== null) say(socket, { type: 'ok', ref: frame.ref })
      if (outcome.result === 'left') leave(row)
    } catch (error) {
      if (!(error instanceof Unavailable)) logger.error({ err: error, frame: frame.type }, 'a frame failed')
      if (isOpen()) refuse(socket, UNAVAILABLE, frame.ref)
    }
  }

  /** What a heartbeat says; null for any other frame. */
  function activityIn(message: string | Buffer, row: number): Activity | null {
    if (message === HEARTBEAT_ACTIVE) return 'active'
    if (message === HEARTBEAT_IDLE) return 'idle'
    if (message.length !== 1 || delivery.encodingOf(row) === 'json') return null
    if (message === COMPACT_ACTIVE) return 'active'
    return message === COMPACT_IDLE ? 'idle' : null
  }

  /** A disconnect may have come between the check of the token and the open socket. */
  const isRefusedByNow = (opening: Opening | Failure): boolean =>
    !('code' in opening) &&
    opening.tokenIssuedAt !== undefined &&
    disconnects.isRefused(opening.userId, opening.tokenIssuedAt)

  function hangUp(row: number, code: number, reason: string, failure?: Failure): void {
    const socket = columns.sockets[row]
    if (socket && failure) refuse(socket, failure, null)
    sessions.end(row, { how: 'closed' })
    socket?.close(code, reason)
  }

  function leave(row: number): void {
    const socket = columns.sockets[row]
    sessions.end(row, { how: 'left' })
    socket?.close(CLOSE.left, 'left')
  }

  function disconnect(row: number, failure: Failure): void {
    const socket = columns.sockets[row]
    if (socket) refuse(socket, failure, null)
    sessions.end(row, { how: 'left' })
    socket?.close(CLOSE.disconnected, 'disconnected by the app')
  }

  return {
    hangUp,
    leave,
    disconnect,

    open(socket) {
      const asked = socket.data
      if (typeof asked === 'number') return
      socket.data = NIL
      const opening = isRefusedByNow(asked) ? TOKEN_REFUSED : asked
      if ('code' in opening) {
        refuse(socket, opening, null)
        // A token that could not be checked is not a bad one: the client should try again with it.
        socket.close(opening.code === 'unavailable' ? CLOSE.shuttingDown : CLOSE.badToken, opening.code)
        return
      }
      const row = sessions.admit(opening, socket)
      if (row === null) {
        refuse(socket, { code: 'rate_limited', message: 'too many sessions for one user; close some' }, null)
        socket.close(CLOSE.tooManyFrames, 'too many sessions')
        return
      }
      socket.data = row
      queue(row, socket, 0, () => greet(row, opening, socket))
    },

    message(socket, message) {
      const row = socket.data
      if (typeof row !== 'number' || row === NIL) return
      tally.framesIn++
      if (++columns.framesThisSecond[row]! > framesPerSecond) {
        tally.rateLimited.add('frames')
        const message = `more than ${framesPerSecond} frames a second; slow down`
        return hangUp(row, CLOSE.tooManyFrames, 'too many frames', { code: 'rate_limited', message })
      }
      const activity = activityIn(message, row)
      if (activity !== null) {
        tally.heartbeats++
        columns.badFrames[row] = 0
        return sessions.heartbeat(row, activity)
      }
      sessions.heartbeat(row, null)
      queue(row, socket, message.length, () => answer(row, message, socket))
    },

    drained(socket) {
      const row = socket.data
      if (typeof row === 'number' && row !== NIL) {
        delivery.unblock(row)
        watching.unblocked(row)
      }
      lanes.drained(socket)
    },

    close(socket) {
      lanes.drop(socket)
      const row = socket.data
      if (typeof row === 'number' && row !== NIL) sessions.end(row, { how: 'closed' })
    },
  }
}

const UNAVAILABLE: Failure = { code: 'unavailable', message: 'presence cannot be reached; try again soon' }
