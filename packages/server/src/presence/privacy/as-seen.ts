// Cuts the presence object down to a view level. A hidden user becomes the same object as an unknown user:
// version 0, nothing known.
import type { LastSeenBucket, Presence } from '@greendot/protocol'
import type { PrivacyRules } from '../core/privacy.ts'
import { unknownPresence } from '../core/view.ts'
import type { ViewLevel } from './visibility.ts'

const DAY_MS = 86_400_000
const RECENT_DAYS = 3
const WEEK_DAYS = 7
const MONTH_DAYS = 30

export function asSeen(presence: Presence, level: ViewLevel, rules: PrivacyRules, now: number): Presence {
  if (presence.version === 0) return unknownPresence(presence.user_id, rules.hiddenAs)
  switch (level) {
    case 'everything':
      return presence
    case 'approximate':
      return { ...presence, last_seen: null, last_seen_bucket: bucketOf(presence, now) }
    case 'status':
      return { ...presence, last_seen: null }
    case 'nothing':
      return unknownPresence(presence.user_id, rules.hiddenAs)
  }
}

/**
 * In whole days (UTC), so that the step from one bucket to the next comes at midnight: a viewer that asks
 * again and again learns the day, not the minute.
 */
function bucketOf({ status, last_seen: lastSeen }: Presence, now: number): LastSeenBucket | null {
  if (status !== 'offline') return 'recently'
  if (lastSeen === null) return null
  const days = Math.floor(now / DAY_MS) - Math.floor(lastSeen / DAY_MS)
  if (days <= RECENT_DAYS) return 'recently'
  if (days <= WEEK_DAYS) return 'this_week'
  return days <= MONTH_DAYS ? 'this_month' : 'long_ago'
}
