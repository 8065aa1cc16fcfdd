// What holds of the evaluator for all settings (S5): hiding more never shows more, a denied viewer sees nothing,
// an anonymous viewer never sees more than a user, and a relation that need not be looked up makes no
// difference. Lists are short here, so that ids collide; long ones follow.
import { expect, test } from 'bun:test'
import { AUDIENCES, type Audience, LAST_SEEN_PRECISIONS } from '@greendot/protocol'
import fc from 'fast-check'
import { holds } from '../../../../../testing/worlds/presence-properties.ts'
import { LISTED_MAX, NO_PRIVACY_CHOSEN, type Privacy, type PrivacyRules } from '../core/privacy.ts'
import {
  isOpenToAll,
  type Party,
  type Relation,
  relevantRelation,
  VIEW_LEVELS,
  type Viewer,
  type ViewLevel,
  visibleTo,
} from './visibility.ts'

const names = fc.constantFrom('alice', 'bob', 'mallory')
const lists = fc.uniqueArray(names, { maxLength: 3 })
const audience = fc.constantFrom(...AUDIENCES)
const isSo = fc.boolean()

const privacies: fc.Arbitrary<Privacy> = fc.record({
  statusVisibility: fc.option(audience),
  lastSeenVisibility: fc.option(audience),
  reciprocal: isSo,
  lastSeenPrecision: fc.constantFrom(...LAST_SEEN_PRECISIONS),
  allow: lists,
  deny: lists,
})

interface Question {
  bob: Party
  viewer: Viewer
  relation: Relation
  rules: PrivacyRules
}

const parties = (userId: string): fc.Arbitrary<Party> =>
  fc.record({
    userId: fc.constant(userId),
    privacy: fc.option(privacies, { freq: 5 }),
    contactsAt: fc.constant(0),
  })

const questions: fc.Arbitrary<Question> = fc
  .record({
    bob: parties('bob'),
    other: parties('alice'),
    // Mostly another user: the other cases have fewer variants.
    who: fc.constantFrom('other', 'other', 'other', 'self', 'anonymous'),
    relation: fc.record({ viewerIsContact: isSo, targetIsContact: isSo }),
    rules: fc.record({ defaultVisibility: audience, hiddenAs: fc.constantFrom('offline', null) }),
  })
  .map(({ bob, other, who, relation, rules }) => {
    const viewer = who === 'self' ? bob : who === 'other' ? other : null
    return { bob, viewer, relation, rules }
  })

const levelIn = ({ bob, viewer, relation, rules }: Question): ViewLevel =>
  visibleTo(bob, viewer, relation, rules).level

/** More is larger. */
const extent = (level: ViewLevel): number => VIEW_LEVELS.length - VIEW_LEVELS.indexOf(level)

const rankOf = (audience: Audience): number => AUDIENCES.length - AUDIENCES.indexOf(audience)
const chosenBy = ({ privacy }: Party): Privacy => privacy ?? NO_PRIVACY_CHOSEN
const withChoice = (party: Party, change: Partial<Privacy>): Party => ({
  ...party,
  privacy: { ...chosenBy(party), ...change },
})

const RUNS = 3_000

test('[S5] a part of the relation is looked up exactly when it can change the level', () => {
  holds(
    fc.property(questions, (question) => {
      const { bob, viewer, rules } = question
      const needed = relevantRelation(bob, viewer, rules)
      for (const part of ['viewerIsContact', 'targetIsContact'] as const) {
        const other = part === 'viewerIsContact' ? 'targetIsContact' : 'viewerIsContact'
        const matters = [false, true].some((isOther) => {
          const [no, yes] = [false, true].map((is) =>
            levelIn({ ...question, relation: { ...question.relation, [part]: is, [other]: isOther } }),
          )
          return no !== yes
        })
        expect({ part, isNeeded: needed[part] }).toEqual({ part, isNeeded: matters })
      }
    }),
    RUNS,
  )
})

test('[S5] a target that is open to all is seen whole by every viewer', () => {
  holds(
    fc.property(questions, (question) => {
      if (isOpenToAll(question.bob.privacy, question.rules)) expect(levelIn(question)).toBe('everything')
    }),
    RUNS,
  )
})

/** Each way of hiding more, as a change of the settings. */
const waysToHide: Record<string, (party: Party, to: Audience, rules: PrivacyRules) => Partial<Privacy>> = {
  'a narrower status audience': (party, to, rules) => ({
    statusVisibility: narrower(chosenBy(party).statusVisibility ?? rules.defaultVisibility, to),
  }),
  'a narrower last-seen audience': (party, to, rules) => ({
    lastSeenVisibility: narrower(chosenBy(party).lastSeenVisibility ?? rules.defaultVisibility, to),
  }),
  'an empty allow list': () => ({ allow: [] }),
  'more users denied': (party) => ({ deny: [...chosenBy(party).deny, 'alice', 'bob'] }),
  reciprocal: () => ({ reciprocal: true }),
  'an approximate last seen': () => ({ lastSeenPrecision: 'approximate' }),
}

const narrower = (a: Audience, b: Audience): Audience => (rankOf(a) < rankOf(b) ? a : b)

