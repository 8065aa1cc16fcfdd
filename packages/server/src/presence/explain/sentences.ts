// The facts of an explanation in plain sentences, in the order of the decision: sessions, delays, what
// was chosen by hand, what is shown, deadlines, privacy, and what comes out. Made of ids, instants and rules only;
// what people wrote in their custom status stays out of it.

import { effectiveCustomStatus } from '../core/machine.ts'
import { voteOf } from '../core/votes.ts'
import { deadlineSentencesOf, isOverdue } from './deadlines.ts'
import type { Facts, Voting } from './facts.ts'
import { privacySentencesOf, seerOf } from './privacy.ts'
import { instant, nameOf, past, span, when } from './words.ts'

export function sentencesOf(facts: Facts): string[] {
  if (!facts.isHeardOf) return [`Nobody has ever heard of ${facts.userId}.`, conclusionOf(facts)]
  return [
    ...ofSessions(facts),
    ...ofArrival(facts),
    ...ofAvailability(facts),
    ...ofCustomStatus(facts),
    ...ofWhatIsShown(facts),
    ...deadlineSentencesOf(facts),
    ...(facts.whole.version === 0 ? [] : privacySentencesOf(facts)),
    conclusionOf(facts),
  ]
}

function ofSessions(facts: Facts): string[] {
  const { userId, votes, rawStatus } = facts
  if (votes.length === 0) return [`${userId} has no sessions, so ${userId} is offline.`]
  const count = votes.length === 1 ? '1 session' : `${votes.length} sessions`
  const said = votes.map((voting) => `${nameOf(voting, votes)} ${doing(voting)}`).join(', ')
  return [
    `${userId} has ${count}: ${said}, so ${userId} is ${rawStatus}.`,
    ...votes.flatMap((voting) => ofEnding(voting, facts)),
  ]
}

function doing({ session, vote }: Voting): string {
  const counts = session.end.state === 'live' ? 'is' : 'still counts as'
  switch (vote) {
    case 'active':
      return `${counts} active`
    case 'idle':
      return `${counts} idle (last active at ${instant(session.lastActiveAt)})`
    case 'lingering':
      return 'lingers as away'
    case 'gone':
      return 'is gone'
  }
}

function ofEnding(voting: Voting, { votes, policy, now }: Facts): string[] {
  const { session, vote, changesAt } = voting
  const { end } = session
  if (end.state === 'live') return []
  // A session may be given up some time ahead, so silence is told from the last proof of life.
  const what =
    end.state === 'closed'
      ? `closed without a goodbye at ${past(end.since, now)}`
      : `has been silent since ${past(end.provenAt, now)}`
  const name = nameOf(voting, votes)
  if (changesAt === null) return [`${name} ${what} and no longer counts.`]
  const isNextLingering = vote !== 'lingering' && voteOf(session, changesAt, policy) === 'lingering'
  const until = `until ${when(changesAt, now)}`
  if (vote === 'lingering') return [`${name} ${what} and lingers ${until}.`]
  return [`${name} ${what} and counts ${until}${isNextLingering ? ', then lingers as away' : ''}.`]
}

function ofArrival({ userId, record: { here }, policy, now }: Facts): string[] {
  if (here.state !== 'arriving') return []
  const until = `until ${when(here.showAt, now)}`
  const delay = `the online delay of ${span(policy.onlineDelayMs)}`
  return [`${userId} is arriving: nobody sees it ${until}, because of ${delay}.`]
}

function ofAvailability({ userId, record, activity, rawStatus, openStatus, isMasked, now }: Facts): string[] {
  const chosen = record.availability
  if (chosen === null || chosen.status === 'auto') return []
  const { status, expiresAt } = chosen
  const until = expiresAt === null ? '' : ` until ${instant(expiresAt)}`
  if (isMasked) {
    const masked = `${userId} is invisible${until}, so everybody else sees ${userId} as offline.`
    return openStatus === 'offline' ? [masked] : [masked, `Otherwise ${userId} would be ${openStatus}.`]
  }
  return [`${userId} chose ${status}${until}, which ${effect()}.`]

  function effect(): string {
    if (expiresAt !== null && expiresAt <= now) return 'has passed'
    if (openStatus === 'offline') return `shows only while ${userId} is here`
    if (activity === 'lingering') return 'does not count for somebody who only lingers'
    return status === rawStatus ? 'the sessions say as well' : `stands in place of ${rawStatus}`
  }
}

function ofCustomStatus({ userId, record, isMasked, now }: Facts): string[] {
  const { customStatus, shown } = record
  const expiresAt = customStatus?.expiresAt ?? null
  if (expiresAt !== null && expiresAt <= now)
    return [`The custom status of ${userId} expired at ${instant(expiresAt)}.`]
  const present = effectiveCustomStatus(record, now)
  const expiring =
    present === null || expiresAt === null
      ? []
      : [`The custom status of ${userId} is set until ${when(expiresAt, now)}.`]
  const isSame = present?.text === shown.customStatus?.text && present?.emoji === shown.customStatus?.emoji
  if (!isMasked || isSame) return expiring
  if (shown.customStatus === null)
    return [...expiring, `While ${userId} is invisible, nobody sees the custom status.`]
  return [...expiring, `The custom status others see is the one from before ${userId} was invisible.`]
}

function ofWhatIsShown(facts: Facts): string[] {
  const { userId, record, whole, isMasked, openStatus } = facts
  if (whole.version === 0) return [`There is nothing to show of ${userId}: no last seen, no custom status.`]
  const { status } = record.shown
  if (isOverdue(facts) || status === (isMasked ? 'offline' : openStatus)) return []
  return [`What people are shown of ${userId} is what was last known: ${status}.`]
}

function conclusionOf(facts: Facts): string {
  const { userId, status, level, whole, answer } = facts
  const whom = status.rule === 'self' ? 'themself' : userId
  const seen = answer.status === null ? `no status of ${userId} at all` : `${whom} as ${answer.status}`
  return `So ${seerOf(facts.viewer)} sees ${seen}${likeWhom()}.`

  function likeWhom(): string {
    if (whole.version === 0) return ', as everybody does'
    if (level === 'nothing') return ', exactly like somebody who never came'
    if (level === 'status') return ', without the last seen'
    const { last_seen: lastSeen } = answer
    return answer.status === 'offline' && lastSeen !== null ? `, last seen at ${instant(lastSeen)}` : ''
  }
}
