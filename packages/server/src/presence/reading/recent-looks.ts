// Whom the archive was asked about lately, and what there was to see. A question to the archive takes
// time, and that time must not tell whether the hot store knows somebody: a hidden person would answer
// sooner than nobody at all, and an invisible one sooner than one who left. So everybody who is not here
// for all to see is asked about once a minute, known or not, and nobody more often. Nor must it tell that
// somebody hidden has looked: they ask each time, and leave nothing behind.
import type { Clock } from '../../platform/clock.ts'
import type { PrivacyRules } from '../core/privacy.ts'
import type { UserRecord } from '../core/record.ts'
import { isOpenToAll } from '../privacy/visibility.ts'
import { createRecentMap } from '../recent-map.ts'

/** As long as people from the archive are kept hot, and shorter than anybody stays hot who changed. */
export const LOOK_HOLDS_MS = 60_000
/** Past it the oldest go, and are asked about sooner. */
const LOOKS_MAX = 100_000

export interface RecentLooks {
  /** Whether the archive is to be asked about somebody of whom the hot store says this; null: nothing. */
  isDue(userId: string, hot: UserRecord | null, now: number): boolean
  /** What the archive knew of somebody the hot store does not have; only of those who are not due. */
  recall(userId: string): UserRecord | null
  /** The archive was asked, and this is what there is. */
  note(userId: string, record: UserRecord | null): void
  /** They changed: what was seen is not true any more. That they were asked about stays true. */
  forget(userId: string): void
  /** There is nothing to be seen of them any more, and the archive need not be asked for that. */
  erase(userId: string): void
}

interface Look {
  until: number
  /** Undefined when it cannot stand for the person any more. */
  record: UserRecord | null | undefined
}

export function createRecentLooks(clock: Clock, rules: PrivacyRules): RecentLooks {
  const looks = createRecentMap<Look>(LOOKS_MAX)

  return {
    isDue(userId, hot, now) {
      if (isHereForAll(hot, rules)) return false
      const look = looks.get(userId)
      if (look === undefined || look.until <= now) return true
      return hot === null && look.record === undefined
    },
    recall: (userId) => looks.get(userId)?.record ?? null,
    note(userId, record) {
      // Whoever is here, or is about to change, is in the hot store or is not what they were.
      const isLasting = record === null || (record.shown.status === 'offline' && !isExpiring(record))
      looks.set(userId, { until: clock.now() + LOOK_HOLDS_MS, record: isLasting ? record : undefined })
    },
    forget(userId) {
      const look = looks.get(userId)
      if (look !== undefined) look.record = undefined
    },
    erase(userId) {
      const look = looks.get(userId)
      if (look !== undefined) look.record = null
    },
  }
}

/** For those who are not to be noticed. */
export function createUnnoticedLooks(rules: PrivacyRules): RecentLooks {
  return {
    isDue: (_, hot) => !isHereForAll(hot, rules),
    recall: () => null,
    note() {},
    forget() {},
    erase() {},
  }
}

const isHereForAll = (hot: UserRecord | null, rules: PrivacyRules): boolean =>
  hot !== null && hot.shown.status !== 'offline' && isOpenToAll(hot.privacy, rules)

const isExpiring = ({ sessions, availability, customStatus, shown }: UserRecord): boolean =>
  sessions.length > 0 ||
  [availability, customStatus, shown.customStatus].some((setting) => (setting?.expiresAt ?? null) !== null)
