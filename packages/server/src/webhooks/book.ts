// The webhooks as this process knows them: a copy of the archive's, looked at again regularly. Where there are none, this
// look is all that webhooks cost. An outage of the archive leaves the copy as it was.
import type { Webhook, WebhookArchive } from '../archive/port.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'

/** Every process knows of an edit after this time. */
export const KNOWN_WITHIN_MS = 2_000
const LOOK_EVERY_MS = 1_000

export interface WebhookBook {
  /** As of the last look. */
  enabled(): readonly Webhook[]
  /** Looks now. */
  look(): Promise<readonly Webhook[]>
  /** Called after a look that found something else. */
  onEdit(listener: () => void): void
  stop(): void
}

export async function openWebhookBook(
  archive: WebhookArchive,
  clock: Clock,
  logger: Logger,
): Promise<WebhookBook> {
  let edition = ''
  let enabled: readonly Webhook[] = []
  const listeners: (() => void)[] = []
  let isFailing = false
  let lastLook: Promise<unknown> = Promise.resolve()

  async function lookNow(): Promise<readonly Webhook[]> {
    const present = await archive.edition()
    if (present === edition) return enabled
    const all = await archive.list()
    edition = present
    enabled = all.filter(({ state }) => state.state === 'enabled')
    for (const listener of listeners) listener()
    return enabled
  }

  /** One after the other, so that an older answer never replaces a newer one. */
  function look(): Promise<readonly Webhook[]> {
    const next = lastLook.then(lookNow, lookNow)
    lastLook = next
    return next
  }

  async function lookRegularly(): Promise<void> {
    try {
      await look()
      isFailing = false
    } catch (error) {
      if (!isFailing) logger.warn({ err: error }, 'the webhooks cannot be read; the last ones known are used')
      isFailing = true
    }
  }

  await lookRegularly()
  const timer = clock.every(LOOK_EVERY_MS, () => void lookRegularly())
  return {
    enabled: () => enabled,
    look,
    onEdit: (listener) => void listeners.push(listener),
    stop: () => timer.stop(),
  }
}
