// From a record to what is sent: the presence object for others and the own view for the user. Others only get
// what is in `shown`.
import type { CustomStatus, OwnPresence, Presence, Source } from '@greendot/protocol'
import { effectiveAvailability, effectiveCustomStatus, isInvisible, openView } from './machine.ts'
import type { Policy } from './policy.ts'
import type { PrivacyRules } from './privacy.ts'
import type { Session, Shown, ShownCustomStatus, UserRecord } from './record.ts'

type HiddenAs = PrivacyRules['hiddenAs']

/** What a viewer sees of an unknown user and of a hidden user. */
export function unknownPresence(userId: string, hiddenAs: HiddenAs = 'offline'): Presence {
  return { user_id: userId, status: hiddenAs, last_seen: null, custom_status: null, devices: [], version: 0 }
}

export function toPresence(userId: string, record: UserRecord, hiddenAs: HiddenAs = 'offline'): Presence {
  const { shown } = record
  if (isBlank(shown)) return unknownPresence(userId, hiddenAs)
  return {
    user_id: userId,
    status: shown.status,
    last_seen: shown.lastSeen,
    custom_status: toCustomStatus(shown.customStatus),
    devices: [...shown.devices],
    version: record.version,
  }
}

/** By what is shown, not by where the record was found: an invisible user must read as `db`. */
export function sourceOf(record: UserRecord): Source {
  return record.shown.status === 'offline' ? 'db' : 'live'
}

/** A user with nothing to show looks like an unknown user, with version 0. */
function isBlank(shown: Shown): boolean {
  return shown.status === 'offline' && shown.lastSeen === null && shown.customStatus === null
}

export function toOwnPresence(userId: string, record: UserRecord, now: number, policy: Policy): OwnPresence {
  const availability = effectiveAvailability(record, now)
  // In the own view an invisible user is shown as without the invisibility.
  const isConcealed = record.settings === 'unknown' || isInvisible(record, now)
  const view = isConcealed ? openView(record, now, policy) : record.shown
  return {
    ...toPresence(userId, record),
    status: view.status,
    devices: [...view.devices],
    last_seen: isConcealed ? record.lastSeen : record.shown.lastSeen,
    custom_status: toCustomStatus(effectiveCustomStatus(record, now)),
    availability: availability?.status ?? 'auto',
    availability_expires_at: availability?.expiresAt ?? null,
    sessions: record.sessions
      .filter((session) => session.end.state === 'live')
      .sort(byArrival)
      .map((session) => ({
        session_id: session.id,
        device_id: session.deviceId,
        platform: session.platform,
        activity: session.activity,
        connected_at: session.connectedAt,
      })),
  }
}

const byArrival = (a: Session, b: Session): number =>
  a.connectedAt - b.connectedAt || (a.deviceId < b.deviceId ? -1 : a.deviceId > b.deviceId ? 1 : 0)

function toCustomStatus(shown: ShownCustomStatus | null): CustomStatus | null {
  return shown === null ? null : { text: shown.text, emoji: shown.emoji, expires_at: shown.expiresAt }
}
