// What the backend of the app does with webhooks: add, edit, remove, try, look at failures and replay them. Every edit
// replaces the webhook as it was read; where another edit came first, it is made again on the newer one.
import type { WebhookEventType, WebhookTestEvent } from '@greendot/protocol'
import type {
  Archive,
  FailedDelivery,
  FailureCursor,
  Webhook,
  WebhookFilter,
  WebhookHealth,
  WebhookState,
} from '../archive/port.ts'
import type { Clock } from '../platform/clock.ts'
import { randomName } from '../platform/ids.ts'
import type { Logger } from '../platform/logger.ts'
import { KNOWN_WITHIN_MS, type WebhookBook } from './book.ts'
import { bodyOf } from './deliveries.ts'
import type { Outcome, SendPost } from './request.ts'
import { newSecret, replaceSecret, signatureHeaders } from './signing.ts'

export const WEBHOOKS_MAX = 100
const ATTEMPTS_MAX = 20

export interface NewWebhook {
  url: string
  events: readonly WebhookEventType[]
  filter: WebhookFilter
  /** Null to have one made. */
  secret: string | null
}

export interface WebhookEdit {
  url?: string | undefined
  events?: readonly WebhookEventType[] | undefined
  filter?: WebhookFilter | undefined
  /** The new secret, or that one is to be made. */
  secret?: string | { isMade: true } | undefined
  isEnabled?: boolean | undefined
}

export interface KnownWebhook {
  webhook: Webhook
  health: WebhookHealth
}

export interface Webhooks {
  list(): Promise<KnownWebhook[]>
  find(id: string): Promise<KnownWebhook | null>
  /** Null when there are too many. */
  add(wanted: NewWebhook): Promise<Webhook | null>
  edit(id: string, edit: WebhookEdit): Promise<Webhook | null>
  /**
   * Every request failed for too long, or the endpoint wants no more. What waits becomes a failure. A webhook that was
   * edited meanwhile stays as it is.
   */
  disable(webhook: Webhook, because: string): Promise<void>
  remove(id: string): Promise<boolean>
  /** Sends a test event now. Null if there is no such webhook. */
  test(id: string): Promise<Outcome | null>
  failures(id: string, after: FailureCursor | null, limit: number): Promise<FailedDelivery[] | null>
  /** How many changes wait again. */
  replay(id: string): Promise<number | null>
}

export interface WebhooksParts {
  archive: Archive
  book: WebhookBook
  sendPost: SendPost
  /** Other processes must hear of the first webhook before its changes are logged everywhere. */
  isShared: boolean
  clock: Clock
  trueClock: Pick<Clock, 'now'>
  logger: Logger
}

export function createWebhooks(parts: WebhooksParts): Webhooks {
  const { book, sendPost, isShared, clock, trueClock, logger } = parts
  const archive = parts.archive.webhooks

  /** After the first webhook: from its answer on, no change is missing. */
  async function untilAllKnow(): Promise<void> {
    if (isShared) await clock.sleep(KNOWN_WITHIN_MS)
  }

  async function findWebhook(id: string): Promise<Webhook | null> {
    return (await archive.list()).find((one) => one.id === id) ?? null
  }

  async function replace(
    id: string,
    edited: (webhook: Webhook, now: number) => Webhook,
  ): Promise<Webhook | null> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const webhook = await findWebhook(id)
      if (webhook === null) return null
      const now = clock.now()
      const next = { ...edited(webhook, now), updatedAt: Math.max(now, webhook.updatedAt + 1) }
      if (!(await archive.edit(next, webhook.updatedAt))) continue
      await book.look()
      return next
    }
    throw new Error(`gave up after ${ATTEMPTS_MAX} conflicts`)
  }

  return {
    async list() {
      const webhooks = await archive.list()
      const healths = await Promise.all(webhooks.map(({ id }) => archive.health(id)))
      return webhooks.map((webhook, at) => ({ webhook, health: healths[at]! }))
    },

    async find(id) {
      const webhook = await findWebhook(id)
      return webhook && { webhook, health: await archive.health(id) }
    },

    async add({ url, events, filter, secret }) {
      const now = clock.now()
      const webhook: Webhook = {
        id: randomName('wh_'),
        url,
        events,
        filter,
        secrets: [{ secret: secret ?? newSecret(), until: null }],
        state: { state: 'enabled', since: now },
        createdAt: now,
        updatedAt: now,
      }
      const isFirst = book.enabled().length === 0
      if (!(await archive.add(webhook, WEBHOOKS_MAX))) return null
      await book.look()
      if (isFirst) await untilAllKnow()
      return webhook
    },

    async edit(id, { url, events, filter, secret, isEnabled }) {
      const isFirst = isEnabled === true && book.enabled().length === 0
      const next = await replace(id, (webhook, now) => {
        const wanted = typeof secret === 'object' ? newSecret() : secret
        return {
          ...webhook,
          url: url ?? webhook.url,
          events: events ?? webhook.events,
          filter: filter ?? webhook.filter,
          secrets: wanted === undefined ? webhook.secrets : replaceSecret(webhook.secrets, wanted, now),
          state: switched(webhook.state, isEnabled, now),
        }
      })
      if (isFirst && next !== null) await untilAllKnow()
      return next
    },

    async disable(webhook, because) {
      const { id, updatedAt } = webhook
      const at = clock.now()
      const off = { ...webhook, state: { state: 'disabled', at, because } as const }
      // An edit may have mended what failed.
      if (!(await archive.edit({ ...off, updatedAt: Math.max(at, updatedAt + 1) }, updatedAt))) return
      await book.look()
      await archive.giveUp(id, at, because)
      logger.error(
        { webhook: id, because },
        'a webhook was disabled; enable it again when its endpoint works',
      )
    },

    async remove(id) {
      const isRemoved = await archive.remove(id)
      await book.look()
      return isRemoved
    },

    async test(id) {
      const webhook = await findWebhook(id)
      if (webhook === null) return null
      const event: WebhookTestEvent = { id: randomName('evt_'), type: 'webhook.test', at: clock.now() }
      const body = bodyOf(id, [JSON.stringify(event)])
      const { url, secrets } = webhook
      const headers = signatureHeaders({ id: randomName('msg_'), body, secrets, now: trueClock.now() })
      return sendPost({ url, headers, body })
    },

    async failures(id, after, limit) {
      return (await findWebhook(id)) && archive.failures(id, after, limit)
    },

    async replay(id) {
      return (await findWebhook(id)) && archive.replay(id, clock.now())
    },
  }
}

/** A webhook that is switched to what it is already stays so since the same instant. */
function switched(state: WebhookState, isEnabled: boolean | undefined, now: number): WebhookState {
  if (isEnabled === undefined || isEnabled === (state.state === 'enabled')) return state
  return isEnabled
    ? { state: 'enabled', since: now }
    : { state: 'disabled', at: now, because: 'switched off through the API' }
}
