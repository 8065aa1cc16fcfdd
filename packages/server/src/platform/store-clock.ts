// One time for all processes: the local clock, corrected by what the store's clock says. Deadlines are
// compared between processes, so a machine whose clock is off must not see everybody lost or nobody.
import type { Clock } from './clock.ts'
import type { Logger } from './logger.ts'

const MEASURE_EVERY_MS = 10_000
/** Corrections below this are noise of the network. */
const NOTICED_MS = 5
const WORTH_A_WARNING_MS = 1_000
const SLOW_ANSWER_MS = 200

export interface StoreClock extends Clock {
  /** How far the local clock is behind the store's. */
  offsetMs(): number
  stop(): void
}

/** Measures once before it returns; `time` is null for a store without a clock of its own. */
export async function createStoreClock(
  local: Clock,
  time: () => Promise<number | null>,
  logger: Logger,
): Promise<StoreClock> {
  /** What to add to the time that only grows; null while the local clock has to do. */
  let storeFromElapsedMs: number | null = null
  let offsetMs = 0

  async function measure(): Promise<boolean> {
    const askedAt = local.elapsed()
    const storeAt = await time()
    if (storeAt === null) return false
    const heardAt = local.elapsed()
    // A slow answer says little about when it was made.
    if (heardAt - askedAt > SLOW_ANSWER_MS && storeFromElapsedMs !== null) return true
    const measured = storeAt - (askedAt + heardAt) / 2
    offsetMs = Math.round(measured + heardAt - local.now())
    if (storeFromElapsedMs !== null && Math.abs(measured - storeFromElapsedMs) < NOTICED_MS) return true
    storeFromElapsedMs = measured
    if (Math.abs(offsetMs) >= WORTH_A_WARNING_MS) {
      logger.warn({ offsetMs }, 'the clock of this machine is off; using the time of the store')
    }
    return true
  }

  const hasClock = await measure()
  const timer = hasClock
    ? local.every(MEASURE_EVERY_MS, () => {
        // While the store is away the last measurement is as good as any.
        measure().catch((error) => logger.debug({ err: error }, 'the time of the store is not to be had'))
      })
    : null
  return {
    ...local,
    // By the time that only grows: a step of the local clock must not make everybody late at once.
    now: () => (storeFromElapsedMs === null ? local.now() : Math.floor(local.elapsed() + storeFromElapsedMs)),
    offsetMs: () => offsetMs,
    stop: () => timer?.stop(),
  }
}