for (const [way, change] of Object.entries(waysToHide)) {
  test(`[S5] hiding more never shows more: ${way}`, () => {
    holds(
      fc.property(questions, audience, (question, to) => {
        const { bob, viewer, rules } = question
        const hidden = withChoice(bob, change(bob, to, rules))
        const party = viewer === bob ? hidden : viewer
        expect(extent(levelIn({ ...question, bob: hidden, viewer: party }))).toBeLessThanOrEqual(
          extent(levelIn(question)),
        )
      }),
      RUNS,
    )
  })

  test(`[S5] a viewer that hides more never sees more: ${way}`, () => {
    holds(
      fc.property(questions, audience, (question, to) => {
        const { bob, viewer, rules } = question
        if (viewer === null || viewer === bob) return
        const hidden = withChoice(viewer, change(viewer, to, rules))
        expect(extent(levelIn({ ...question, viewer: hidden }))).toBeLessThanOrEqual(
          extent(levelIn(question)),
        )
      }),
      RUNS,
    )
  })
}

test('[S5] a narrower default of the server never shows more', () => {
  holds(
    fc.property(questions, audience, (question, to) => {
      const rules = { ...question.rules, defaultVisibility: narrower(question.rules.defaultVisibility, to) }
      expect(extent(levelIn({ ...question, rules }))).toBeLessThanOrEqual(extent(levelIn(question)))
    }),
    RUNS,
  )
})

test('[S5] [P28] a denied viewer sees nothing, whatever the other settings', () => {
  holds(
    fc.property(questions, (question) => {
      const bob = withChoice(question.bob, { deny: [...chosenBy(question.bob).deny, 'alice'] })
      const isSelf = question.viewer === question.bob
      const level = levelIn({ ...question, bob, viewer: isSelf ? bob : question.viewer })
      expect(level).toBe(isSelf ? 'everything' : 'nothing')
    }),
    RUNS,
  )
})

// An anonymous viewer sees something only of a target that denies no user and is not reciprocal. Every user
// sees at least as much of such a target.
test('[S5] [P32] an anonymous viewer never sees more than a user', () => {
  holds(
    fc.property(questions, (question) => {
      const anonymous = extent(levelIn({ ...question, viewer: null }))
      expect(anonymous).toBeLessThanOrEqual(extent(levelIn(question)))
    }),
    RUNS,
  )
})

test('[S5] for an anonymous viewer and for the user, no contact list makes a difference', () => {
  holds(
    fc.property(questions, (question) => {
      if (question.viewer !== null && question.viewer !== question.bob) return
      const none = { viewerIsContact: false, targetIsContact: false }
      expect(levelIn(question)).toBe(levelIn({ ...question, relation: none }))
      expect(relevantRelation(question.bob, question.viewer, question.rules)).toEqual(none)
    }),
    RUNS,
  )
})

const STRANGER: Relation = { viewerIsContact: false, targetIsContact: false }
const CLOSED: PrivacyRules = { defaultVisibility: 'nobody', hiddenAs: 'offline' }

test(`[S5] lists of any length up to ${LISTED_MAX} name exactly the users in them`, () => {
  // Around the length from which lists are searched in another way, and the longest one.
  for (const length of [1, 15, 16, 17, 18, LISTED_MAX]) {
    const list = Array.from({ length }, (_, index) => `user-${index}`)
    const allows: Party = { userId: 'bob', privacy: { ...NO_PRIVACY_CHOSEN, allow: list }, contactsAt: 0 }
    const denies: Party = {
      userId: 'bob',
      privacy: { ...NO_PRIVACY_CHOSEN, allow: list, deny: [...list] },
      contactsAt: 0,
    }
    const levelOf = (target: Party, userId: string, rules: PrivacyRules) =>
      visibleTo(target, { userId, privacy: null, contactsAt: 0 }, STRANGER, rules).level
    for (const userId of list) {
      expect(levelOf(allows, userId, CLOSED)).toBe('everything')
      expect(levelOf(denies, userId, { ...CLOSED, defaultVisibility: 'everyone' })).toBe('nothing')
    }
    for (const userId of [`user-${length}`, 'user-', 'User-0', 'user-0 ', '']) {
      expect(levelOf(allows, userId, CLOSED)).toBe('nothing')
      expect(levelOf(denies, userId, { ...CLOSED, defaultVisibility: 'everyone' })).toBe('everything')
    }
  }
})

test('[S5] a long list that was edited counts as edited', () => {
  const list = Array.from({ length: LISTED_MAX }, (_, index) => `user-${index}`)
  const bob = (deny: string[]): Party => ({
    userId: 'bob',
    privacy: { ...NO_PRIVACY_CHOSEN, deny },
    contactsAt: 0,
  })
  const first = { userId: 'user-0', privacy: null, contactsAt: 0 }
  const open: PrivacyRules = { defaultVisibility: 'everyone', hiddenAs: 'offline' }
  expect(visibleTo(bob(list), first, STRANGER, open).level).toBe('nothing')
  expect(visibleTo(bob(list.slice(1)), first, STRANGER, open).level).toBe('everything')
})
