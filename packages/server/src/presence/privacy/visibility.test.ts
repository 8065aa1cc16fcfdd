// What a viewer sees (S5): one small example for each rule, with the reason that is given. Every combination of
// settings is in visibility-matrix.test.ts.
import { describe, expect, test } from 'bun:test'
import type { Audience } from '@greendot/protocol'
import { NO_PRIVACY_CHOSEN, type Privacy } from '../core/privacy.ts'
import { type Party, type Relation, type Viewer, visibleTo } from './visibility.ts'

const STRANGER: Relation = { viewerIsContact: false, targetIsContact: false }
const CONTACT: Relation = { viewerIsContact: true, targetIsContact: false }
const OPEN = { defaultVisibility: 'everyone', hiddenAs: 'offline' } as const

const bob = (chosen: Partial<Privacy> = {}): Party => ({
  userId: 'bob',
  privacy: { ...NO_PRIVACY_CHOSEN, ...chosen },
  contactsAt: 0,
})
const alice = (chosen: Partial<Privacy> = {}): Party => ({ ...bob(chosen), userId: 'alice' })

/** What a viewer sees of bob, and by which rules. */
function seen(target: Party, viewer: Viewer, relation = STRANGER, rules = OPEN) {
  const { level, status, lastSeen } = visibleTo(target, viewer, relation, rules)
  return [level, status.rule, lastSeen.rule]
}

describe('[S5] audiences', () => {
  test('[S5] [P29] a user without settings follows the server, with or without a privacy value', () => {
    for (const target of [bob(), { ...bob(), privacy: null }]) {
      const by = (defaultVisibility: Audience, relation: Relation) =>
        visibleTo(target, alice(), relation, { defaultVisibility, hiddenAs: 'offline' }).level
      expect(by('everyone', STRANGER)).toBe('everything')
      expect(by('contacts', STRANGER)).toBe('nothing')
      expect(by('contacts', CONTACT)).toBe('everything')
      expect(by('nobody', CONTACT)).toBe('nothing')
    }
  })

  test('[S5] [P29] contacts are those in the list of the target, not of the viewer', () => {
    const target = bob({ statusVisibility: 'contacts' })
    expect(seen(target, alice(), CONTACT)).toEqual(['everything', 'contact', 'everyone'])
    const follower: Relation = { viewerIsContact: false, targetIsContact: true }
    expect(seen(target, alice(), follower)).toEqual(['nothing', 'not_a_contact', 'status_hidden'])
  })

  test('[S5] last seen has an audience of its own', () => {
    expect(seen(bob({ lastSeenVisibility: 'nobody' }), alice())).toEqual(['status', 'everyone', 'nobody'])
  })

  test('[S5] [P31] a viewer that may not see the status does not see last seen', () => {
    const target = bob({ statusVisibility: 'nobody', lastSeenVisibility: 'everyone' })
    expect(seen(target, alice(), CONTACT)).toEqual(['nothing', 'nobody', 'status_hidden'])
  })

  test('[S5] an approximate last seen is approximate for every viewer but the user', () => {
    const target = bob({ lastSeenPrecision: 'approximate', allow: ['alice'] })
    expect(seen(target, alice())).toEqual(['approximate', 'allowed', 'allowed'])
    expect(seen(target, null)).toEqual(['approximate', 'everyone', 'everyone'])
    expect(seen(target, target)).toEqual(['everything', 'self', 'self'])
  })

  test('[S5] [P28] users see everything of themselves', () => {
    const target = bob({ statusVisibility: 'nobody', lastSeenVisibility: 'nobody', deny: ['bob'] })
    expect(seen(target, target)).toEqual(['everything', 'self', 'self'])
  })
})

describe('[S5] lists', () => {
  test('[S5] [P28] the allow list wins over the audience', () => {
    const target = bob({ statusVisibility: 'nobody', lastSeenVisibility: 'nobody', allow: ['alice'] })
    expect(seen(target, alice())).toEqual(['everything', 'allowed', 'allowed'])
    expect(seen(target, { ...bob(), userId: 'carol' })[0]).toBe('nothing')
  })

  test('[S5] [P28] the deny list wins over the audience and the allow list', () => {
    expect(seen(bob({ deny: ['alice'] }), alice(), CONTACT)).toEqual(['nothing', 'denied', 'denied'])
    expect(seen(bob({ allow: ['alice'], deny: ['alice'] }), alice())[0]).toBe('nothing')
    expect(seen(bob({ deny: ['mallory'] }), alice())[0]).toBe('everything')
  })
})

describe('[S5] reciprocity', () => {
  const target = bob({ reciprocal: true })

  test('[S5] [P30] a viewer that hides from a reciprocal target does not see it', () => {
    expect(seen(target, alice())).toEqual(['everything', 'everyone', 'everyone'])
    expect(seen(target, alice({ statusVisibility: 'nobody' }))[0]).toBe('nothing')
    expect(seen(target, alice({ deny: ['bob'] }))[0]).toBe('nothing')
    expect(seen(target, alice({ statusVisibility: 'contacts' }))[0]).toBe('nothing')
    const follower: Relation = { viewerIsContact: false, targetIsContact: true }
    expect(seen(target, alice({ statusVisibility: 'contacts' }), follower)[0]).toBe('everything')
  })

  test('[S5] [P30] status and last seen are reciprocal each by itself', () => {
    const hidesLastSeen = alice({ lastSeenVisibility: 'nobody' })
    expect(seen(target, hidesLastSeen)).toEqual(['status', 'everyone', 'not_shown_back'])
    const showsOnlyMe = alice({ lastSeenVisibility: 'nobody', allow: ['bob'] })
    expect(seen(target, showsOnlyMe)[0]).toBe('everything')
  })

  test('[S5] [P28] a viewer on the allow list need not show anything', () => {
    const hides = alice({ statusVisibility: 'nobody', lastSeenVisibility: 'nobody' })
    expect(seen(bob({ reciprocal: true, allow: ['alice'] }), hides)[0]).toBe('everything')
  })

  test('[S5] two reciprocal users see each other', () => {
    expect(seen(target, alice({ reciprocal: true }))[0]).toBe('everything')
  })

  test('[S5] it does not widen the audience', () => {
    const forContacts = bob({ reciprocal: true, statusVisibility: 'contacts' })
    expect(seen(forContacts, alice({ allow: ['bob'] }))).toEqual([
      'nothing',
      'not_a_contact',
      'status_hidden',
    ])
  })
})

describe('[S5] an anonymous viewer', () => {
  test('[S5] [P32] sees only what everyone may see', () => {
    expect(seen(bob(), null)).toEqual(['everything', 'everyone', 'everyone'])
    expect(seen(bob({ lastSeenVisibility: 'contacts' }), null)[0]).toBe('status')
    expect(seen(bob({ statusVisibility: 'contacts', allow: ['alice'] }), null)[0]).toBe('nothing')
  })

  test('[S5] [P32] sees nothing of a target that denies a user or is reciprocal', () => {
    expect(seen(bob({ deny: ['mallory'] }), null)).toEqual(['nothing', 'denied', 'denied'])
    expect(seen(bob({ reciprocal: true }), null)).toEqual(['nothing', 'not_shown_back', 'not_shown_back'])
  })
})
