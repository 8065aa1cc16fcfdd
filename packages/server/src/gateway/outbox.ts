// Latest wins: towards each connection we keep the set of targets that changed since its last
// frame, never a queue of events. A slow reader costs one mark per watched user and ends at the
// truth. Connections are flushed in phases spread over the flush interval, so that a change with
// many watchers is many small turns of the loop instead of one long one.
import type { Clock } from '../platform/clock.ts'
import { grown } from '../platform/typed-arrays.ts'
import { HELD_BACK, isInDoubt, isNothingSeen, isWholeSeen, MISSED, sightOf } from './edge-flags.ts'
import { CHANGE_FRAME_START, FRAME_LIST_END, type TargetTable } from './target-table.ts'
import { createWatchIndex, NIL, UNMARKED, type WatchIndex } from './watch-index.ts'

/** Changes in one frame; the rest stay marked for the next flush. */
const CHANGES_PER_FRAME_MAX = 500
const PHASES_MAX = 10
const PHASE_MIN_MS = 5
/** Neighbours (2^6 of them) share a phase: walking the tables in order is kinder to the caches. */
const BLOCK_BITS = 6
/** A turn that sends for longer than this hands the loop back and carries on in the next one. */
const TURN_BUDGET_MS = 8
const SENDS_BETWEEN_LOOKS = 64

export type SendResult = 'sent' | 'blocked' | 'gone'

export interface Outbox {
  index: WatchIndex
  /** A target changed: everybody who watches it has something to hear. */
  markTarget(target: number): void
  /** What somebody may see of a target changed, and only they have something to hear. */
  markEdge(edge: number): void
  /** The connection's own view changed. */
  markOwn(connection: number): void
  /** The socket can take more again. */
  unblock(connection: number): void
  forget(connection: number): void
  /** Whether the connection has been told everything. */
  isCaughtUp(connection: number): boolean
  /** Marked connections, the blocked ones among them: what a slow network owes. */
  blocked(): number
  stop(): void
}

export interface OutboxParts {
  targets: TargetTable
  clock: Clock
  flushMs: number
  send(connection: number, frame: string): SendResult
  /** The `self` frame for a connection whose own view changed; null when there is nothing to say. */
  ownFrame(connection: number): string | null
  /** Called once per frame with the changes in it and how long the oldest had waited. */
  onFrame(changes: number, waitedMs: number): void
}

interface Queue {
  items: Int32Array
  length: number
  /** How many were here before the phase `sealedAt` began. */
  sealed: number
  sealedAt: number
}

const FREE = 0
const QUEUED = 1
const BLOCKED = 2

