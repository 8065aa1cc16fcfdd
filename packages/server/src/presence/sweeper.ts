// The whole reaper: asks the deadline queue who is due and sends them a tick. It holds no state of
// its own, so two sweepers on one shard are wasteful and harmless.
import type { Clock, Timer } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import type { PresenceStore } from '../store/port.ts'
import type { Tracker } from './tracker.ts'

/** Four rounds in the second that a visible change may be late. */
const SWEEP_EVERY_MS = 250
const DUE_BATCH_MAX = 1_000
/** Bounds a round on one shard, should ticks fail to move the queue. */
const BATCHES_MAX = 1_000
/** Forgetting is housekeeping: a bounded slice of it in each round. */
const FORGET_BATCH_MAX = 2_000

export interface Sweeper {
  stop(): Promise<void>
  /** How late the last round found the oldest deadline. */
  lagMs(): number
}

export function startSweeper(parts: {
  store: PresenceStore
  tracker: Tracker
  clock: Clock
  logger: Logger
}): Sweeper {
  const { store, tracker, clock, logger } = parts
  let round: Promise<void> | null = null
  let lagMs = 0

  async function sweep(): Promise<void> {
    let worstMs = 0
    for (let shard = 0; shard < store.shardCount; shard++) {
      for (let batch = 0; batch < BATCHES_MAX; batch++) {
        const now = clock.now()
        const due = await store.due(shard, now, DUE_BATCH_MAX)
        if (due.length === 0) break
        worstMs = Math.max(worstMs, now - due[0]!.dueAt)
        for (const { userId } of due) tracker.report(userId, { type: 'tick' })
        await tracker.flush()
        if (due.length < DUE_BATCH_MAX) break
      }
    }
    lagMs = worstMs
    await store.forget(clock.now(), FORGET_BATCH_MAX)
  }

  const timer: Timer = clock.every(SWEEP_EVERY_MS, () => {
    // A round that takes long is not doubled by the next one.
    round ??= sweep()
      .catch((error) => logger.error({ err: error }, 'sweep failed; the next round tries again'))
      .finally(() => {
        round = null
      })
  })

  return {
    async stop() {
      timer.stop()
      await round
    },
    lagMs: () => lagMs,
  }
}
