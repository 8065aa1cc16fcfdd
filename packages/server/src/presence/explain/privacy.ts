// The part of an explanation that is about privacy: the rule that shows or hides the status and last seen.

import type { Party } from '../privacy/visibility.ts'
import type { Facts, Ruled } from './facts.ts'

type Subject = 'status' | 'lastSeen'

/** The viewer, as sentences name it. */
export function viewerName(viewer: Facts['viewer']): string {
  if (viewer === 'app') return 'a server key'
  return viewer === 'anyone' ? ANONYMOUS : viewer.userId
}

// With white space, so it is no user's id.
const ANONYMOUS = 'an anonymous viewer'

export function privacySentencesOf(facts: Facts): string[] {
  const { userId, status, level, answer, isInvisibleNow, openStatus } = facts
  if (status.rule === 'server_key')
    return [`A server key sees everything, whatever the privacy of ${userId}.`]
  if (status.rule === 'self') {
    const own = `Only the own view shows ${userId} as not invisible: ${openStatus}.`
    return [`${userId} sees everything that is shown of ${userId}.`, ...(isInvisibleNow ? [own] : [])]
  }
  if (!status.isVisible) return reasons(facts, ['status'])
  const sentences = haveOneReason(facts)
    ? reasons(facts, ['status', 'lastSeen'])
    : [...reasons(facts, ['status']), ...reasons(facts, ['lastSeen'])]
  if (level !== 'approximate') return sentences
  const bucket = answer.last_seen_bucket?.replace('_', ' ') ?? 'never'
  return [...sentences, `${userId} shows an approximate last seen: ${bucket}.`]
}

function haveOneReason(facts: Facts): boolean {
  const { status, lastSeen } = facts
  if (status.rule !== lastSeen.rule) return false
  const owner = ownerOf(facts)
  return status.rule === 'allowed' || isByDefault(owner, 'status') === isByDefault(owner, 'lastSeen')
}

type Subjects = readonly [Subject, ...Subject[]]

function reasons(facts: Facts, subjects: Subjects): string[] {
  const { userId, viewer, inReturn } = facts
  const owner = ownerOf(facts)
  const ruled = facts[subjects[0]]
  const reason = reasonOf(ruled, owner, viewerName(viewer), subjects)
  if (viewer === 'anyone' || viewer === 'app' || inReturn === null) return [reason]
  if (ruled.rule === 'not_shown_back')
    return [reason, reasonOf(inReturn[subjects[0]], viewer, userId, subjects)]
  if (!ruled.isVisible || ruled.rule === 'allowed' || owner.privacy?.reciprocal !== true) return [reason]
  return [reason, `${userId} is reciprocal, and ${viewer.userId} shows ${wordsOf(subjects)} to ${userId}.`]
}

const ownerOf = ({ userId, record: { privacy, contactsAt } }: Facts): Party => ({
  userId,
  privacy,
  contactsAt,
})

function isByDefault({ privacy }: Party, subject: Subject): boolean {
  const chosen = subject === 'status' ? privacy?.statusVisibility : privacy?.lastSeenVisibility
  return chosen === undefined || chosen === null
}

const wordsOf = (subjects: Subjects): string =>
  subjects.map((subject) => (subject === 'status' ? 'the status' : 'last seen')).join(' and ')

/** Why the owner shows the subjects to the viewer, or does not. */
function reasonOf({ rule }: Ruled, owner: Party, viewerId: string, subjects: Subjects): string {
  const name = owner.userId
  const what = wordsOf(subjects)
  const byDefault = isByDefault(owner, subjects[0]) ? " by the server's default" : ''
  switch (rule) {
    case 'everyone':
      return `${name} shows ${what} to everyone${byDefault}.`
    case 'contact':
      return `${name} shows ${what} to contacts only${byDefault}, and ${viewerId} is in ${name}'s contact list.`
    case 'not_a_contact':
      return `${name} shows ${what} to contacts only${byDefault}, and ${viewerId} is not in ${name}'s contact list.`
    case 'nobody':
      return `${name} shows ${what} to nobody${byDefault}.`
    case 'allowed':
      return `${viewerId} is on ${name}'s allow list, which wins over audience and reciprocity.`
    case 'denied':
      return viewerId === ANONYMOUS
        ? `${name} has a deny list, and ${viewerId} could be on it.`
        : `${viewerId} is on ${name}'s deny list, which wins over everything else.`
    case 'not_shown_back':
      return `${name} is reciprocal, and ${viewerId} does not show ${what} to ${name}.`
    case 'status_hidden':
      return 'A viewer that may not see the status does not see last seen.'
    case 'self':
    case 'server_key':
      return `${viewerId} sees everything of ${name}.`
  }
}
