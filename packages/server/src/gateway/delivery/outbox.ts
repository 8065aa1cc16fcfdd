// Latest wins: towards each connection we keep the set of targets that changed since its last
// frame, never a queue of events. A slow reader costs one mark per watched user and ends at the
// truth. A change with very many watchers is not even marked at once: a wave does it, and until it
// comes by the change is owed to them as if it were marked.
import type { Clock } from '../../platform/clock.ts'
import { grown } from '../../platform/typed-arrays.ts'
import { HELD_BACK, isInDoubt, isNothingSeen, isWholeSeen, sightOf } from './edge-flags.ts'
import { createPhases } from './phases.ts'
import { ALL_AT_ONCE, limitFor, type Plans, planFor } from './plans.ts'
import { CHANGE_FRAME_START, FRAME_LIST_END, type TargetTable } from './target-table.ts'
import {
  type Crowd,
  createWatchIndex,
  discreetCrowd,
  isDiscreetCrowd,
  MARKED,
  NIL,
  openCrowd,
  UNMARKED,
  type WatchIndex,
} from './watch-index.ts'
import { createWaves, type Pace, USUAL_PACE } from './waves.ts'

/** Changes in one frame; the rest stay marked for the next flush. */
const CHANGES_PER_FRAME_MAX = 500

export type SendResult = 'sent' | 'blocked' | 'gone'

export interface Outbox {
  index: WatchIndex
  /** A target changed: everybody who watches it has something to hear, at once or by a wave. */
  markTarget(target: number): void
  /** What its viewer may see is about to change: what a wave owes them is marked by what they see now. */
  settleDebt(edge: number): void
  /** Whether its viewer is to be noticed has changed. */
  setDiscreet(connection: number, isDiscreet: boolean): void
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
  /** Whether there are more in the edge's crowd than are told of changes. */
  isFull(edge: number): boolean
  /** Waves that are on their way, and those that wait in the queue. */
  waves(): { walking: number; waiting: number }
  stop(): void
}

export interface OutboxParts {
  targets: TargetTable
  clock: Clock
  flushMs: number
  /** By how many watchers a change is paced; without it never. */
  plans?: Plans
  pace?: Pace
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
  const { targets, clock, flushMs, plans = ALL_AT_ONCE, pace = USUAL_PACE } = parts
  const { send, ownFrame, onFrame } = parts
  let heads = new Int32Array(0)
  let own = new Uint8Array(0)
  let states = new Uint8Array(0)
  let blockedTotal = 0

  const index = createWatchIndex(unlink, {
    onLeave: (crowd, edge, next) => waves.moveOff(crowd, edge, next),
    changeOf: (crowd) => waves.changeOf(crowd),
  })
  // A change that a wave brings in the moment of a flush is for the next one, whichever timer was set first:
  // that may have been because of somebody hidden.
  const waves = createWaves({ index, plans, pace, flushMs, clock, tell, onTick: () => phases.catchUp() })
  const phases = createPhases({ clock, flushMs, take })

  function reserve(connection: number): void {
    if (connection < heads.length) return
    heads = grown(heads, connection + 1, NIL)
    own = grown(own, connection + 1)
    states = grown(states, connection + 1)
  }

  function enqueue(connection: number): void {
    if (states[connection] !== FREE) return
    states[connection] = QUEUED
    phases.enqueue(connection)
  }

  function take(connection: number, now: number): void {
    if (states[connection] !== QUEUED) return
    states[connection] = FREE
    flush(connection, now)
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
      const target = index.targetOf(edge)
      index.unmark(edge, waves.changeFor(edge))
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
      index.unmark(edge, waves.changeFor(edge))
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

  /** Marks a change for whoever may hear of it. */
  function mark(edge: number): void {
    const flags = index.flags(edge)
    if (isWholeSeen(flags)) markEdge(edge)
    else if (isInDoubt(flags)) index.setFlags(edge, flags | HELD_BACK)
    // Whoever sees nothing of somebody hears nothing of them, not even that there was something.
    else if (!isNothingSeen(flags)) markEdge(edge)
  }

  function markCrowd(crowd: Crowd): void {
    if (planFor(crowd, index.watchers(crowd), plans) !== 'instant') waves.changed(crowd)
    else {
      waves.cancel(crowd)
      for (let edge = index.firstWatcher(crowd); edge !== NIL; edge = index.nextWatcher(edge)) mark(edge)
    }
  }

  /** The same for a wave, which must not come by twice: whoever is not marked after this was told. */
  function tell(edge: number, change: number): void {
    mark(edge)
    if (index.told(edge) !== MARKED) index.unmark(edge, change)
  }

  function settleDebt(edge: number): void {
    if (waves.isOwed(edge)) tell(edge, waves.changeFor(edge))
  }

  function hasDebts(connection: number): boolean {
    if (waves.walking() + waves.waiting() === 0) return false
    for (let edge = index.firstTarget(connection); edge !== NIL; edge = index.nextTarget(edge)) {
      // Of somebody hidden there is nothing to be told, and nobody may notice that there was.
      if (waves.isOwed(edge) && !isNothingSeen(index.flags(edge))) return true
    }
    return false
  }

  return {
    index,
    markTarget(target) {
      markCrowd(openCrowd(target))
      markCrowd(discreetCrowd(target))
    },
    settleDebt,
    setDiscreet(connection, isDiscreet) {
      const first = index.firstTarget(connection)
      if (first === NIL || isDiscreetCrowd(index.crowdOf(first)) === isDiscreet) return
      for (let edge = first; edge !== NIL; edge = index.nextTarget(edge)) {
        // There it counts as one who knows the newest.
        settleDebt(edge)
        index.setDiscreet(edge, isDiscreet)
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
    isCaughtUp(connection) {
      const isMarked =
        connection < states.length && (states[connection] !== FREE || heads[connection] !== NIL)
      return !isMarked && !hasDebts(connection)
    },
    blocked: () => blockedTotal,
    isFull(edge) {
      const crowd = index.crowdOf(edge)
      return plans.polledAbove > 0 && index.watchers(crowd) > limitFor(crowd, plans.polledAbove)
    },
    waves: () => ({ walking: waves.walking(), waiting: waves.waiting() }),
    stop() {
      phases.stop()
      waves.stop()
    },
  }
}
