// The presence machine: from sessions, settings and time to what is shown. Pure: no clock, no chance, no I/O.
// `step` first lets every deadline up to `now` take effect, in order, then applies the events, then settles
// once. So stepping late equals stepping on time, and events that arrive together are one change. When nothing
// changes, the same record is returned.
import type { PresenceEvent } from './event.ts'
import { mergeSessions } from './merge.ts'
import type { Policy } from './policy.ts'
import type { AvailabilitySetting, Here, Session, Shown, ShownCustomStatus, UserRecord } from './record.ts'
import {
  applyEnding,
  applyGatewayLost,
  applyGoodbye,
  applyReport,
  dropSessions,
  forgetTombstones,
  supersedes,
} from './session-events.ts'
import { applyChoice, findSettings } from './setting-events.ts'
import { nextVersion } from './version.ts'
import { voteChangesAt, voteOf } from './votes.ts'

export interface Step {
  record: UserRecord
  /** The next instant at which the user changes without a new event; null when there is none. */
  dueAt: number | null
}

export function step(
  before: UserRecord,
  events: readonly PresenceEvent[],
  now: number,
  policy: Policy,
): Step {
  let record = before
  for (
    let due = nextDeadline(record, policy);
    due !== null && due <= now;
    due = nextDeadline(record, policy)
  ) {
    record = settle({ ...record, settledAt: due }, due, policy)
  }
  let applied = record
  for (const event of events) applied = apply(applied, event, now, policy)
  if (applied !== record) {
    const settledAt = Math.max(now, record.settledAt)
    record = settle({ ...applied, settledAt }, settledAt, policy, happenedAt(events, now))
  }
  return { record, dueAt: nextDeadline(record, policy) }
}

/** When the newest of these events happened; an event may have waited for the archive before it is applied. */
function happenedAt(events: readonly PresenceEvent[], now: number): number {
  let newest = 0
  for (const event of events) if ('at' in event && event.at > newest) newest = event.at
  return newest === 0 ? now : Math.min(newest, now)
}

function apply(record: UserRecord, event: PresenceEvent, now: number, policy: Policy): UserRecord {
  switch (event.type) {
    case 'connected':
    case 'active':
    case 'idle':
      return applyReport(record, event, now, policy)
    case 'left':
    case 'closed':
    case 'lost':
      return applyEnding(record, event, now)
    case 'device_left':
    case 'user_left':
      return applyGoodbye(record, event, now)
    case 'gateway_lost':
      return applyGatewayLost(record, event, now)
    case 'raise_version':
      return record.version > event.version ? record : { ...record, version: event.version + 1 }
    case 'set_availability':
    case 'set_custom_status':
    case 'set_away_after':
    case 'set_history':
    case 'set_privacy':
    case 'unlist':
      return applyChoice(record, event)
    case 'settings_found':
      return findSettings(record, event.archived, now)
    case 'contacts_changed':
      // Every edit is a new edition, also when it is dated earlier by another clock.
      return { ...record, contactsAt: Math.max(event.at, record.contactsAt + 1) }
    case 'doubted':
    case 'tick':
      return record
  }
}

/** The earliest instant after `settledAt` at which a vote, a wait or an expiry runs out. */
export function nextDeadline(record: UserRecord, policy: Policy): number | null {
  let due = Number.POSITIVE_INFINITY
  const consider = (at: number | null | undefined) => {
    if (at !== null && at !== undefined && at > record.settledAt && at < due) due = at
  }
  for (const session of record.sessions) consider(voteChangesAt(session, record.settledAt, policy))
  if (record.here.state === 'arriving') consider(record.here.showAt)
  consider(record.availability?.expiresAt)
  consider(record.customStatus?.expiresAt)
  consider(record.shown.customStatus?.expiresAt)
  return due === Number.POSITIVE_INFINITY ? null : due
}

function settle(record: UserRecord, now: number, policy: Policy, changedAt = now): UserRecord {
  const present = forgetTombstones(settleSessions(record, now, policy), now)
  const here = settleHere(present, now, policy)
  return show(present.here === here ? present : { ...present, here }, now, policy, changedAt)
}

function settleSessions(record: UserRecord, now: number, policy: Policy): UserRecord {
  const isOver = (session: Session): boolean => {
    if (session.end.state === 'live') return false
    // This arrival was not shown yet, so its end needs no grace.
    if (record.here.state !== 'here') return true
    if (voteOf(session, now, policy) === 'gone') return true
    return record.sessions.some((other) => supersedes(other, session))
  }
  return dropSessions(record, isOver, now)
}

