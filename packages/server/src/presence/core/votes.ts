// The vote of a session at an instant. A live session votes with its activity. A session that ended without a
// goodbye keeps its vote for the offline delay, so that a reload or a tunnel is not a departure, and may then
// linger as away. The instants at which a vote changes are deadlines.
import type { Activity } from '@greendot/protocol'
import type { Policy } from './policy.ts'
import type { Session } from './record.ts'

export type Vote = Activity | 'lingering' | 'gone'

/** Until when an ended session keeps its vote, and until when it lingers after that. */
function fade(session: Session, policy: Policy): { graceUntil: number; lingerUntil: number } | null {
  const end = session.end
  switch (end.state) {
    case 'live':
      return null
    case 'closed': {
      const graceUntil = end.since + policy.offlineDelayMs
      return { graceUntil, lingerUntil: policy.lingerMs > 0 ? end.since + policy.lingerMs : graceUntil }
    }
    case 'lost':
      // With lingering, the time to live was the grace: away starts when the loss is found.
      if (policy.lingerMs > 0) {
        return { graceUntil: end.since, lingerUntil: end.provenAt + policy.lingerMs }
      }
      return { graceUntil: end.since + policy.offlineDelayMs, lingerUntil: end.since + policy.offlineDelayMs }
  }
}

export function voteOf(session: Session, at: number, policy: Policy): Vote {
  const fading = fade(session, policy)
  if (fading === null || at < fading.graceUntil) return session.activity
  return at < fading.lingerUntil ? 'lingering' : 'gone'
}

/** The next instant after `at` at which the vote changes, or null when it stays. */
export function voteChangesAt(session: Session, at: number, policy: Policy): number | null {
  const fading = fade(session, policy)
  if (fading === null) return null
  if (at < fading.graceUntil) return fading.graceUntil
  return at < fading.lingerUntil ? fading.lingerUntil : null
}
