// From a change of a user to the events that a webhook is told of. Pure. An event's id is made from the change, so a change
// that is handled twice makes the same events.
import { createHash } from 'node:crypto'
import type { CustomStatus, Platform, Status, WebhookEvent, WebhookEventType } from '@greendot/protocol'
import type { Webhook, WebhookFilter } from '../archive/port.ts'

/** What a viewer, or the backend, sees of a user. */
export interface View {
  /** Null for a hidden user, where the server shows them so. */
  status: Status | null
  devices: readonly Platform[]
  customStatus: CustomStatus | null
}

export interface ViewChange {
  userId: string
  /** Orders the changes of the user for one webhook. */
  order: number
  version: number
  at: number
  before: View
  after: View
}

type Kind = { type: WebhookEventType; platform?: Platform }

const ID_CHARS = 24
const ARRIVALS = { online: 'user.online', away: 'user.away', offline: 'user.offline' } as const

/** In the order in which they are sent; empty where this webhook is not told. */
export function eventsOf(webhook: Webhook, change: ViewChange): WebhookEvent[] {
  const wanted = kindsOf(change).filter(
    (kind) => webhook.events.includes(kind.type) && isOnPlatform(webhook.filter, kind, change),
  )
  return wanted.map((kind) => toEvent(webhook.id, kind, change))
}

/** By the filter's list of users alone. */
export const isListed = ({ userIds }: WebhookFilter, userId: string): boolean =>
  userIds === null || userIds.includes(userId)

function kindsOf({ before, after }: ViewChange): Kind[] {
  const kinds: Kind[] = []
  const { status } = after
  const isNewStatus = before.status !== status
  if (isNewStatus && status !== null && status !== 'busy') kinds.push({ type: ARRIVALS[status] })
  if (isNewStatus || JSON.stringify(before.customStatus) !== JSON.stringify(after.customStatus))
    kinds.push({ type: 'status.changed' })
  for (const platform of after.devices)
    if (!before.devices.includes(platform)) kinds.push({ type: 'device.connected', platform })
  for (const platform of before.devices)
    if (!after.devices.includes(platform)) kinds.push({ type: 'device.disconnected', platform })
  return kinds
}

function isOnPlatform({ platforms }: WebhookFilter, kind: Kind, { before, after }: ViewChange): boolean {
  if (platforms === null) return true
  if (kind.platform !== undefined) return platforms.includes(kind.platform)
  return [...before.devices, ...after.devices].some((platform) => platforms.includes(platform))
}

function toEvent(webhookId: string, { type, platform }: Kind, change: ViewChange): WebhookEvent {
  const { userId, order, version, at, before, after } = change
  const source = [webhookId, userId, order, type, platform ?? ''].join(' ')
  const event = {
    id: `evt_${createHash('sha256').update(source).digest('hex').slice(0, ID_CHARS)}`,
    type,
    user_id: userId,
    old_status: before.status,
    new_status: after.status,
    version,
    at,
    devices: [...after.devices],
    custom_status: after.customStatus,
    ...(platform !== undefined && { platform }),
  }
  return event as WebhookEvent
}
