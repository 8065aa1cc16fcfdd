// The evaluator is the pure decision with the rules of the server filled in.
import { expect, test } from 'bun:test'
import { NO_PRIVACY_CHOSEN, type PrivacyRules } from '../core/privacy.ts'
import { asSeen } from './as-seen.ts'
import { createEvaluator } from './evaluator.ts'
import { isOpenToAll, type Party, relevantRelation, VIEW_LEVELS, visibleTo } from './visibility.ts'

const AUDIENCES = ['everyone', 'contacts', 'nobody'] as const
const party = (userId: string, privacy: Party['privacy'] = null): Party => ({
  userId,
  privacy,
  contactsAt: 0,
})
const PRESENCE = {
  user_id: 'bob',
  status: 'online' as const,
  last_seen: 5,
  custom_status: null,
  devices: [],
  version: 3,
}

test.each(AUDIENCES.flatMap((audience) => [[audience, 'offline'] as const, [audience, null] as const]))(
  '[S6] decides by the rules of the server: %s, hidden as %p',
  (defaultVisibility, hiddenAs) => {
    const rules: PrivacyRules = { defaultVisibility, hiddenAs }
    const evaluator = createEvaluator(rules)
    const alice = party('alice')
    for (const target of [party('bob'), party('bob', { ...NO_PRIVACY_CHOSEN, reciprocal: true })]) {
      for (const viewer of [alice, null]) {
        const relation = { viewerIsContact: viewer !== null, targetIsContact: false }
        expect(evaluator.visibleTo(target, viewer, relation)).toEqual(
          visibleTo(target, viewer, relation, rules),
        )
        expect(evaluator.relevantRelation(target, viewer)).toEqual(relevantRelation(target, viewer, rules))
      }
      expect(evaluator.isOpenToAll(target.privacy)).toBe(isOpenToAll(target.privacy, rules))
    }
    for (const level of VIEW_LEVELS)
      expect(evaluator.present(PRESENCE, level, 10)).toEqual(asSeen(PRESENCE, level, rules, 10))
    expect(evaluator.present(PRESENCE, 'nothing', 10).status).toBe(hiddenAs)
    expect(evaluator.isOpenToAll(null)).toBe(defaultVisibility === 'everyone')
  },
)
