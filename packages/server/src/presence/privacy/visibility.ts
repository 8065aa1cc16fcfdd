// Decides how much of a target a viewer sees. Pure, and the same for push, snapshot, query, public page and
// stream. The lists win over the audience, and the deny list wins over the allow list. A viewer that may not
// see the status does not see last seen either: it would move while the target is supposed to be away.
import type { Audience } from '@greendot/protocol'
import { NO_PRIVACY_CHOSEN, type Privacy, type PrivacyRules } from '../core/privacy.ts'

/** A user on either side of a view, as target or as viewer. */
export interface Party {
  userId: string
  /** Null for a user without privacy settings. */
  privacy: Privacy | null
  /** The edition of the user's contact list, for which relations are looked up. */
  contactsAt: number
}

/** Null for an anonymous viewer, who could be any user. */
export type Viewer = Party | null

export interface Relation {
  /** The viewer is in the target's contact list. */
  viewerIsContact: boolean
  /** The target is in the viewer's contact list. */
  targetIsContact: boolean
}

/** How much of a target is seen. `status` is everything except last seen. */
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

/** True when every viewer sees everything: then nothing has to be looked up. */
export function isOpenToAll(privacy: Privacy | null, rules: PrivacyRules): boolean {
  if (privacy === null) return rules.defaultVisibility === 'everyone'
  const { statusVisibility, lastSeenVisibility, reciprocal, lastSeenPrecision, deny } = privacy
  const isForEveryone = (audience: Audience | null) => (audience ?? rules.defaultVisibility) === 'everyone'
  if (reciprocal || deny.length > 0 || lastSeenPrecision !== 'exact') return false
  return isForEveryone(statusVisibility) && isForEveryone(lastSeenVisibility)
}

export function visibleTo(target: Party, viewer: Viewer, relation: Relation, rules: PrivacyRules): Verdict {
  const status = ruling('statusVisibility', target, viewer, relation, rules)
  const ofLastSeen = ruling('lastSeenVisibility', target, viewer, relation, rules)
  const lastSeen: Ruling =
    ofLastSeen.isVisible && !status.isVisible ? { isVisible: false, rule: 'status_hidden' } : ofLastSeen
  return { level: levelOf(target, status, lastSeen), status, lastSeen }
}

function levelOf({ privacy }: Party, status: Ruling, lastSeen: Ruling): ViewLevel {
  if (!status.isVisible) return 'nothing'
  if (!lastSeen.isVisible) return 'status'
  const isBlurred = privacy?.lastSeenPrecision === 'approximate' && lastSeen.rule !== 'self'
  return isBlurred ? 'approximate' : 'everything'
}

function ruling(
  subject: Subject,
  target: Party,
  viewer: Viewer,
  relation: Relation,
  rules: PrivacyRules,
): Ruling {
  if (viewer?.userId === target.userId) return { isVisible: true, rule: 'self' }
  const shown = shownTo(subject, target, viewer, relation.viewerIsContact, rules)
  // A viewer on the allow list sees the target without showing anything in return.
  if (!shown.isVisible || shown.rule === 'allowed' || target.privacy?.reciprocal !== true) return shown
  const isShownBack =
    viewer !== null && shownTo(subject, viewer, target, relation.targetIsContact, rules).isVisible
  return isShownBack ? shown : { isVisible: false, rule: 'not_shown_back' }
}

/** By lists and audience alone, without reciprocity. */
function shownTo(
  subject: Subject,
  { privacy }: Party,
  viewer: Viewer,
  isContact: boolean,
  rules: PrivacyRules,
): Ruling {
  const { allow, deny, [subject]: chosen } = privacy ?? NO_PRIVACY_CHOSEN
  // An anonymous viewer could be a user on the deny list.
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
export function relevantRelation(target: Party, viewer: Viewer, rules: PrivacyRules): Relation {
  const levelIf = (viewerIsContact: boolean, targetIsContact: boolean) =>
    visibleTo(target, viewer, { viewerIsContact, targetIsContact }, rules).level
  const [neither, viewerOnly, targetOnly, both] = [
    levelIf(false, false),
    levelIf(true, false),
    levelIf(false, true),
    levelIf(true, true),
  ]
  return {
    viewerIsContact: neither !== viewerOnly || targetOnly !== both,
    targetIsContact: neither !== targetOnly || viewerOnly !== both,
  }
}

const SHORT_LIST = 16
const sets = new WeakMap<readonly string[], Set<string>>()

// Searching a long list for each of many watchers would take long.
function isListed(list: readonly string[], userId: string): boolean {
  if (list.length <= SHORT_LIST) return list.includes(userId)
  let set = sets.get(list)
  if (set === undefined) {
    set = new Set(list)
    sets.set(list, set)
  }
  return set.has(userId)
}