const HERE: Here = { state: 'here' }
const ABSENT: Here = { state: 'absent' }

function settleHere(record: UserRecord, now: number, policy: Policy): Here {
  const { sessions, here, shown } = record
  if (sessions.length === 0) return here.state === 'absent' ? here : ABSENT
  if (here.state === 'here') return here
  let showAt = Number.POSITIVE_INFINITY
  for (const session of sessions) {
    // A session that started before the last departure was shown takes over; it is not an arrival.
    const delayMs = session.connectedAt <= shown.since ? 0 : policy.onlineDelayMs
    showAt = Math.min(showAt, session.connectedAt + delayMs)
  }
  if (showAt <= now) return HERE
  return here.state === 'arriving' && here.showAt === showAt ? here : { state: 'arriving', showAt }
}

function show(record: UserRecord, now: number, policy: Policy, changedAt: number): UserRecord {
  const isInvisibleNow = isInvisible(record, now)
  const next =
    isInvisibleNow || record.settings === 'unknown'
      ? invisibleView(record.shown, now)
      : openView(record, now, policy)
  const { shown } = record
  if (
    next.status === shown.status &&
    sameDevices(next.devices, shown.devices) &&
    sameCustomStatus(next.customStatus, shown.customStatus)
  ) {
    return record
  }
  let lastSeen = shown.lastSeen
  if (isInvisibleNow) {
    // Going invisible looks like leaving at the moment it was chosen; after that nothing moves.
    const goneAt = Math.min(record.availability!.setAt, now)
    if (shown.status !== 'offline') lastSeen = Math.max(record.lastSeen ?? goneAt, goneAt)
  } else if (next.status !== 'offline' || shown.status !== 'offline') {
    lastSeen = latest(shown.lastSeen, record.lastSeen)
  }
  const since = next.status === shown.status ? shown.since : now
  return {
    ...record,
    lastSeen: latest(record.lastSeen, lastSeen),
    shown: { ...next, since, lastSeen },
    version: nextVersion(record.version, changedAt),
  }
}

type View = Pick<Shown, 'status' | 'devices' | 'customStatus'>

/** What is shown of a user who is not invisible. */
export function openView(record: UserRecord, now: number, policy: Policy): View {
  const customStatus = effectiveCustomStatus(record, now)
  if (record.here.state !== 'here') return { status: 'offline', devices: [], customStatus }
  const { devices, activity } = mergeSessions(record.sessions, now, policy)
  switch (activity) {
    case 'none':
      return { status: 'offline', devices, customStatus }
    case 'lingering':
      return { status: 'away', devices, customStatus }
    case 'active':
    case 'idle': {
      const chosen = effectiveAvailability(record, now)?.status
      if (chosen === 'away' || chosen === 'busy') return { status: chosen, devices, customStatus }
      return { status: activity === 'active' ? 'online' : 'away', devices, customStatus }
    }
  }
}

// An invisible user keeps the custom status that was shown, and it expires as for any offline user: a status
// that is shown after its expiry would tell viewers that the user is invisible.
function invisibleView(shown: Shown, now: number): View {
  const { customStatus } = shown
  const expired = customStatus !== null && customStatus.expiresAt !== null && customStatus.expiresAt <= now
  return { status: 'offline', devices: [], customStatus: expired ? null : customStatus }
}

export function effectiveAvailability(record: UserRecord, now: number): AvailabilitySetting | null {
  const setting = record.availability
  if (setting === null || setting.status === 'auto') return null
  return setting.expiresAt !== null && setting.expiresAt <= now ? null : setting
}

/** By choice. A user whose settings are unknown is not shown either. */
export function isInvisible(record: UserRecord, now: number): boolean {
  return effectiveAvailability(record, now)?.status === 'invisible'
}

export function effectiveCustomStatus(record: UserRecord, now: number): ShownCustomStatus | null {
  const setting = record.customStatus
  if (setting === null || (setting.text === null && setting.emoji === null)) return null
  if (setting.expiresAt !== null && setting.expiresAt <= now) return null
  return { text: setting.text, emoji: setting.emoji, expiresAt: setting.expiresAt }
}

function sameDevices(a: Shown['devices'], b: Shown['devices']): boolean {
  return a === b || (a.length === b.length && a.every((device, index) => device === b[index]))
}

export function sameCustomStatus(a: ShownCustomStatus | null, b: ShownCustomStatus | null): boolean {
  if (a === null || b === null) return a === b
  return a.text === b.text && a.emoji === b.emoji && a.expiresAt === b.expiresAt
}

function latest(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : Math.max(a, b)
}
