// The facts of an explanation as sentences, in the order of the decision: sessions, delays, manual settings,
// what is shown, deadlines, privacy, and the result. They hold ids, instants and rules, never the text of a
// custom status.

import { effectiveCustomStatus } from '../core/machine.ts'
import { voteOf } from '../core/votes.ts'
import { deadlineSentencesOf, isOverdue } from './deadlines.ts'
import type { Facts, Voting } from './facts.ts'
import { privacySentencesOf, viewerName } from './privacy.ts'
import { instant, nameOf, past, span, when } from './words.ts'

export function sentencesOf(facts: Facts): string[] {
  if (!facts.isKnown) return [`${facts.userId} is unknown.`, conclusionOf(facts)]
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
  // A session may be declared lost ahead of time, so silence counts from the last proof of life.
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
  const delay = `the online delay of ${span(policy.onlineDelayMs)}`
  return [`${userId} is arriving and is not shown before ${when(here.showAt, now)}, because of ${delay}.`]
}

function ofAvailability({
  userId,
  record,
  activity,
  rawStatus,
  openStatus,
  isInvisibleNow,
  now,
}: Facts): string[] {
  const chosen = record.availability
  if (chosen === null || chosen.status === 'auto') return []
  const { status, expiresAt } = chosen
  const until = expiresAt === null ? '' : ` until ${instant(expiresAt)}`
  if (isInvisibleNow) {
    const invisible = `${userId} is invisible${until}, so others see ${userId} as offline.`
    return openStatus === 'offline'
      ? [invisible]
      : [invisible, `Without that others would see ${userId} as ${openStatus}.`]
  }
  return [`${userId} chose ${status}${until}, which ${effect()}.`]

  function effect(): string {
    if (expiresAt !== null && expiresAt <= now) return 'has expired'
    if (openStatus === 'offline') return `is shown only while ${userId} is present`
    if (activity === 'lingering') return `does not count while ${userId} only lingers`
    return status === rawStatus ? 'is what the sessions say too' : `replaces ${rawStatus}`
  }
}

function ofCustomStatus({ userId, record, isInvisibleNow, now }: Facts): string[] {
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
  if (!isInvisibleNow || isSame) return expiring
  if (shown.customStatus === null)
    return [...expiring, `The custom status is not shown while ${userId} is invisible.`]
  return [...expiring, `Others see the custom status from before ${userId} was invisible.`]
}

function ofWhatIsShown(facts: Facts): string[] {
  const { userId, record, whole, isInvisibleNow, openStatus } = facts
  if (whole.version === 0) return [`${userId} has nothing to show: no last seen and no custom status.`]
  const { status } = record.shown
  if (isOverdue(facts) || status === (isInvisibleNow ? 'offline' : openStatus)) return []
  return [`The status shown of ${userId} is the last known one: ${status}.`]
}

function conclusionOf(facts: Facts): string {
  const { userId, level, whole, answer } = facts
  const seen = answer.status === null ? `no status of ${userId}` : `${userId} as ${answer.status}`
  return `So ${viewerName(facts.viewer)} sees ${seen}${addition()}.`

  function addition(): string {
    if (whole.version === 0) return ', like every viewer'
    if (level === 'nothing') return ', like an unknown user'
    if (level === 'status') return ', without last seen'
    const { last_seen: lastSeen } = answer
    return answer.status === 'offline' && lastSeen !== null ? `, last seen at ${instant(lastSeen)}` : ''
  }
}
