// The part of an explanation that is about time: the next deadline and what it ends, when a gateway gives up a
// session, and when another status is shown. There is always a sentence about the next deadline, so that an
// operator knows whether waiting helps.

import { voteChangesAt, voteOf } from '../core/votes.ts'
import type { Facts } from './facts.ts'
import { instant, nameOf, span, when } from './words.ts'

export function deadlineSentencesOf(facts: Facts): string[] {
  return [ofNextDeadline(facts), ...ofLiveSessions(facts), ...ofPending(facts)]
}

/** The next deadline has passed, and no sweep has found it yet. */
export const isOverdue = ({ nextDeadlineAt, now }: Facts): boolean =>
  nextDeadlineAt !== null && nextDeadlineAt <= now

function ofNextDeadline(facts: Facts): string {
  const { nextDeadlineAt: at, now } = facts
  if (at === null) return 'No deadline is set.'
  const endings = endingsAt(at, facts).join(' and ')
  return isOverdue(facts)
    ? `The deadline of ${instant(at)} waits for the next sweep: ${endings}.`
    : `The next deadline is ${when(at, now)}: ${endings}.`
}

/** Everything that ends at the next deadline of the record. */
function endingsAt(at: number, { userId, record, votes, policy }: Facts): string[] {
  const { here, availability, customStatus, shown, settledAt } = record
  const ofSessions = votes
    .filter(({ session }) => voteChangesAt(session, settledAt, policy) === at)
    .map((voting) => {
      const isLingering = voteOf(voting.session, at, policy) === 'lingering'
      return `${nameOf(voting, votes)} ${isLingering ? 'begins to linger' : 'stops counting'}`
    })
  const isOnlyShown = shown.customStatus?.expiresAt === at && customStatus?.expiresAt !== at
  return [
    ...ofSessions,
    ...(here.state === 'arriving' && here.showAt === at ? [`the online delay of ${userId} ends`] : []),
    ...(availability?.expiresAt === at ? [`the availability of ${userId} expires`] : []),
    ...(customStatus?.expiresAt === at ? [`the custom status of ${userId} expires`] : []),
    ...(isOnlyShown ? ['the custom status that others see expires'] : []),
  ]
}

// Heartbeats go no further than the gateway, so the instants are not known here; the limits are.
function ofLiveSessions({ record, policy }: Facts): string[] {
  if (!record.sessions.some(({ end }) => end.state === 'live')) return []
  const awayAfterMs = record.awayAfter?.awayAfterMs ?? policy.awayAfterMs
  const lost =
    policy.lingerMs > 0
      ? `lingers as away until ${span(policy.lingerMs)} after that sign`
      : `stops counting ${span(policy.offlineDelayMs)} later`
  return [
    `A live session is idle after ${span(awayAfterMs)} without activity.`,
    `A live session is lost after ${span(policy.heartbeatTtlMs)} without a sign of life, and ${lost}.`,
  ]
}

function ofPending({ userId, pending, now }: Facts): string[] {
  if (pending === null) return []
  const from = pending.at > now ? `from ${when(pending.at, now)}` : 'then'
  return [`If nothing else happens, ${userId} is shown as ${pending.status} ${from}.`]
}
