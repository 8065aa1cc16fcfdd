// The one evaluator: what a viewer may see of a target, by the server's rules. Push, queries, streams,
// public pages and explanations are all handed this object, so no interface decides for itself.
import type { Presence } from '@greendot/protocol'
import type { Privacy, PrivacyRules } from '../core/privacy.ts'
import { asSeen } from './as-seen.ts'
import {
  isOpenToAll,
  type Party,
  type Relation,
  relevantRelation,
  type Verdict,
  type Viewer,
  type ViewLevel,
  visibleTo,
} from './visibility.ts'

export interface Evaluator {
  /** How much of the target the viewer sees, and by which rules. */
  visibleTo(target: Party, viewer: Viewer, relation: Relation): Verdict
  /** True when every viewer sees everything: then nothing has to be looked up. */
  isOpenToAll(privacy: Privacy | null): boolean
  /** Which parts of the relation make a difference; the others need not be looked up. */
  relevantRelation(target: Party, viewer: Viewer): Relation
  /** The presence object as a viewer with this level gets it. */
  present(presence: Presence, level: ViewLevel, now: number): Presence
}

export function createEvaluator(rules: PrivacyRules): Evaluator {
  return {
    visibleTo: (target, viewer, relation) => visibleTo(target, viewer, relation, rules),
    isOpenToAll: (privacy) => isOpenToAll(privacy, rules),
    relevantRelation: (target, viewer) => relevantRelation(target, viewer, rules),
    present: (presence, level, now) => asSeen(presence, level, rules, now),
  }
}
