// When connections have their turn: each once per flush interval, in phases spread over it, so that a
// change with many watchers is many small turns of the loop instead of one long one. Whoever queues up
// in a phase has their turn in the next one of theirs, never sooner, whoever else is waiting.
import type { Clock, Timer } from '../../platform/clock.ts'
import { grown } from '../../platform/typed-arrays.ts'
import { LOTS, lotOf } from '../sessions/row-numbers.ts'

const PHASE_MIN_MS = 5
/** A turn that sends for longer than this hands the loop back and carries on in the next one. */
const TURN_BUDGET_MS = 8
const SENDS_BETWEEN_LOOKS = 64

export interface Phases {
  /** The connection, which is not queued, wants a turn. */
  enqueue(connection: number): void
  /** Gives those their turn whose time has come, if that is still to be done. */
  catchUp(): void
  stop(): void
}

export interface PhasesParts {
  clock: Clock
  flushMs: number
  /** The connection has its turn. */
  take(connection: number, now: number): void
}

interface Queue {
  items: Int32Array
  length: number
  /** How many were here before the phase `sealedAt` began. */
  sealed: number
  sealedAt: number
}

export function createPhases({ clock, flushMs, take }: PhasesParts): Phases {
  const phases = Math.max(1, Math.min(LOTS, Math.floor(flushMs / PHASE_MIN_MS)))
  const queues = Array.from(
    { length: phases },
    (): Queue => ({
      items: new Int32Array(64),
      length: 0,
      sealed: 0,
      sealedAt: 0,
    }),
  )
  let queuedTotal = 0
  const phaseMs = flushMs / phases
  /** Counts phases since 1970: each connection has its turn once per flush interval, never sooner. */
  let turn = Math.floor(clock.now() / phaseMs)
  let next: { at: number; timer: Timer } | null = null
  let isStopped = false

  function tickLater(): void {
    if (isStopped) return
    const now = clock.now()
    const at = (Math.floor(now / phaseMs) + 1) * phaseMs
    next = { at, timer: clock.after(at - now, tick) }
  }

  function tick(): void {
    next = null
    const startedAt = clock.elapsed()
    const present = Math.floor(clock.now() / phaseMs)
    // After a pause every phase is behind; each needs only one turn. A clock that was set back
    // must not make anybody wait until it is here again.
    for (turn = Math.min(Math.max(turn, present - phases), present); turn < present; ) {
      const connections = takeDue(queues[++turn % phases]!, present)
      // Phases that are behind share the budget of one turn.
      if (connections.length > 0) drain(connections, 0, startedAt)
    }
    if (queuedTotal > 0 && next === null) tickLater()
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

  function drain(connections: Int32Array, from: number, startedAt: number): void {
    const now = clock.now()
    for (let position = from; position < connections.length; position++) {
      queuedTotal--
      take(connections[position]!, now)
      if (position % SENDS_BETWEEN_LOOKS === 0 && clock.elapsed() - startedAt > TURN_BUDGET_MS) {
        if (position + 1 < connections.length)
          clock.soon(() => drain(connections, position + 1, clock.elapsed()))
        return
      }
    }
  }

  return {
    enqueue(connection) {
      const queue = queues[lotOf(connection) % phases]!
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
      if (next === null) tickLater()
    },
    catchUp() {
      if (next === null || clock.now() < next.at) return
      next.timer.stop()
      tick()
    },
    stop() {
      isStopped = true
    },
  }
}
