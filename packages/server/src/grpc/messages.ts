// Between the JSON of the other doors and the messages of the .proto. Every object goes through here, so a viewer gets
// over gRPC what the evaluator let through for all doors, in other bytes.
import type { OwnPresence, Presence, ServerFrame } from '@greendot/protocol'
import type { Message } from './call.ts'

/** `web` as `PLATFORM_WEB`. Null is the value without a meaning. */
const named = (type: string, value: string | null | undefined): string =>
  `${type}_${(value ?? 'unspecified').toUpperCase()}`

/** `PLATFORM_WEB` as `web`. Undefined for the value without a meaning; an unknown number stays a text. */
export function wordOf(type: string, value: unknown): string | undefined {
  const text = String(value ?? '')
  const word = text.startsWith(`${type}_`) ? text.slice(type.length + 1).toLowerCase() : text
  return word === '' || word === 'unspecified' ? undefined : word
}

/** Without fields that are null, which have no form on the wire. */
const present = (fields: Message): Message =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined))

export function toPresenceMessage(presence: Presence & { source?: string }): Message {
  const { custom_status: custom } = presence
  return present({
    user_id: presence.user_id,
    status: named('STATUS', presence.status),
    last_seen: presence.last_seen,
    last_seen_bucket: named('LAST_SEEN_BUCKET', presence.last_seen_bucket),
    custom_status: custom && present({ ...custom }),
    devices: presence.devices.map((device) => named('PLATFORM', device)),
    version: presence.version,
    pushed: presence.pushed,
    source: named('SOURCE', presence.source),
  })
}

export function toOwnMessage(own: OwnPresence): Message {
  return present({
    presence: toPresenceMessage(own),
    availability: named('AVAILABILITY', own.availability),
    availability_expires_at: own.availability_expires_at,
    sessions: own.sessions.map((session) => ({
      ...session,
      platform: named('PLATFORM', session.platform),
      activity: named('ACTIVITY', session.activity),
    })),
  })
}

/** A frame to a watching connection; null for frames that no stream gets. */
export function toEvent(text: string, isComplete = false): Message | null {
  const frame: ServerFrame = JSON.parse(text)
  switch (frame.type) {
    case 'presence_state':
      return { snapshot: { states: frame.states.map(toPresenceMessage), complete: isComplete } }
    case 'presence_change':
      return { changes: { changes: frame.changes.map(toPresenceMessage) } }
    case 'contacts_removed':
      return { contacts_removed: { user_ids: frame.user_ids } }
    default:
      return null
  }
}
