// The facts of an explanation in plain sentences, in the order of the decision: sessions, delays, what
// was chosen by hand, what is shown, privacy, and what comes out. Made of ids, instants and rules only;
// what people wrote in their custom status stays out of it.
import type { Facts, Voting } from './explain-facts.ts'
import { privacySentencesOf, seerOf } from './explain-privacy.ts'
import { effectiveCustomStatus } from './machine.ts'
import { voteOf } from './votes.ts'

export function sentencesOf(facts: Facts): string[] {
  if (!facts.isHeardOf) return [`Nobody has ever heard of ${facts.userId}.`, conclusionOf(facts)]
  return [
    ...ofSessions(facts),
    ...ofArrival(facts),
    ...ofAvailability(facts),
    ...ofCustomStatus(facts),
    ...ofWhatIsShown(facts),
    ...ofTheClock(facts),
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

/** By platform; where several sessions share it, the id of the session tells them apart. */
function nameOf({ session: { id, platform } }: Voting, votes: readonly Voting[]): string {
  const isShared = votes.some(({ session }) => session.platform === platform && session.id !== id)
  return isShared ? `${platform} (${id})` : platform
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

function ofAvailability({ userId, record, crowd, rawStatus, openStatus, isMasked, now }: Facts): string[] {
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
    if (crowd === 'lingering') return 'does not count for somebody who only lingers'
    return status === rawStatus ? 'the sessions say as well' : `stands in place of ${rawStatus}`
  }
}

function ofCustomStatus({ userId, record, isMasked, now }: Facts): string[] {
  const { customStatus, shown } = record
  const expiresAt = customStatus?.expiresAt ?? null
  if (expiresAt !== null && expiresAt <= now)
    return [`The custom status of ${userId} expired at ${instant(expiresAt)}.`]
  const present = effectiveCustomStatus(record, now)
  const isSame = present?.text === shown.customStatus?.text && present?.emoji === shown.customStatus?.emoji
  if (!isMasked || isSame) return []
  if (shown.customStatus === null) return [`While ${userId} is invisible, nobody sees the custom status.`]
  return [`The custom status others see is the one from before ${userId} was invisible.`]
}

function ofWhatIsShown(facts: Facts): string[] {
  const { userId, record, whole, isMasked, openStatus } = facts
  if (whole.version === 0) return [`There is nothing to show of ${userId}: no last seen, no custom status.`]
  const { status } = record.shown
  if (isOverdue(facts) || status === (isMasked ? 'offline' : openStatus)) return []
  return [`What people are shown of ${userId} is what was last known: ${status}.`]
}

const isOverdue = ({ nextDeadlineAt, now }: Facts): boolean =>
  nextDeadlineAt !== null && nextDeadlineAt <= now

function ofTheClock(facts: Facts): string[] {
  const { userId, pending, nextDeadlineAt, now } = facts
  const due = isOverdue(facts)
    ? [`What was due at ${instant(nextDeadlineAt!)} waits for the next sweep.`]
    : []
  if (pending === null) return due
  const from = pending.at > now ? `from ${when(pending.at, now)}` : 'then'
  return [...due, `If nothing else happens, ${userId} is shown as ${pending.status} ${from}.`]
}

function conclusionOf(facts: Facts): string {
  const { userId, status, sight, whole, answer } = facts
  const whom = status.rule === 'self' ? 'themself' : userId
  const seen = answer.status === null ? `no status of ${userId} at all` : `${whom} as ${answer.status}`
  return `So ${seerOf(facts.viewer)} sees ${seen}${likeWhom()}.`

  function likeWhom(): string {
    if (whole.version === 0) return ', as everybody does'
    if (sight === 'nothing') return ', exactly like somebody who never came'
    if (sight === 'status') return ', without the last seen'
    const { last_seen: lastSeen } = answer
    return answer.status === 'offline' && lastSeen !== null ? `, last seen at ${instant(lastSeen)}` : ''
  }
}

const instant = (at: number): string => new Date(at).toISOString()

/** An instant that may be ahead, and then how far. */
const when = (at: number, now: number): string =>
  at > now ? `${instant(at)} (in ${span(at - now)})` : instant(at)
const past = (at: number, now: number): string =>
  at < now ? `${instant(at)} (${span(now - at)} ago)` : instant(at)

/** The largest unit that keeps the number from being a fraction of one. */
function span(ms: number): string {
  if (ms < 1_000) return `${ms} ms`
  if (ms < 120_000) return `${Math.round(ms / 100) / 10} s`
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`
  return ms < 172_800_000 ? `${Math.round(ms / 3_600_000)} h` : `${Math.round(ms / 86_400_000)} days`
}
