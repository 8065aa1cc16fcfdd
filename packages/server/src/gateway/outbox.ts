// Latest wins: towards each connection we keep the set of targets that changed since its last
// frame, never a queue of events. A slow reader costs one mark per watched user and ends at the
// truth. Connections are flushed in phases spread over the flush interval, so that a change with
// many watchers is many small turns of the loop instead of one long one.
import type { Clock } from '../platform/clock.ts'
import { grown } from '../platform/typed-arrays.ts'
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
  /** The connection's own view changed. */
  markOwn(connection: number): void
  /** The socket can take more again. */
  unblock(connection: number): void
  forget(connection: number): void
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

const FREE = 0
const QUEUED = 1
const BLOCKED = 2

export function createOutbox(parts: OutboxParts): Outbox {
  const { targets, clock, flushMs, send, ownFrame, onFrame } = parts
  const phases = Math.max(1, Math.min(PHASES_MAX, Math.floor(flushMs / PHASE_MIN_MS)))
  const queues = Array.from({ length: phases }, () => ({ items: new Int32Array(64), length: 0 }))
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
    if (queue.length === queue.items.length) queue.items = grown(queue.items, queue.length + 1)
    queue.items[queue.length++] = connection
    // Phases that went by while nobody waited are owed to nobody: the first change after a quiet
    // time is spread like any other.
    if (queuedTotal++ === 0) turn = Math.floor(clock.now() / phaseMs)
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
      const queue = queues[++turn % phases]!
      // Emptied first: a connection with more to say than fits one frame queues up again meanwhile.
      const connections = queue.items.slice(0, queue.length)
      queue.length = 0
      if (connections.length > 0) drain(connections, 0)
    }
    if (queuedTotal > 0 && !isTicking) tickLater()
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
    let edge = heads[connection]!
    if (edge === NIL) return
    const first = index.targetOf(edge)
    let oldestAt = targets.changedAt(first)
    let changes = 1
    let frame: string
    let next = index.nextMarked(edge)
    index.setNextMarked(edge, UNMARKED)
    if (next === NIL) {
      frame = targets.frame(first)
    } else {
      frame = CHANGE_FRAME_START + targets.json(first)
      while (next !== NIL && changes < CHANGES_PER_FRAME_MAX) {
        edge = next
        const target = index.targetOf(edge)
        frame += `,${targets.json(target)}`
        oldestAt = Math.min(oldestAt, targets.changedAt(target))
        changes++
        next = index.nextMarked(edge)
        index.setNextMarked(edge, UNMARKED)
      }
      frame += FRAME_LIST_END
    }
    heads[connection] = next
    onFrame(changes, now - oldestAt)
    if (sendOrBlock(connection, frame) && next !== NIL) enqueue(connection)
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

  return {
    index,
    markTarget(target) {
      for (let edge = index.firstWatcher(target); edge !== NIL; edge = index.nextWatcher(edge)) {
        if (index.nextMarked(edge) !== UNMARKED) continue
        const connection = index.connectionOf(edge)
        reserve(connection)
        index.setNextMarked(edge, heads[connection]!)
        heads[connection] = edge
        enqueue(connection)
      }
    },
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
    blocked: () => blockedTotal,
    stop() {
      isStopped = true
    },
  }
}
