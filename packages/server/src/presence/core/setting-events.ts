// The settings of a user, as last-writer-wins registers. The newest wins; two of the same instant are ordered
// by value, so that the order of arrival does not matter.
import type { ChoiceEvent } from './event.ts'
import { NO_PRIVACY_CHOSEN, type Privacy } from './privacy.ts'
import type { UserRecord } from './record.ts'

/** A choice from before an erasure is of the user who was erased. */
export function applyChoice(record: UserRecord, event: ChoiceEvent): UserRecord {
  if (event.at <= record.forgottenAt) return record
  switch (event.type) {
    case 'set_availability': {
      // An expiry leads to automatic, so automatic has none itself.
      const expiresAt = event.status === 'auto' ? null : event.expiresAt
      const next = { status: event.status, expiresAt, setAt: event.at }
      return wins(next, record.availability) ? { ...record, availability: next } : record
    }
    case 'set_custom_status': {
      const isCleared = event.text === null && event.emoji === null
      const expiresAt = isCleared ? null : event.expiresAt
      const next = { text: event.text, emoji: event.emoji, expiresAt, setAt: event.at }
      return wins(next, record.customStatus) ? { ...record, customStatus: next } : record
    }
    case 'set_away_after': {
      const next = { awayAfterMs: event.awayAfterMs, setAt: event.at }
      return wins(next, record.awayAfter) ? { ...record, awayAfter: next } : record
    }
    case 'set_history':
      return chooseHistory(record, event.isKept, event.at)
    case 'set_privacy':
      return choosePrivacy(record, event.change, event.at)
    case 'unlist': {
      const { allow, deny } = record.privacy ?? NO_PRIVACY_CHOSEN
      const others = (ids: readonly string[]) => ids.filter((id) => id !== event.userId)
      return choosePrivacy(record, { allow: others(allow), deny: others(deny) }, event.at)
    }
  }
}

/**
 * A change of privacy merges into the earlier settings, so none may be lost to one that another clock dated
 * later: they take effect in the order of their commits. One that changes nothing is dated all the same: an earlier
 * change that was refused may reach the archive late, and must not win over it. The same event twice is once.
 */
function choosePrivacy(record: UserRecord, change: Partial<Privacy>, at: number): UserRecord {
  const before = record.privacy
  const setAt = before?.setAt ?? 0
  const merged = { ...NO_PRIVACY_CHOSEN, ...before, ...change, setAt }
  const isSame = JSON.stringify(merged) === JSON.stringify({ ...NO_PRIVACY_CHOSEN, setAt, ...before })
  if (isSame && (before === null || at <= setAt)) return record
  return { ...record, privacy: { ...merged, setAt: Math.max(at, setAt + 1) } }
}

/**
 * In the order of commits, like privacy. A repeated choice keeps its instant: what was kept since then stays, and what
 * is older than it never comes back.
 */
function chooseHistory(record: UserRecord, isKept: boolean, at: number): UserRecord {
  const before = record.history
  if (isKept === (before?.isKept ?? false)) return record
  return { ...record, history: { isKept, setAt: Math.max(at, (before?.setAt ?? 0) + 1) } }
}

/**
 * Takes over what the archive holds of a user: choices that are newer than those in the record, and all of it where the
 * settings were unknown. A user who will be shown then gets a version above all that were shown before; for an invisible
 * user nothing moves.
 */
export function findSettings(record: UserRecord, archived: UserRecord, now: number): UserRecord {
  const found = withNewerChoices(record, archived)
  if (record.settings === 'known') return found
  const { availability } = found
  const isInvisible =
    availability?.status === 'invisible' && (availability.expiresAt === null || availability.expiresAt > now)
  return {
    ...found,
    settings: 'known',
    shown: archived.shown,
    lastSeen: Math.max(record.lastSeen ?? 0, archived.lastSeen ?? 0) || null,
    version: isInvisible ? archived.version : Math.max(record.version, archived.version),
  }
}

/** The same record where none is newer. */
function withNewerChoices(record: UserRecord, archived: UserRecord): UserRecord {
  const newest = <T extends { setAt: number }>(mine: T | null, found: T | null): T | null =>
    found !== null && wins(found, mine) ? found : mine
  const availability = newest(record.availability, archived.availability)
  const customStatus = newest(record.customStatus, archived.customStatus)
  const awayAfter = newest(record.awayAfter, archived.awayAfter)
  const privacy = newest(record.privacy, archived.privacy)
  const history = newest(record.history, archived.history)
  const isSame =
    availability === record.availability &&
    customStatus === record.customStatus &&
    awayAfter === record.awayAfter &&
    privacy === record.privacy &&
    history === record.history
  return isSame ? record : { ...record, availability, customStatus, awayAfter, privacy, history }
}

/** Whether `next` replaces `current`, by instant and then by value. */
export function wins<T extends { setAt: number }>(next: T, current: T | null): boolean {
  if (current === null || next.setAt > current.setAt) return true
  return next.setAt === current.setAt && JSON.stringify(next) > JSON.stringify(current)
}
