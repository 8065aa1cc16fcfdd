// Webhooks: what a receiver gets. One request carries events of several users; those of one user are in order. An event
// may come twice, with the same id. It holds what is shown to others, or to the viewer that the webhook names.
import type { CustomStatus, Platform, Status } from './presence.ts'

export const WEBHOOK_EVENTS = [
  'user.online',
  'user.away',
  'user.offline',
  'status.changed',
  'device.connected',
  'device.disconnected',
] as const
export type WebhookEventType = (typeof WEBHOOK_EVENTS)[number]

interface WebhookEventBase {
  /** The same when the event comes again. */
  id: string
  user_id: string
  old_status: Status | null
  new_status: Status | null
  /** Grows with every change of the user; 0 of a user that the viewer does not see any more. */
  version: number
  /** When it happened, in Unix milliseconds. */
  at: number
  devices: Platform[]
  custom_status: CustomStatus | null
}

export type WebhookEvent = WebhookEventBase &
  (
    | { type: Exclude<WebhookEventType, `device.${string}`> }
    /** The platform that is live now, or is not any more. */
    | { type: Extract<WebhookEventType, `device.${string}`>; platform: Platform }
  )

/** Sent on request, so that a receiver can be tried. */
export interface WebhookTestEvent {
  id: string
  type: 'webhook.test'
  at: number
}

/** The body of a request. */
export interface WebhookPayload {
  webhook_id: string
  events: (WebhookEvent | WebhookTestEvent)[]
}

export const WEBHOOK_SECRET_PREFIX = 'whsec_'
export const WEBHOOK_SECRET_BYTES_MIN = 24
export const WEBHOOK_SECRET_BYTES_MAX = 64

/** The prefix and some bytes in base64, as the Standard Webhooks specification has it. */
export function isWebhookSecret(text: string): boolean {
  const base64 = /^whsec_([A-Za-z0-9+/]+)={0,2}$/.exec(text)?.[1] ?? ''
  const bytes = Math.floor((base64.length * 3) / 4)
  return bytes >= WEBHOOK_SECRET_BYTES_MIN && bytes <= WEBHOOK_SECRET_BYTES_MAX
}
