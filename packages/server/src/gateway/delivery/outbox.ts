// Latest wins: for each connection we keep the set of targets that changed since its last frame, never a
// queue of events. A slow reader costs one mark per watched target and one own view, and ends at the truth.
import type { Clock } from '../../platform/clock.ts'
import type { Tally } from '../../platform/measuring/tally.ts'
import { grown, NIL } from '../../platform/typed-arrays.ts'
import { changeFrame, type Encoding } from './encodings.ts'
import { createFlushPhases } from './flush-phases.ts'
import type { FollowedChanges } from './followed-changes.ts'
import type { TargetTable } from './target-table.ts'
import type { WatchEdges } from './watch-edges.ts'

/** Changes in one frame; the rest stay marked for the next flush. */
const CHANGES_PER_FRAME_MAX = 500

/** Where the frames of a connection go: a WebSocket, or a server-sent event stream. */
export interface Sink {
  /** Above 0: sent. 0: the connection is gone. Below 0: kept, but take no more until `unblock`. */
  send(frame: string): number
}

export interface Outbox {
  /** Presence is sent to it in this encoding from now on. */
  attach(connection: number, sink: Sink, encoding?: Encoding): void
  encodingOf(connection: number): Encoding
  /** The connection ended: nothing that was marked for it is sent. */
  detach(connection: number): void
  /** Sends at once, past the flush: answers to what the client asked. */
  send(connection: number, frame: string): void
  /** The frame with the user's own view; a newer one takes the place of one that was not sent yet. */
  own(connection: number, frame: string): void
  /** The target of this edge changed: marks it if its viewer may hear of that. */
  mark(edge: number): void
  /** What the viewer of this edge may see changed: marks it whatever the level. */
  markAlways(edge: number): void
  /** The sink can take more again. */
  unblock(connection: number): void
  /** Whether its sink takes no more for now. What the client did not ask for waits until `unblock`. */
  isBlocked(connection: number): boolean
  /** Whether everything marked for the connection is sent. */
  isFlushed(connection: number): boolean
  /** Connections whose sink takes no more for now. */
  blocked(): number
  stop(): void
}

export interface OutboxParts {
  edges: WatchEdges
  targets: TargetTable
  clock: Clock
  flushMs: number
  tally: Tally
  followed: FollowedChanges
}

const FREE = 0
const QUEUED = 1
const BLOCKED = 2

