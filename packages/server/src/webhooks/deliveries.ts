// How a change becomes a delivery: its events as one text, which every request repeats as it is.
import type { WebhookEvent } from '@greendot/protocol'
import type { Webhook, WebhookDelivery } from '../archive/port.ts'
import type { ViewChange } from './events.ts'

/** None where the webhook is not told of the change. */
export function deliveryOf(
  { id }: Webhook,
  { userId, order }: ViewChange,
  events: readonly WebhookEvent[],
  now: number,
): WebhookDelivery[] {
  if (events.length === 0) return []
  const text = events.map((event) => JSON.stringify(event)).join()
  return [{ webhookId: id, userId, order, events: text, createdAt: now }]
}

/** The body of a request with these texts of events. */
export function bodyOf(webhookId: string, events: readonly string[]): string {
  return `{"webhook_id":${JSON.stringify(webhookId)},"events":[${events.join()}]}`
}
