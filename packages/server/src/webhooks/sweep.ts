// Keeps webhooks within their limits, in the fan-out role: failures are deleted after a week, also those of webhooks that
// are disabled, and a webhook for which too much waits is disabled, after a warning. Several processes may do this at once.
import type { Archive, Webhook } from '../archive/port.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import type { WebhookBook } from './book.ts'

/** Seldom, because it counts all that waits. */
const EVERY_MS = 60_000
/** Old failures are looked for in every so many rounds, because that reads all deliveries. */
const ROUNDS_PER_TRIM = 60
const FAILURES_KEPT_MS = 7 * 24 * 60 * 60 * 1000
/** Of the changes that may wait for one webhook. */
const WARN_SHARE = 0.5

const MUCH_WAITS = 'many changes wait for a webhook; it is disabled when there are too many'

export interface WebhookSweepParts {
  archive: Archive
  book: WebhookBook
  disable(webhook: Webhook, because: string): Promise<void>
  /** Changes that may wait for one webhook. */
  pendingMax: number
  clock: Clock
  logger: Logger
}

export function startWebhookSweep(parts: WebhookSweepParts) {
  const { archive, book, disable, pendingMax, clock, logger } = parts
  const { webhooks } = archive
  let isRunning = false
  let rounds = 0
  const warned = new Set<string>()

  async function checkPending(webhook: Webhook): Promise<void> {
    const { id } = webhook
    const { pending } = await webhooks.health(id)
    const isMuch = pending > pendingMax * WARN_SHARE
    if (isMuch && !warned.has(id))
      logger.warn({ webhook: id, pending, webhook_pending_max: pendingMax }, MUCH_WAITS)
    if (isMuch) warned.add(id)
    else warned.delete(id)
    if (pending > pendingMax) await disable(webhook, `more than ${pendingMax} changes waited for it`)
  }

  async function sweep(): Promise<void> {
    if (rounds++ % ROUNDS_PER_TRIM === 0) await webhooks.trim(clock.now() - FAILURES_KEPT_MS)
    for (const webhook of book.enabled()) await checkPending(webhook)
  }

  const timer = clock.every(EVERY_MS, () => {
    if (isRunning) return
    isRunning = true
    void sweep()
      .catch((error: unknown) => logger.debug({ err: error }, 'webhooks could not be swept'))
      .finally(() => {
        isRunning = false
      })
  })
  return { stop: () => timer.stop() }
}
