// Session events applied to the list of sessions: facts only, no delays and nothing visible.
// Invariant: a replayed, duplicated or outdated event returns the same record.
import type { PresenceEvent } from './event.ts'
import { byRecency } from './merge.ts'
import type { Policy } from './policy.ts'
import { PRESUMED_GATEWAY, type Session, type SessionEnd, type Tombstone, type UserRecord } from './record.ts'
import { voteOf } from './votes.ts'

/** How long an ended session is remembered, so that replays of its events change nothing. */
export const TOMBSTONE_MS = 120_000
export const TOMBSTONES_MAX = 32

type Report = Extract<PresenceEvent, { type: 'connected' | 'active' | 'idle' }>
type Ending = Extract<PresenceEvent, { type: 'left' | 'closed' | 'lost' }>
type Goodbye = Extract<PresenceEvent, { type: 'device_left' | 'user_left' }>
type GatewayLost = Extract<PresenceEvent, { type: 'gateway_lost' }>

const LIVE: SessionEnd = { state: 'live' }

export function applyReport(record: UserRecord, event: Report, now: number, policy: Policy): UserRecord {
  const index = record.sessions.findIndex((session) => session.id === event.sessionId)
  const known = record.sessions[index]
  if (known !== undefined) {
    // An ended session does not come back: a reconnect is a new session of the device.
    if (known.end.state !== 'live' || event.at <= known.eventAt) return record
    // A gateway that announces a session again before it knows how the device carries on says nothing of activity.
    const { activity, lastActiveAt } = event.type === 'connected' ? known : event
    const said = { activity, lastActiveAt: Math.max(known.lastActiveAt, lastActiveAt), eventAt: event.at }
    const sessions = record.sessions.with(index, { ...known, ...said })
    return seen({ ...record, sessions }, event.lastActiveAt, now)
  }
  if ((event.again?.since ?? event.connectedAt) <= record.forgottenAt) return record
  if (record.tombstones.some((tombstone) => tombstone.id === event.sessionId)) return record
  const session: Session = {
    id: event.sessionId,
    deviceId: event.deviceId,
    platform: event.platform,
    gatewayId: event.gatewayId,
    activity: event.activity,
    connectedAt: event.connectedAt,
    lastActiveAt: event.lastActiveAt,
    eventAt: event.at,
    end: LIVE,
  }
  const formers = record.sessions.filter(({ deviceId }) => deviceId === event.deviceId)
  const counted = formers.filter((former) => voteOf(former, now, policy) === former.activity)
  // Of several tabs it carries on as one that counts; lingering ones are used only when no other counts.
  const resumed =
    event.type === 'connected'
      ? resume(session, counted.length > 0 ? counted : formers)
      : keepPlace(session, counted)
  // The session's former id goes in the same step, so that one connection never counts twice. So does what was presumed of
  // the device.
  const isFormer = ({ id, gatewayId, deviceId }: Session) =>
    event.again?.formerIds.includes(id) || (gatewayId === PRESUMED_GATEWAY && deviceId === event.deviceId)
  const rest = dropSessions(record, isFormer, event.at)
  // Sorted, so that two devices arriving together give one record whichever came first.
  const sessions = [...rest.sessions, resumed].sort((a, b) => (a.id < b.id ? -1 : 1))
  return seen({ ...rest, sessions }, event.lastActiveAt, now)
}

// Connecting is no activity of a device that counts already: it carries on as it was, so that a
// reload, a second tab or a change of networks (where the old session still looks live) neither
// wakes an idle device nor reorders the list. An earlier session may end after this one began, and its end may be heard
// of first, because two gateways report them.
function resume(session: Session, formers: readonly Session[]): Session {
  const former = formers.toSorted(byRecency)[0]
  if (former === undefined) return session
  return { ...session, activity: former.activity, lastActiveAt: former.lastActiveAt }
}

// A session that says of the device what was said before keeps its place in the order too. Otherwise the devices of a
// user would change places whenever another process takes over the sessions of a foreign gateway.
function keepPlace(session: Session, counted: readonly Session[]): Session {
  const former = counted.filter(({ activity }) => activity === session.activity).sort(byRecency)[0]
  return former === undefined ? session : { ...session, lastActiveAt: former.lastActiveAt }
}

