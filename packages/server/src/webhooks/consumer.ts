// A consumer of the change log: turns changes into deliveries and keeps them in the archive. A batch is handled when all of
// it is there; otherwise it comes again and makes the same deliveries. The webhooks are looked at for every batch, so a
// change after a webhook was made is never passed over by a process that has not heard of it.
import { CUSTOM_EMOJI_BYTES_MAX, PLATFORMS, RECORD_VERSION, STATUSES } from '@greendot/protocol'
import { z } from 'zod'
import type { Archive, Webhook, WebhookDelivery } from '../archive/port.ts'
import { userId } from '../input/schemas.ts'
import type { LogConsumer, LogEntry } from '../log/port.ts'
import { chunksOf } from '../platform/chunks.ts'
import type { Clock } from '../platform/clock.ts'
import type { WebhookBook } from './book.ts'
import { deliveryOf } from './deliveries.ts'
import { eventsOf, isListed, type ViewChange } from './events.ts'
import type { ViewerEvents } from './viewer-events.ts'

/** Clocks of processes differ by less: a change may seem older than the webhook that was made before it. */
const CLOCK_SKEW_MS = 1_000
const DELIVERIES_PER_WRITE_MAX = 500

const customStatus = z
  .object({
    text: z.string().nullable(),
    emoji: z.string().max(CUSTOM_EMOJI_BYTES_MAX).nullable(),
    expires_at: z.int().nullable(),
  })
  .nullable()
const devices = z.array(z.enum(PLATFORMS)).max(PLATFORMS.length)
const base = { v: z.literal(RECORD_VERSION), user_id: userId, at: z.int().min(0) }
const record = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('status_changed'),
    ...base,
    old_status: z.enum(STATUSES),
    new_status: z.enum(STATUSES),
    version: z.int().min(0),
    devices,
    custom_status: customStatus,
    old_devices: devices.optional(),
    old_custom_status: customStatus.optional(),
    audience_changed: z.literal(true).optional(),
  }),
  z.object({ type: z.literal('visibility_changed'), ...base }),
])
type ReadRecord = z.output<typeof record>

export interface WebhookConsumerParts {
  archive: Archive
  book: WebhookBook
  viewerEvents: ViewerEvents
  clock: Pick<Clock, 'now'>
  /** There is something to send. */
  onKept(): void
}

export function createWebhookConsumer(parts: WebhookConsumerParts): LogConsumer {
  const { archive, book, viewerEvents, clock, onKept } = parts

  /** For webhooks that are told what the backend may know. */
  async function keepPlain(webhooks: readonly Webhook[], records: readonly ReadRecord[]): Promise<void> {
    const now = clock.now()
    const changes = records.flatMap(toChange)
    const deliveries = webhooks.flatMap((webhook) =>
      changes
        .filter((change) => isAfter(webhook, change) && isListed(webhook.filter, change.userId))
        .flatMap((change) => deliveryOf(webhook, change, eventsOf(webhook, change), now)),
    )
    const contacts = await amongContacts(webhooks, deliveries)
    for (const chunk of chunksOf(contacts, DELIVERIES_PER_WRITE_MAX)) await archive.webhooks.keep(chunk, [])
  }

  /** Without deliveries about users who are not on the list that the filter names. */
  async function amongContacts(
    webhooks: readonly Webhook[],
    deliveries: readonly WebhookDelivery[],
  ): Promise<WebhookDelivery[]> {
    const owners = new Map(webhooks.map(({ id, filter }) => [id, filter.contactsOf]))
    const pairs = deliveries.flatMap(({ webhookId, userId: contactId }) => {
      const ownerId = owners.get(webhookId) ?? null
      return ownerId === null ? [] : [{ ownerId, contactId }]
    })
    const answers = pairs.length === 0 ? [] : await archive.areContacts(pairs)
    let next = 0
    return deliveries.filter(({ webhookId }) => owners.get(webhookId) === null || answers[next++])
  }

  return {
    async handle(_, entries) {
      const webhooks = await book.look()
      if (webhooks.length === 0) return
      const records = entries.flatMap(toRecord)
      await keepPlain(
        webhooks.filter(({ filter }) => filter.viewerId === null),
        records,
      )
      for (const webhook of webhooks)
        if (webhook.filter.viewerId !== null)
          await viewerEvents.keep(
            webhook,
            records.filter((one) => isAfter(webhook, one)),
          )
      onKept()
    },
  }
}

/** Whether it happened after the webhook was made, or enabled again. */
const isAfter = ({ state }: Webhook, { at }: { at: number }): boolean =>
  state.state === 'enabled' && at >= state.since - CLOCK_SKEW_MS

function toChange(one: ReadRecord): ViewChange[] {
  if (one.type !== 'status_changed') return []
  const { version, at, custom_status } = one
  const after = { status: one.new_status, devices: one.devices, customStatus: custom_status }
  const before = {
    status: one.old_status,
    devices: one.old_devices ?? one.devices,
    customStatus: one.old_custom_status === undefined ? custom_status : one.old_custom_status,
  }
  return [{ userId: one.user_id, order: version, version, at, before, after }]
}

/** Records of another kind or another version, and those that cannot be read, are passed over. */
function toRecord({ text }: LogEntry): ReadRecord[] {
  try {
    const found = record.safeParse(JSON.parse(text))
    return found.success ? [found.data] : []
  } catch {
    return []
  }
}
