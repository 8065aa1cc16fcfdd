// Keeps webhooks within their limits, in the fan-out role: failures are deleted after a week, and a webhook for which too
// much waits is disabled. Several processes may do this at once.
import type { Archive, Webhook } from '../archive/port.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import type { WebhookBook } from './book.ts'

const EVERY_MS = 10_000
/** Old failures are looked for in every so many rounds, because that reads all deliveries. */
const ROUNDS_PER_TRIM = 360
const FAILURES_KEPT_MS = 7 * 24 * 60 * 60 * 1000
/** Changes that wait for one webhook. */
const PENDING_MAX = 100_000

export interface WebhookSweepParts {
  archive: Archive
  book: WebhookBook
  disable(webhook: Webhook, because: string): Promise<void>
  clock: Clock
  logger: Logger
}

export function startWebhookSweep({ archive, book, disable, clock, logger }: WebhookSweepParts) {
  const { webhooks } = archive
  let isRunning = false
  let rounds = 0

  async function sweep(): Promise<void> {
    for (const webhook of book.enabled()) {
      const { pending } = await webhooks.health(webhook.id)
      if (pending > PENDING_MAX) await disable(webhook, `more than ${PENDING_MAX} changes waited for it`)
    }
    if (rounds++ % ROUNDS_PER_TRIM === 0) await webhooks.trim(clock.now() - FAILURES_KEPT_MS)
  }

  const timer = clock.every(EVERY_MS, () => {
    if (isRunning || book.enabled().length === 0) return
    isRunning = true
    void sweep()
      .catch((error: unknown) => logger.debug({ err: error }, 'webhooks could not be swept'))
      .finally(() => {
        isRunning = false
      })
  })
  return { stop: () => timer.stop() }
}
