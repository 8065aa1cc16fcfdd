// One time for all processes: the local clock, corrected by the clock of the store. Deadlines are compared
// between processes, so a machine whose clock is wrong must not end every session, or none.
import type { Clock } from './clock.ts'
import type { Logger } from './logger.ts'

const MEASURE_EVERY_MS = 10_000
/** Smaller corrections are network noise. */
const NOTICED_MS = 5
const WORTH_A_WARNING_MS = 1_000
const SLOW_ANSWER_MS = 200

export interface StoreClock extends Clock {
  /** How far the local clock is behind the clock of the store. */
  offsetMs(): number
  stop(): void
}

/** Measures once before it returns; `time` is null for a store without a clock of its own. */
export async function createStoreClock(
  local: Clock,
  time: () => Promise<number | null>,
  logger: Logger,
): Promise<StoreClock> {
  /** What to add to the monotonic time; null while the local clock is used. */
  let storeFromElapsedMs: number | null = null
  let offsetMs = 0

  async function measure(): Promise<boolean> {
    const askedAt = local.elapsed()
    const storeAt = await time()
    if (storeAt === null) return false
    const heardAt = local.elapsed()
    // A slow answer is too imprecise.
    if (heardAt - askedAt > SLOW_ANSWER_MS && storeFromElapsedMs !== null) return true
    const measured = storeAt - (askedAt + heardAt) / 2
    offsetMs = Math.round(measured + heardAt - local.now())
    if (storeFromElapsedMs !== null && Math.abs(measured - storeFromElapsedMs) < NOTICED_MS) return true
    storeFromElapsedMs = measured
    if (Math.abs(offsetMs) >= WORTH_A_WARNING_MS) {
      logger.warn({ offsetMs }, 'the clock of this machine is wrong; the time of the store is used')
    }
    return true
  }

  const hasClock = await measure()
  const timer = hasClock
    ? local.every(MEASURE_EVERY_MS, () => {
        // While the store is down, the last measurement stays in use.
        measure().catch((error) => logger.debug({ err: error }, 'the time of the store cannot be read'))
      })
    : null
  return {
    ...local,
    // Based on monotonic time: a step of the local clock must not make all sessions late at once.
    now: () => (storeFromElapsedMs === null ? local.now() : Math.floor(local.elapsed() + storeFromElapsedMs)),
    offsetMs: () => offsetMs,
    stop: () => timer?.stop(),
  }
}
