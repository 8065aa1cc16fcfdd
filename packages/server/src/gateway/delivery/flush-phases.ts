// When connections are flushed: each at most once per flush interval, in phases spread over it, so that a
// change with many watchers is many short turns of the loop instead of one long one.
import type { Clock } from '../../platform/clock.ts'
import { grown } from '../../platform/typed-arrays.ts'

const PHASES_MAX = 10
const PHASE_MIN_MS = 5
/** Neighbouring connections share a phase: their rows share cache lines. */
const BLOCK_BITS = 6
/** A turn that sends for longer than this hands the loop back and carries on in the next one. */
const TURN_BUDGET_MS = 8
const SENDS_BETWEEN_CHECKS = 64

export interface FlushPhases {
  /** The connection, which is not queued, wants to be flushed. */
  enqueue(connection: number): void
  stop(): void
}

export interface FlushPhasesParts {
  clock: Clock
  flushMs: number
  flush(connection: number, now: number): void
}

interface Queue {
  connections: Int32Array
  length: number
}

export function createFlushPhases({ clock, flushMs, flush }: FlushPhasesParts): FlushPhases {
  const phases = Math.max(1, Math.min(PHASES_MAX, Math.floor(flushMs / PHASE_MIN_MS)))
  const phaseMs = flushMs / phases
  const queues = Array.from({ length: phases }, (): Queue => ({ connections: new Int32Array(64), length: 0 }))
  let queuedTotal = 0
  /** Counts phases since the start; each queue has its turn once per flush interval. */
  let phase = 0
  let isTicking = false
  let isStopped = false

  const phaseAt = (elapsedMs: number) => Math.floor(elapsedMs / phaseMs)

  function tickLater(): void {
    if (isTicking || isStopped) return
    isTicking = true
    // Read once: time goes on between two reads, and the boundary may be behind the second.
    const elapsedMs = clock.elapsed()
    // At the next boundary, so that two turns of a queue are a whole interval apart.
    clock.after((phaseAt(elapsedMs) + 1) * phaseMs - elapsedMs, tick)
  }

  function tick(): void {
    isTicking = false
    const startedAt = clock.elapsed()
    const present = phaseAt(startedAt)
    // After a pause every phase is behind, and each needs only one turn.
    for (phase = Math.max(phase, present - phases); phase < present; ) {
      const queue = queues[++phase % phases]!
      if (queue.length === 0) continue
      const connections = queue.connections.slice(0, queue.length)
      queue.length = 0
      // Phases that are behind share the budget of one turn.
      drain(connections, 0, startedAt)
    }
    if (queuedTotal > 0) tickLater()
  }

  function drain(connections: Int32Array, from: number, startedAt: number): void {
    const now = clock.now()
    for (let position = from; position < connections.length; position++) {
      queuedTotal--
      flush(connections[position]!, now)
      if (position % SENDS_BETWEEN_CHECKS === 0 && clock.elapsed() - startedAt > TURN_BUDGET_MS) {
        if (position + 1 < connections.length)
          clock.soon(() => drain(connections, position + 1, clock.elapsed()))
        return
      }
    }
  }

  return {
    enqueue(connection) {
      const queue = queues[(connection >> BLOCK_BITS) % phases]!
      if (queue.length === queue.connections.length)
        queue.connections = grown(queue.connections, queue.length + 1)
      queue.connections[queue.length++] = connection
      // After a quiet time the first change is spread over the phases like any other.
      if (queuedTotal++ === 0) phase = phaseAt(clock.elapsed())
      tickLater()
    },
    stop() {
      isStopped = true
    },
  }
}
