// The one place that decides what somebody may see of somebody else. Pure, and the same for every way
// of reading: push, snapshot, query, public page, stream. Lists win over audiences, being denied wins
// over being allowed, and last seen is never shown to those who may not see the status: it would move
// while the person is supposed to be away.
import type { Audience } from '@greendot/protocol'
import { NO_PRIVACY_CHOSEN, type Privacy, type PrivacyRules } from '../core/privacy.ts'

export interface Person {
  userId: string
  /** Null for somebody who chose nothing. */
  privacy: Privacy | null
}

/** Without a token a viewer is nobody in particular, and might be anybody. */
export type Viewer = Person | null

export interface Relation {
  /** The viewer is in the target's contact list. */
  viewerIsContact: boolean
  /** The target is in the viewer's contact list. */
  targetIsContact: boolean
}

/** How much of a person's presence is seen. `status` is everything but the last seen. */
export const VIEW_LEVELS = ['everything', 'approximate', 'status', 'nothing'] as const
export type ViewLevel = (typeof VIEW_LEVELS)[number]

/** Why something is or is not seen. */
export type Ruling =
  | { isVisible: true; rule: 'self' | 'allowed' | 'everyone' | 'contact' }
  | { isVisible: false; rule: 'denied' | 'not_a_contact' | 'nobody' | 'not_shown_back' | 'status_hidden' }

export interface Verdict {
  level: ViewLevel
  status: Ruling
  lastSeen: Ruling
}

type Subject = 'statusVisibility' | 'lastSeenVisibility'

/** True for people whom everybody sees whole, whoever asks: nothing else need be known. */
export function isOpenToAll(privacy: Privacy | null, rules: PrivacyRules): boolean {
  if (privacy === null) return rules.defaultVisibility === 'everyone'
  const { statusVisibility, lastSeenVisibility, reciprocal, lastSeenPrecision, deny } = privacy
  const isForEveryone = (audience: Audience | null) => (audience ?? rules.defaultVisibility) === 'everyone'
  if (reciprocal || deny.length > 0 || lastSeenPrecision !== 'exact') return false
  return isForEveryone(statusVisibility) && isForEveryone(lastSeenVisibility)
}

export function visibleTo(target: Person, viewer: Viewer, relation: Relation, rules: PrivacyRules): Verdict {
  const status = ruling('statusVisibility', target, viewer, relation, rules)
  const ofLastSeen = ruling('lastSeenVisibility', target, viewer, relation, rules)
  const lastSeen: Ruling =
    ofLastSeen.isVisible && !status.isVisible ? { isVisible: false, rule: 'status_hidden' } : ofLastSeen
  return { level: levelOf(target, status, lastSeen), status, lastSeen }
}

function levelOf({ privacy }: Person, status: Ruling, lastSeen: Ruling): ViewLevel {
  if (!status.isVisible) return 'nothing'
  if (!lastSeen.isVisible) return 'status'
  const isBlurred = privacy?.lastSeenPrecision === 'approximate' && lastSeen.rule !== 'self'
  return isBlurred ? 'approximate' : 'everything'
}

function ruling(
  subject: Subject,
  target: Person,
  viewer: Viewer,
  relation: Relation,
  rules: PrivacyRules,
): Ruling {
  if (viewer?.userId === target.userId) return { isVisible: true, rule: 'self' }
  const shown = shownTo(subject, target, viewer, relation.viewerIsContact, rules)
  // Whoever was named one by one is seen by that person whatever they show in return.
  if (!shown.isVisible || shown.rule === 'allowed' || target.privacy?.reciprocal !== true) return shown
  const isShownBack =
    viewer !== null && shownTo(subject, viewer, target, relation.targetIsContact, rules).isVisible
  return isShownBack ? shown : { isVisible: false, rule: 'not_shown_back' }
}

/** What lists and audience say by themselves. */
function shownTo(
  subject: Subject,
  { privacy }: Person,
  viewer: Viewer,
  isContact: boolean,
  rules: PrivacyRules,
): Ruling {
  const { allow, deny, [subject]: chosen } = privacy ?? NO_PRIVACY_CHOSEN
  // Somebody without a name might be one of those who are denied.
  if (viewer === null ? deny.length > 0 : isListed(deny, viewer.userId))
    return { isVisible: false, rule: 'denied' }
  if (viewer !== null && isListed(allow, viewer.userId)) return { isVisible: true, rule: 'allowed' }
  return byAudience(chosen ?? rules.defaultVisibility, viewer !== null && isContact)
}

function byAudience(audience: Audience, isContact: boolean): Ruling {
  switch (audience) {
    case 'everyone':
      return { isVisible: true, rule: 'everyone' }
    case 'contacts':
      return isContact ? { isVisible: true, rule: 'contact' } : { isVisible: false, rule: 'not_a_contact' }
    case 'nobody':
      return { isVisible: false, rule: 'nobody' }
  }
}

/** Which parts of the relation can make a difference; the others need not be looked up. */
export function relevantRelation(target: Person, viewer: Viewer, rules: PrivacyRules): Relation {
  const sightIf = (viewerIsContact: boolean, targetIsContact: boolean) =>
    visibleTo(target, viewer, { viewerIsContact, targetIsContact }, rules).level
  const [neither, viewerOnly, targetOnly, both] = [
    sightIf(false, false),
    sightIf(true, false),
    sightIf(false, true),
    sightIf(true, true),
  ]
  return {
    viewerIsContact: neither !== viewerOnly || targetOnly !== both,
    targetIsContact: neither !== targetOnly || viewerOnly !== both,
  }
}

const SHORT_LIST = 16
const sets = new WeakMap<readonly string[], Set<string>>()

// A person with long lists and many watchers would be searched for a long time.
function isListed(list: readonly string[], userId: string): boolean {
  if (list.length <= SHORT_LIST) return list.includes(userId)
  let set = sets.get(list)
  if (set === undefined) {
    set = new Set(list)
    sets.set(list, set)
  }
  return set.has(userId)
}