export function createOutbox(parts: OutboxParts): Outbox {
  const { targets, clock, flushMs, send, ownFrame, onFrame } = parts
  const phases = Math.max(1, Math.min(PHASES_MAX, Math.floor(flushMs / PHASE_MIN_MS)))
  const queues = Array.from(
    { length: phases },
    (): Queue => ({
      items: new Int32Array(64),
      length: 0,
      sealed: 0,
      sealedAt: 0,
    }),
  )
  let heads = new Int32Array(0)
  let own = new Uint8Array(0)
  let states = new Uint8Array(0)
  let queuedTotal = 0
  let blockedTotal = 0
  const phaseMs = flushMs / phases
  /** Counts phases since 1970: each connection has its turn once per flush interval, never sooner. */
  let turn = Math.floor(clock.now() / phaseMs)
  let isTicking = false
  let isStopped = false

  const index = createWatchIndex(unlink)

  function reserve(connection: number): void {
    if (connection < heads.length) return
    heads = grown(heads, connection + 1, NIL)
    own = grown(own, connection + 1)
    states = grown(states, connection + 1)
  }

  function enqueue(connection: number): void {
    if (states[connection] !== FREE) return
    states[connection] = QUEUED
    const queue = queues[(connection >> BLOCK_BITS) % phases]!
    const present = Math.floor(clock.now() / phaseMs)
    if (queue.sealedAt !== present) {
      queue.sealed = queue.length
      queue.sealedAt = present
    }
    if (queue.length === queue.items.length) queue.items = grown(queue.items, queue.length + 1)
    queue.items[queue.length++] = connection
    // Phases that went by while nobody waited are owed to nobody: the first change after a quiet
    // time is spread like any other.
    if (queuedTotal++ === 0) turn = present
    if (!isTicking) tickLater()
  }

  function tickLater(): void {
    if (isStopped) return
    isTicking = true
    const now = clock.now()
    clock.after((Math.floor(now / phaseMs) + 1) * phaseMs - now, tick)
  }

  function tick(): void {
    isTicking = false
    const present = Math.floor(clock.now() / phaseMs)
    // After a pause every phase is behind; each needs only one turn. A clock that was set back
    // must not make anybody wait until it is here again.
    for (turn = Math.min(Math.max(turn, present - phases), present); turn < present; ) {
      const connections = takeDue(queues[++turn % phases]!, present)
      if (connections.length > 0) drain(connections, 0)
    }
    if (queuedTotal > 0 && !isTicking) tickLater()
  }

  /**
   * Takes out who queued up before the present phase began. Whoever came since waits for the next round,
   * whether or not somebody else had a turn due in this very moment.
   */
  function takeDue(queue: Queue, present: number): Int32Array {
    const due = queue.sealedAt === present ? queue.sealed : queue.length
    const connections = queue.items.slice(0, due)
    queue.items.copyWithin(0, due, queue.length)
    queue.length -= due
    queue.sealed = 0
    return connections
  }

  function drain(connections: Int32Array, from: number): void {
    const startedAt = clock.elapsed()
    const now = clock.now()
    for (let position = from; position < connections.length; position++) {
      const connection = connections[position]!
      queuedTotal--
      if (states[connection] === QUEUED) {
        states[connection] = FREE
        flush(connection, now)
      }
      if (position % SENDS_BETWEEN_LOOKS === 0 && clock.elapsed() - startedAt > TURN_BUDGET_MS) {
        if (position + 1 < connections.length) clock.soon(() => drain(connections, position + 1))
        return
      }
    }
  }

  function flush(connection: number, now: number): void {
    if (own[connection] === 1) {
      own[connection] = 0
      const frame = ownFrame(connection)
      if (frame !== null && !sendOrBlock(connection, frame)) return
    }
    const edge = heads[connection]!
    if (edge === NIL) return
    if (index.nextMarked(edge) === NIL && isWholeSeen(index.flags(edge))) {
      heads[connection] = NIL
      index.setNextMarked(edge, UNMARKED)
      const target = index.targetOf(edge)
      onFrame(1, now - targets.changedAt(target))
      sendOrBlock(connection, targets.frame(target))
    } else flushMany(connection, edge, now)
  }

  function flushMany(connection: number, from: number, now: number): void {
    const changes: string[] = []
    let oldestAt = Number.POSITIVE_INFINITY
    let edge = from
    while (edge !== NIL && changes.length < CHANGES_PER_FRAME_MAX) {
      const target = index.targetOf(edge)
      const next = index.nextMarked(edge)
      index.setNextMarked(edge, UNMARKED)
      const flags = index.flags(edge)
      // Marked before it came into doubt: it is told when that is settled.
      if (isInDoubt(flags)) index.setFlags(edge, flags | HELD_BACK)
      else {
        changes.push(isWholeSeen(flags) ? targets.json(target) : targets.seen(target, sightOf(flags)))
        oldestAt = Math.min(oldestAt, targets.changedAt(target))
      }
      edge = next
    }
    heads[connection] = edge
    if (changes.length === 0) return
    onFrame(changes.length, now - oldestAt)
    // By their ids: in which order people were marked depends on others, who may be hidden.
    const frame = CHANGE_FRAME_START + changes.sort().join(',') + FRAME_LIST_END
    if (sendOrBlock(connection, frame) && edge !== NIL) enqueue(connection)
  }

  /** False when the connection can take no more for now. */
  function sendOrBlock(connection: number, frame: string): boolean {
    const result = send(connection, frame)
    if (result === 'sent') return true
    if (result === 'blocked' && states[connection] !== BLOCKED) {
      states[connection] = BLOCKED
      blockedTotal++
    }
    return false
  }

  function unlink(connection: number, edge: number): void {
    const next = index.nextMarked(edge)
    let before = heads[connection]!
    if (before === edge) {
      heads[connection] = next
      return
    }
    while (index.nextMarked(before) !== edge) before = index.nextMarked(before)
    index.setNextMarked(before, next)
  }

  function markEdge(edge: number): void {
    if (index.nextMarked(edge) !== UNMARKED) return
    const connection = index.connectionOf(edge)
    reserve(connection)
    index.setNextMarked(edge, heads[connection]!)
    heads[connection] = edge
    enqueue(connection)
  }

  return {
    index,
    markTarget(target) {
      for (let edge = index.firstWatcher(target); edge !== NIL; edge = index.nextWatcher(edge)) {
        const flags = index.flags(edge)
        if (isWholeSeen(flags)) markEdge(edge)
        else if (isInDoubt(flags)) index.setFlags(edge, flags | MISSED)
        // Whoever sees nothing of somebody hears nothing of them, not even that there was something.
        else if (!isNothingSeen(flags)) markEdge(edge)
      }
    },
    markEdge,
    markOwn(connection) {
      reserve(connection)
      own[connection] = 1
      enqueue(connection)
    },
    unblock(connection) {
      if (connection >= states.length || states[connection] !== BLOCKED) return
      states[connection] = FREE
      blockedTotal--
      if (own[connection] === 1 || heads[connection] !== NIL) enqueue(connection)
    },
    forget(connection) {
      if (connection >= states.length) return
      for (let edge = heads[connection]!; edge !== NIL; ) {
        const next = index.nextMarked(edge)
        index.setNextMarked(edge, UNMARKED)
        edge = next
      }
      heads[connection] = NIL
      own[connection] = 0
      if (states[connection] === BLOCKED) blockedTotal--
      // A queued place may still be flushed later: with nothing marked that sends nothing, even to
      // the next connection that gets this number.
      states[connection] = FREE
    },
    isCaughtUp: (connection) =>
      connection >= states.length || (states[connection] === FREE && heads[connection] === NIL),
    blocked: () => blockedTotal,
    stop() {
      isStopped = true
    },
  }
}
