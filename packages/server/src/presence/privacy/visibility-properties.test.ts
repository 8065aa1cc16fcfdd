// What must hold of the evaluator whatever people choose (S5): hiding more never shows more, a denial
// cannot be talked round, nobody without a name sees more than somebody with one, and what need not be
// looked up really makes no difference. Lists here are short, so that names collide; long ones follow.
import { expect, test } from 'bun:test'
import { AUDIENCES, type Audience, LAST_SEEN_PRECISIONS } from '@greendot/protocol'
import fc from 'fast-check'
import { holds } from '../../../../../testing/presence-properties.ts'
import { LISTED_MAX, NO_PRIVACY_CHOSEN, type Privacy, type PrivacyRules } from '../core/privacy.ts'
import {
  isOpenToAll,
  type Person,
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

interface Scene {
  bob: Person
  viewer: Viewer
  relation: Relation
  rules: PrivacyRules
}

const someone = (userId: string): fc.Arbitrary<Person> =>
  fc.record({ userId: fc.constant(userId), privacy: fc.option(privacies, { freq: 5 }) })

const scenes: fc.Arbitrary<Scene> = fc
  .record({
    bob: someone('bob'),
    other: someone('alice'),
    // Mostly somebody else; the other two are shorter stories.
    who: fc.constantFrom('other', 'other', 'other', 'self', 'nobody in particular'),
    relation: fc.record({ viewerIsContact: isSo, targetIsContact: isSo }),
    rules: fc.record({ defaultVisibility: audience, hiddenAs: fc.constantFrom('offline', null) }),
  })
  .map(({ bob, other, who, relation, rules }) => {
    const viewer = who === 'self' ? bob : who === 'other' ? other : null
    return { bob, viewer, relation, rules }
  })

const sightIn = ({ bob, viewer, relation, rules }: Scene): ViewLevel =>
  visibleTo(bob, viewer, relation, rules).level

/** More is larger. */
const extent = (level: ViewLevel): number => VIEW_LEVELS.length - VIEW_LEVELS.indexOf(level)

const openness = (audience: Audience): number => AUDIENCES.length - AUDIENCES.indexOf(audience)
const chosenBy = ({ privacy }: Person): Privacy => privacy ?? NO_PRIVACY_CHOSEN
const withChoice = (person: Person, change: Partial<Privacy>): Person => ({
  ...person,
  privacy: { ...chosenBy(person), ...change },
})

const RUNS = 3_000

test('[S5] what need not be looked up changes nothing, and what is looked up may', () => {
  holds(
    fc.property(scenes, (scene) => {
      const { bob, viewer, rules } = scene
      const needed = relevantRelation(bob, viewer, rules)
      for (const part of ['viewerIsContact', 'targetIsContact'] as const) {
        const other = part === 'viewerIsContact' ? 'targetIsContact' : 'viewerIsContact'
        const matters = [false, true].some((isOther) => {
          const [no, yes] = [false, true].map((is) =>
            sightIn({ ...scene, relation: { ...scene.relation, [part]: is, [other]: isOther } }),
          )
          return no !== yes
        })
        expect({ part, isNeeded: needed[part] }).toEqual({ part, isNeeded: matters })
      }
    }),
    RUNS,
  )
})

test('[S5] people who are open to all are seen whole by whoever asks', () => {
  holds(
    fc.property(scenes, (scene) => {
      if (isOpenToAll(scene.bob.privacy, scene.rules)) expect(sightIn(scene)).toBe('everything')
    }),
    RUNS,
  )
})

/** Each way of hiding more, as a change of somebody's own choice. */
const waysToHide: Record<string, (person: Person, to: Audience, rules: PrivacyRules) => Partial<Privacy>> = {
  'a narrower status audience': (person, to, rules) => ({
    statusVisibility: narrower(chosenBy(person).statusVisibility ?? rules.defaultVisibility, to),
  }),
  'a narrower last-seen audience': (person, to, rules) => ({
    lastSeenVisibility: narrower(chosenBy(person).lastSeenVisibility ?? rules.defaultVisibility, to),
  }),
  'nobody allowed': () => ({ allow: [] }),
  'somebody more denied': (person) => ({ deny: [...chosenBy(person).deny, 'alice', 'bob'] }),
  'only what is shown back': () => ({ reciprocal: true }),
  'an approximate last seen': () => ({ lastSeenPrecision: 'approximate' }),
}

const narrower = (a: Audience, b: Audience): Audience => (openness(a) < openness(b) ? a : b)

for (const [way, change] of Object.entries(waysToHide)) {
  test(`[S5] hiding more never shows more: ${way}`, () => {
    holds(
      fc.property(scenes, audience, (scene, to) => {
        const { bob, viewer, rules } = scene
        const hidden = withChoice(bob, change(bob, to, rules))
        const seer = viewer === bob ? hidden : viewer
        expect(extent(sightIn({ ...scene, bob: hidden, viewer: seer }))).toBeLessThanOrEqual(
          extent(sightIn(scene)),
        )
      }),
      RUNS,
    )
  })

  test(`[S5] nor does the one who hides see more of others: ${way}`, () => {
    holds(
      fc.property(scenes, audience, (scene, to) => {
        const { bob, viewer, rules } = scene
        if (viewer === null || viewer === bob) return
        const hidden = withChoice(viewer, change(viewer, to, rules))
        expect(extent(sightIn({ ...scene, viewer: hidden }))).toBeLessThanOrEqual(extent(sightIn(scene)))
      }),
      RUNS,
    )
  })
}

test('[S5] a narrower default of the server never shows more', () => {
  holds(
    fc.property(scenes, audience, (scene, to) => {
      const rules = { ...scene.rules, defaultVisibility: narrower(scene.rules.defaultVisibility, to) }
      expect(extent(sightIn({ ...scene, rules }))).toBeLessThanOrEqual(extent(sightIn(scene)))
    }),
    RUNS,
  )
})

test('[S5] [P28] whoever is denied sees nothing, whatever else is chosen by anybody', () => {
  holds(
    fc.property(scenes, (scene) => {
      const bob = withChoice(scene.bob, { deny: [...chosenBy(scene.bob).deny, 'alice'] })
      const isSelf = scene.viewer === scene.bob
      const level = sightIn({ ...scene, bob, viewer: isSelf ? bob : scene.viewer })
      expect(level).toBe(isSelf ? 'everything' : 'nothing')
    }),
    RUNS,
  )
})

// Without a name one sees something only where nobody is denied and nothing is asked in return, and
// then everybody with a name sees at least as much. So this holds even of strangers who are denied.
test('[S5] [P32] without a token nobody sees more than anybody with one', () => {
  holds(
    fc.property(scenes, (scene) => {
      const anonymous = extent(sightIn({ ...scene, viewer: null }))
      expect(anonymous).toBeLessThanOrEqual(extent(sightIn(scene)))
    }),
    RUNS,
  )
})

test('[S5] without a token, and for oneself, no contact list makes a difference', () => {
  holds(
    fc.property(scenes, (scene) => {
      if (scene.viewer !== null && scene.viewer !== scene.bob) return
      const none = { viewerIsContact: false, targetIsContact: false }
      expect(sightIn(scene)).toBe(sightIn({ ...scene, relation: none }))
      expect(relevantRelation(scene.bob, scene.viewer, scene.rules)).toEqual(none)
    }),
    RUNS,
  )
})

const STRANGER: Relation = { viewerIsContact: false, targetIsContact: false }
const CLOSED: PrivacyRules = { defaultVisibility: 'nobody', hiddenAs: 'offline' }

test(`[S5] lists of any length up to ${LISTED_MAX} name exactly those who are in them`, () => {
  // Around the length from which lists are searched in another way, and the longest one.
  for (const length of [1, 15, 16, 17, 18, LISTED_MAX]) {
    const list = Array.from({ length }, (_, index) => `user-${index}`)
    const allows: Person = { userId: 'bob', privacy: { ...NO_PRIVACY_CHOSEN, allow: list } }
    const denies: Person = { userId: 'bob', privacy: { ...NO_PRIVACY_CHOSEN, allow: list, deny: [...list] } }
    const levelOf = (target: Person, userId: string, rules: PrivacyRules) =>
      visibleTo(target, { userId, privacy: null }, STRANGER, rules).level
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

test('[S5] a long list that was edited is read anew', () => {
  const list = Array.from({ length: LISTED_MAX }, (_, index) => `user-${index}`)
  const bob = (deny: string[]): Person => ({ userId: 'bob', privacy: { ...NO_PRIVACY_CHOSEN, deny } })
  const first = { userId: 'user-0', privacy: null }
  const open: PrivacyRules = { defaultVisibility: 'everyone', hiddenAs: 'offline' }
  expect(visibleTo(bob(list), first, STRANGER, open).level).toBe('nothing')
  expect(visibleTo(bob(list.slice(1)), first, STRANGER, open).level).toBe('everything')
})
