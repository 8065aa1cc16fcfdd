// The part of an explanation that is about privacy: which rule lets this viewer see the status and the
// last seen, or keeps them from it, in plain English.

import type { Person } from '../privacy/visibility.ts'
import type { Facts, Ruled } from './facts.ts'

type Subject = 'status' | 'lastSeen'

/** The viewer, as sentences call them. */
export function seerOf(viewer: Facts['viewer']): string {
  if (viewer === 'app') return 'a server key'
  return viewer === 'anyone' ? NAMELESS : viewer.userId
}

// White space, so it is nobody's id.
const NAMELESS = 'somebody without a token'

export function privacySentencesOf(facts: Facts): string[] {
  const { userId, status, level, answer, isMasked, openStatus } = facts
  if (status.rule === 'server_key') return [`A server key sees the truth, whatever ${userId} shows to whom.`]
  if (status.rule === 'self') {
    const behind = `Only the own view of ${userId} looks behind the mask: ${openStatus}.`
    return ['People see everything that is shown of themselves.', ...(isMasked ? [behind] : [])]
  }
  if (!status.isVisible) return reasons(facts, ['status'])
  const sentences = haveOneReason(facts)
    ? reasons(facts, ['status', 'lastSeen'])
    : [...reasons(facts, ['status']), ...reasons(facts, ['lastSeen'])]
  if (level !== 'approximate') return sentences
  const bucket = answer.last_seen_bucket?.replace('_', ' ') ?? 'never'
  return [...sentences, `${userId} shows the last seen only roughly: ${bucket}.`]
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
  const reason = reasonOf(ruled, owner, seerOf(viewer), subjects)
  if (viewer === 'anyone' || viewer === 'app' || inReturn === null) return [reason]
  if (ruled.rule === 'not_shown_back')
    return [reason, reasonOf(inReturn[subjects[0]], viewer, userId, subjects)]
  if (!ruled.isVisible || ruled.rule === 'allowed' || owner.privacy?.reciprocal !== true) return [reason]
  return [reason, `${userId} wants the same in return, and ${viewer.userId} shows ${wordsOf(subjects)}.`]
}

const ownerOf = ({ userId, record }: Facts): Person => ({ userId, privacy: record.privacy })

function isByDefault({ privacy }: Person, subject: Subject): boolean {
  const chosen = subject === 'status' ? privacy?.statusVisibility : privacy?.lastSeenVisibility
  return chosen === undefined || chosen === null
}

const wordsOf = (subjects: Subjects): string =>
  subjects.map((subject) => (subject === 'status' ? 'the status' : 'the last seen')).join(' and ')

/** Why somebody shows something to the seer, or does not. */
function reasonOf({ rule }: Ruled, owner: Person, seer: string, subjects: Subjects): string {
  const name = owner.userId
  const what = wordsOf(subjects)
  const byDefault = isByDefault(owner, subjects[0]) ? " by the server's default" : ''
  switch (rule) {
    case 'everyone':
      return `${name} shows ${what} to everyone${byDefault}.`
    case 'contact':
      return `${name} shows ${what} to contacts only${byDefault}, and ${seer} is in ${name}'s contact list.`
    case 'not_a_contact':
      return `${name} shows ${what} to contacts only${byDefault}, and ${seer} is not in ${name}'s contact list.`
    case 'nobody':
      return `${name} shows ${what} to nobody${byDefault}.`
    case 'allowed':
      return `${seer} is on ${name}'s allow list, which wins over audience and reciprocity.`
    case 'denied':
      return seer === NAMELESS
        ? `${name} denies people by name, and ${seer} might be one of them.`
        : `${seer} is on ${name}'s deny list, which wins over everything else.`
    case 'not_shown_back':
      return `${name} shows ${what} only to those who show theirs to ${name}, and ${seer} does not.`
    case 'status_hidden':
      return `Last seen is never shown to those who may not see the status.`
    case 'self':
    case 'server_key':
      return `${seer} sees everything of ${name}.`
  }
}