/** True when `session` is the same device come back after `other` ended. */
export function supersedes(session: Session, other: Session): boolean {
  if (session.deviceId !== other.deviceId || session.end.state !== 'live') return false
  const end = other.end
  if (end.state === 'live') return false
  return session.connectedAt >= (end.state === 'lost' ? end.provenAt : end.since)
}

export function applyEnding(record: UserRecord, event: Ending, now: number): UserRecord {
  const index = record.sessions.findIndex((session) => session.id === event.sessionId)
  const known = record.sessions[index]
  if (known === undefined || event.at <= known.eventAt) return record
  if (event.type === 'left') {
    // A goodbye ends a session for good, even one that had already closed or gone silent.
    return seen(
      dropSessions(record, (session) => session === known, event.at),
      event.at,
      now,
    )
  }
  if (known.end.state !== 'live') return record
  const end: SessionEnd =
    event.type === 'closed'
      ? { state: 'closed', since: event.at }
      : { state: 'lost', since: event.at, provenAt: event.provenAt }
  const sessions = record.sessions.with(index, { ...known, eventAt: event.at, end })
  return seen({ ...record, sessions }, event.type === 'closed' ? event.at : event.provenAt, now)
}

/** The goodbye of a device, or of the user, ends every session of it that started before. */
export function applyGoodbye(record: UserRecord, event: Goodbye, now: number): UserRecord {
  const isOf = ({ deviceId }: Session) => event.type === 'user_left' || deviceId === event.deviceId
  const isOver = (session: Session) => isOf(session) && session.eventAt < event.at
  const rest = dropSessions(record, isOver, event.at)
  return rest === record ? record : seen(rest, event.at, now)
}

/** The live sessions of a gateway are lost with its lease. */
export function applyGatewayLost(record: UserRecord, event: GatewayLost, now: number): UserRecord {
  const isLost = ({ gatewayId, end }: Session) => gatewayId === event.gatewayId && end.state === 'live'
  if (!record.sessions.some(isLost)) return record
  const end: SessionEnd = { state: 'lost', since: event.at, provenAt: event.provenAt }
  const sessions = record.sessions.map((session) =>
    isLost(session) ? { ...session, eventAt: Math.max(session.eventAt, event.at), end } : session,
  )
  return seen({ ...record, sessions }, event.provenAt, now)
}

/** Replaces sessions by tombstones, so that late events of them change nothing. */
export function dropSessions(
  record: UserRecord,
  isOver: (session: Session) => boolean,
  endedAt: number,
): UserRecord {
  if (!record.sessions.some(isOver)) return record
  const over = record.sessions.filter(isOver)
  const sessions = record.sessions.filter((session) => !over.includes(session))
  const added = over.map((session): Tombstone => {
    // A clock ahead of ours may have dated its events after `now`; they are over all the same.
    return { id: session.id, endedAt: Math.max(endedAt, session.eventAt) }
  })
  const tombstones = [...record.tombstones, ...added]
  tombstones.sort((a, b) => a.endedAt - b.endedAt || (a.id < b.id ? -1 : 1))
  return { ...record, sessions, tombstones }
}

/**
 * Replaces old tombstones by one instant: sessions that started before it are over. Only when settling,
 * because between events that are applied together it would make their order matter.
 */
export function forgetTombstones(record: UserRecord, now: number): UserRecord {
  const { tombstones } = record
  if (tombstones.length === 0) return record
  const kept = tombstones.filter((tombstone) => tombstone.endedAt > now - TOMBSTONE_MS).slice(-TOMBSTONES_MAX)
  const newestForgotten = tombstones[tombstones.length - kept.length - 1]
  if (newestForgotten === undefined) return record
  return { ...record, tombstones: kept, forgottenAt: Math.max(record.forgottenAt, newestForgotten.endedAt) }
}

// A proof of life is never in the future and never takes last seen backwards.
function seen(record: UserRecord, provenAt: number, now: number): UserRecord {
  const at = Math.min(provenAt, now)
  return record.lastSeen !== null && record.lastSeen >= at ? record : { ...record, lastSeen: at }
}
