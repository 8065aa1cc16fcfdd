// Evaluators that get one rule of S5 wrong.
import type { Privacy } from '../../../packages/server/src/presence/core/privacy.ts'
import type { Evaluator } from '../../../packages/server/src/presence/privacy/evaluator.ts'
import type { Weaken, Weakening } from './weakening.ts'

/** An evaluator for which a setting means something else. */
function evaluating(means: (privacy: Privacy) => Partial<Privacy>): Weaken {
  const edited = (privacy: Privacy | null) => privacy && { ...privacy, ...means(privacy) }
  const of = <T extends { privacy: Privacy | null }>(user: T): T => ({
    ...user,
    privacy: edited(user.privacy),
  })
  return {
    evaluator: (evaluator): Evaluator => ({
      ...evaluator,
      visibleTo: (target, viewer, relation) =>
        evaluator.visibleTo(of(target), viewer && of(viewer), relation),
      isOpenToAll: (privacy) => evaluator.isOpenToAll(edited(privacy)),
      relevantRelation: (target, viewer) => evaluator.relevantRelation(of(target), viewer && of(viewer)),
    }),
  }
}

const asEveryone = (audience: 'nobody' | 'contacts') => (privacy: Privacy) => ({
  statusVisibility: privacy.statusVisibility === audience ? ('everyone' as const) : privacy.statusVisibility,
})

export const EVALUATOR_WEAKENINGS: readonly Weakening[] = [
  { name: 'the deny list is skipped', breaks: 'S5', weaken: () => evaluating(() => ({ deny: [] })) },
  {
    name: 'the audience nobody is treated as everyone',
    breaks: 'S5',
    weaken: () => evaluating(asEveryone('nobody')),
  },
  {
    name: 'contacts are treated as everyone',
    breaks: 'S5',
    weaken: () => evaluating(asEveryone('contacts')),
  },
  { name: 'reciprocity is ignored', breaks: 'S5', weaken: () => evaluating(() => ({ reciprocal: false })) },
  {
    name: 'the default visibility is ignored',
    breaks: 'S5',
    weaken: () => ({
      evaluator: (evaluator) => ({
        ...evaluator,
        isOpenToAll: (privacy) => privacy === null || evaluator.isOpenToAll(privacy),
      }),
    }),
  },
  {
    name: 'what a level leaves out is pushed all the same',
    breaks: 'S6',
    weaken: () => ({ evaluator: (evaluator) => ({ ...evaluator, present: (presence) => presence }) }),
  },
]
