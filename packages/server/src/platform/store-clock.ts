// One time for all processes: the local clock, corrected by what the store's clock says. Deadlines are
// compared between processes, so a machine whose clock is off must not see everybody lost or nobody.
import type { Clock } from './clock.ts'
import type { Logger } from './logger.ts'

const MEASURE_EVERY_MS = 10_000
/** Corrections below this are noise of the network. */
const NOTICED_MS = 5
const WORTH_A_WARNING_MS = 1_000

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
  let offsetMs = 0

  async function measure(): Promise<boolean> {
    const askedAt = local.now()
    const storeAt = await time()
    if (storeAt === null) return false
    // The answer was made about halfway between asking and hearing it.
    const measured = storeAt - (askedAt + local.now()) / 2
    if (Math.abs(measured - offsetMs) < NOTICED_MS) return true
    if (Math.abs(measured) >= WORTH_A_WARNING_MS) {
      logger.warn({ offsetMs: measured }, 'the clock of this machine is off; using the time of the store')
    }
    offsetMs = Math.round(measured)
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
    now: () => local.now() + offsetMs,
    offsetMs: () => offsetMs,
    stop: () => timer?.stop(),
  }
}
