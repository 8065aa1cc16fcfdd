// Sends what is kept, in the fan-out role. A process claims a webhook, sends one batch after the other, and releases it. It
// renews the claim meanwhile; when the process dies, the claim expires and another one sends the same batch again. Each
// webhook has a task of its own, so an endpoint that hangs holds up no other.
import type { Archive, ClaimedWebhook, Webhook, WebhookBatch } from '../archive/port.ts'
import type { Clock } from '../platform/clock.ts'
import { jittered, randomName } from '../platform/ids.ts'
import type { Logger } from '../platform/logger.ts'
import type { Tally } from '../platform/measuring/tally.ts'
import type { WebhookBook } from './book.ts'
import { bodyOf } from './deliveries.ts'
import type { Outcome, SendPost } from './request.ts'
import { DISABLE_AFTER_MS, pauseAfter, retryAfter } from './retries.ts'
import { signatureHeaders } from './signing.ts'

const LOOK_EVERY_MS = 1_000
const CHANGES_PER_BATCH_MAX = 100

export interface WebhookSender {
  /** There may be something to send. */
  nudge(): void
  /** Resolves when the requests under way have ended. */
  stop(): Promise<void>
}

export interface WebhookSenderParts {
  archive: Archive
  book: WebhookBook
  sendPost: SendPost
  disable(webhook: Webhook, because: string): Promise<void>
  /** How long a claim is valid without being renewed. */
  leaseMs: number
  clock: Clock
  /** The true time, for signatures. */
  trueClock: Pick<Clock, 'now'>
  tally: Tally
  logger: Logger
}

export function startWebhookSender(parts: WebhookSenderParts): WebhookSender {
  const { book, sendPost, disable, leaseMs, clock, trueClock, tally, logger } = parts
  const archive = parts.archive.webhooks
  const name = randomName('f-')
  const running = new Map<string, Promise<void>>()
  let isStopped = false
  let isLooking = false
  let mustLookAgain = false

  async function recordOutcome(
    webhook: Webhook,
    batch: WebhookBatch,
    outcome: Outcome,
    failuresInRow: number,
  ) {
    const now = clock.now()
    if (outcome.ok) {
      tally.webhooksDelivered++
      return archive.delivered(webhook.id, batch.id, now)
    }
    tally.webhooksFailed++
    const { because, retryAfterMs, isGone } = outcome
    const waitMs = retryAfter(batch.attempts + 1)
    const health = await archive.failed(webhook.id, batch.id, {
      at: now,
      because,
      dueAt: waitMs === null ? null : now + Math.max(jittered(waitMs), retryAfterMs),
      retryAt: now + Math.max(jittered(pauseAfter(failuresInRow + 1)), retryAfterMs),
    })
    if (failuresInRow === 0)
      logger.warn({ webhook: webhook.id, because }, 'a webhook failed; it is tried again')
    if (waitMs === null)
      logger.error(
        { webhook: webhook.id, changes: batch.deliveries.length, because },
        'a webhook was given up',
      )
    if (isGone) await disable(webhook, because)
    else if (now - (health.failingSince ?? now) >= DISABLE_AFTER_MS)
      await disable(webhook, `every request failed for a day; the last one: ${because}`)
  }

  async function send(webhook: Webhook, batch: WebhookBatch): Promise<Outcome> {
    const events = batch.deliveries.map((delivery) => delivery.events)
    const body = bodyOf(webhook.id, events)
    const { secrets, url } = webhook
    const headers = signatureHeaders({ id: batch.id, body, secrets, now: trueClock.now() })
    return sendPost({ url, headers, body })
  }

  async function sendAll({ id, failuresInRow }: ClaimedWebhook): Promise<void> {
    for (let failures = failuresInRow; !isStopped; failures = 0) {
      const webhook = (await book.look()).find((one) => one.id === id)
      if (webhook === undefined) return
      const batch = await archive.nextBatch(id, randomName('msg_'), clock.now(), CHANGES_PER_BATCH_MAX)
      if (batch === null) return
      const outcome = await send(webhook, batch)
      await recordOutcome(webhook, batch, outcome, failures)
      if (!outcome.ok) return
      // Another process may have it by now.
      if (!(await archive.renew(name, id, clock.now() + leaseMs))) return
    }
  }

  async function serve(claimed: ClaimedWebhook): Promise<void> {
    const { id } = claimed
    const timer = clock.every(leaseMs / 3, () => {
      archive.renew(name, id, clock.now() + leaseMs).catch(ignore)
    })
    try {
      await sendAll(claimed)
    } catch (error) {
      logger.warn({ err: error, webhook: id }, 'deliveries of a webhook cannot be read or written')
    } finally {
      timer.stop()
      await archive.release(name, id).catch(ignore)
    }
  }

  async function claim(): Promise<void> {
    const now = clock.now()
    for (const claimed of await archive.claim(name, now, now + leaseMs)) {
      // A claim that could not be renewed has expired while its request is under way.
      if (running.has(claimed.id)) continue
      const task = serve(claimed).finally(() => running.delete(claimed.id))
      running.set(claimed.id, task)
    }
  }

  async function look(): Promise<void> {
    mustLookAgain = true
    if (isLooking) return
    isLooking = true
    while (mustLookAgain && !isStopped && book.enabled().length > 0) {
      mustLookAgain = false
      await claim().catch((error: unknown) => logger.debug({ err: error }, 'webhooks cannot be claimed'))
    }
    isLooking = false
  }

  const timer = clock.every(LOOK_EVERY_MS, () => void look())
  return {
    nudge: () => void look(),
    async stop() {
      isStopped = true
      timer.stop()
      await Promise.all(running.values())
    },
  }
}

/** The claim expires. */
const ignore = () => {}