export function createOutbox({ edges, targets, clock, flushMs, tally, followed }: OutboxParts): Outbox {
  const sinks: (Sink | null)[] = []
  const ownFrames = new Map<number, string>()
  /** Since when connections take data again that still have to be told of what changed before. */
  const unblockedAt = new Map<number, number>()
  let states = new Uint8Array(0)
  let areCompact = new Uint8Array(0)
  let blockedTotal = 0
  const phases = createFlushPhases({ clock, flushMs, flush })

  function enqueue(connection: number): void {
    if (states[connection] !== FREE) return
    states[connection] = QUEUED
    phases.enqueue(connection)
  }

  const encodingOf = (connection: number): Encoding => (areCompact[connection] === 1 ? 'compact' : 'json')

  function flush(connection: number, now: number): void {
    if (states[connection] !== QUEUED) return
    states[connection] = FREE
    if (ownFrames.size > 0) {
      const own = ownFrames.get(connection)
      if (own !== undefined) {
        ownFrames.delete(connection)
        if (!sendOrBlock(connection, own)) return
      }
    }
    const edge = edges.firstMarked(connection)
    if (edge === NIL) {
      caughtUp(connection)
      return
    }
    if (!edges.isWhole(edge)) {
      flushMany(connection, edge, now)
      return
    }
    const target = edges.targetOf(edge)
    const next = edges.unmarkFirst(edge)
    observe(target, now, connection)
    if (next === NIL) {
      caughtUp(connection)
      tally.deliveries++
      sendOrBlock(connection, targets.frame(target, encodingOf(connection)))
    } else {
      const first = targets.textFor(target, 'everything', encodingOf(connection))
      flushMany(connection, next, now, [first])
    }
  }

  function flushMany(connection: number, from: number, now: number, changes: string[] = []): void {
    const encoding = encodingOf(connection)
    let edge = from
    while (edge !== NIL && changes.length < CHANGES_PER_FRAME_MAX) {
      const target = edges.targetOf(edge)
      const next = edges.unmarkFirst(edge)
      // Marked before it was held: told when the hold ends.
      if (edges.isHeld(edge)) edges.oweWhileHeld(edge)
      else {
        changes.push(targets.textFor(target, edges.levelOf(edge), encoding))
        // The target may have been as it is for long, so its age is no delay.
        if (!edges.takeShownAnew(edge)) observe(target, now, connection)
      }
      edge = next
    }
    if (edge === NIL) caughtUp(connection)
    if (changes.length === 0) return
    tally.deliveries += changes.length
    // Sorted by user id, which comes first in the text of an object. Targets that change together are marked in an order
    // that goes by rows and queue positions, and hidden users take some of those (S6; small histories show it).
    const frame = changeFrame(changes.sort(), encoding)
    if (sendOrBlock(connection, frame) && edge !== NIL) enqueue(connection)
  }

  function observe(target: number, now: number, connection: number): void {
    const changedAt = targets.changedAt(target)
    // A reader that took no data makes its own changes late. That is counted as a slow reader, not as propagation.
    if (unblockedAt.size === 0 || changedAt >= (unblockedAt.get(connection) ?? 0)) {
      tally.propagation.observe(now - changedAt)
      tally.recentWaits.observe(now - changedAt, 1, now)
    }
    if (followed.count > 0) followed.sent(target)
  }

  function caughtUp(connection: number): void {
    if (unblockedAt.size > 0) unblockedAt.delete(connection)
  }

  /** False when the connection can take no more for now. */
  function sendOrBlock(connection: number, frame: string): boolean {
    tally.framesOut++
    const sent = sinks[connection]?.send(frame) ?? 0
    if (sent < 0) block(connection)
    return sent > 0
  }

  function block(connection: number): void {
    if (states[connection] === BLOCKED) return
    states[connection] = BLOCKED
    blockedTotal++
    tally.slowReaderBlocks++
  }

  function markAlways(edge: number): void {
    if (edges.mark(edge)) enqueue(edges.connectionOf(edge))
  }

  return {
    attach(connection, sink, encoding = 'json') {
      states = grown(states, connection + 1)
      areCompact = grown(areCompact, connection + 1)
      areCompact[connection] = encoding === 'compact' ? 1 : 0
      while (sinks.length <= connection) sinks.push(null)
      sinks[connection] = sink
    },
    encodingOf,
    detach(connection) {
      if (connection >= states.length) return
      sinks[connection] = null
      areCompact[connection] = 0
      ownFrames.delete(connection)
      unblockedAt.delete(connection)
      for (let edge = edges.firstMarked(connection); edge !== NIL; ) edge = edges.unmarkFirst(edge)
      if (states[connection] === BLOCKED) blockedTotal--
      // Its place in a queue stays: with nothing marked it sends nothing, even to the next connection
      // that gets this number.
      states[connection] = FREE
    },
    send(connection, frame) {
      if ((sinks[connection]?.send(frame) ?? 0) < 0) block(connection)
    },
    own(connection, frame) {
      ownFrames.set(connection, frame)
      enqueue(connection)
    },
    mark(edge) {
      if (edges.isWhole(edge)) return markAlways(edge)
      const isHeld = edges.isHeld(edge)
      // A viewer who sees nothing of the target is not told that there was a change.
      if (edges.isHidden(edge) && !isHeld) return
      edges.takeShownAnew(edge)
      if (isHeld) edges.oweWhileHeld(edge)
      else markAlways(edge)
    },
    markAlways,
    unblock(connection) {
      if (connection >= states.length || states[connection] !== BLOCKED) return
      states[connection] = FREE
      blockedTotal--
      const hasMarks = edges.firstMarked(connection) !== NIL
      if (hasMarks) unblockedAt.set(connection, clock.now())
      if (hasMarks || ownFrames.has(connection)) enqueue(connection)
    },
    isBlocked: (connection) => states[connection] === BLOCKED,
    isFlushed: (connection) => states[connection] === FREE && edges.firstMarked(connection) === NIL,
    blocked: () => blockedTotal,
    stop: () => phases.stop(),
  }
}
