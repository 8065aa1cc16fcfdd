// The door of this room. Every process knows the webhooks and can edit them; a process with the fan-out role also turns
// the change log into deliveries and sends them. It consumes the log only while there is a webhook.
import type { Archive } from '../archive/port.ts'
import type { Consumption, LogConsumer } from '../log/port.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import type { Tally } from '../platform/measuring/tally.ts'
import type { PrivacyRules } from '../presence/core/privacy.ts'
import type { ViewerReader } from '../presence/reading/viewer-reader.ts'
import { openWebhookBook, type WebhookBook } from './book.ts'
import { createWebhookConsumer } from './consumer.ts'
import { createWebhooks, type Webhooks } from './editing.ts'
import { createSendPost } from './request.ts'
import { startWebhookSender } from './sender.ts'
import { startWebhookSweep } from './sweep.ts'
import { createViewerEvents } from './viewer-events.ts'

export { urlProblem } from './addresses.ts'
export { type KnownWebhook, WEBHOOKS_MAX, type Webhooks } from './editing.ts'

export interface OpenedWebhooks {
  webhooks: Webhooks
  /** Whether changes must be logged for them. */
  areWanted(): boolean
  /** The fan-out role. */
  startFanout(parts: WebhookFanoutParts): Promise<WebhookFanout>
  stop(): void
}

export interface WebhookFanout {
  stop(): Promise<void>
}

export interface WebhookParts {
  archive: Archive
  allowsPrivate: boolean
  isShared: boolean
  clock: Clock
  trueClock: Clock
  logger: Logger
}

export interface WebhookFanoutParts {
  consume(consumer: LogConsumer): Promise<Pick<Consumption, 'stop'>>
  viewerReader: ViewerReader
  rules: PrivacyRules
  leaseMs: number
  /** Changes that may wait for one webhook. */
  pendingMax: number
  tally: Tally
}

export async function openWebhooks(parts: WebhookParts): Promise<OpenedWebhooks> {
  const { archive, clock, logger } = parts
  const book = await openWebhookBook(archive.webhooks, clock, logger)
  const sendPost = createSendPost(parts)
  const webhooks = createWebhooks({ ...parts, book, sendPost })

  return {
    webhooks,
    areWanted: () => book.enabled().length > 0,
    async startFanout({ consume, viewerReader, rules, leaseMs, pendingMax, tally }) {
      const { disable } = webhooks
      const sender = startWebhookSender({ ...parts, book, sendPost, disable, leaseMs, tally })
      const sweep = startWebhookSweep({ archive, book, disable, pendingMax, clock, logger })
      const viewerEvents = createViewerEvents({ archive, viewerReader, rules, clock })
      const onKept = () => sender.nudge()
      const consumer = createWebhookConsumer({ archive, book, viewerEvents, clock, onKept })
      const consuming = consumeWhileWanted(book, () => consume(consumer), logger)
      return {
        async stop() {
          await consuming.stop()
          sweep.stop()
          await sender.stop()
        },
      }
    },
    stop: book.stop,
  }
}

/** Starts and stops the consumption as webhooks come and go, one step after the other. */
function consumeWhileWanted(
  book: WebhookBook,
  consume: () => Promise<Pick<Consumption, 'stop'>>,
  logger: Logger,
): { stop(): Promise<void> } {
  let consumption: Pick<Consumption, 'stop'> | null = null
  let isStopped = false
  let last: Promise<void> = Promise.resolve()

  async function adjust(): Promise<void> {
    const isWanted = !isStopped && book.enabled().length > 0
    if (isWanted && consumption === null) consumption = await consume()
    if (isWanted || consumption === null) return
    await consumption.stop()
    consumption = null
  }
  const adjustNext = (): Promise<void> => {
    last = last
      .then(adjust)
      .catch((error: unknown) =>
        logger.error({ err: error }, 'the change log cannot be consumed for webhooks'),
      )
    return last
  }

  void adjustNext()
  book.onEdit(() => void adjustNext())
  return {
    stop() {
      isStopped = true
      return adjustNext()
    },
  }
}
