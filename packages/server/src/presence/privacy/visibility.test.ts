// Who sees what (S5), by one small example for each rule and the reason that is given for it. Every
// combination of choices is in the matrix beside this.
import { describe, expect, test } from 'bun:test'
import type { Audience } from '@greendot/protocol'
import { NO_PRIVACY_CHOSEN, type Privacy } from '../core/privacy.ts'
import { type Person, type Relation, type Viewer, visibleTo } from './visibility.ts'

const STRANGER: Relation = { viewerIsContact: false, targetIsContact: false }
const CONTACT: Relation = { viewerIsContact: true, targetIsContact: false }
const OPEN = { defaultVisibility: 'everyone', hiddenAs: 'offline' } as const

const bob = (chosen: Partial<Privacy> = {}): Person => ({
  userId: 'bob',
  privacy: { ...NO_PRIVACY_CHOSEN, ...chosen },
})
const alice = (chosen: Partial<Privacy> = {}): Person => ({ ...bob(chosen), userId: 'alice' })

/** What a viewer sees of bob, and by which rules. */
function seen(target: Person, viewer: Viewer, relation = STRANGER, rules = OPEN) {
  const { level, status, lastSeen } = visibleTo(target, viewer, relation, rules)
  return [level, status.rule, lastSeen.rule]
}

describe('[S5] audiences', () => {
  test('[S5] [P29] somebody who chose nothing follows the server, with or without a privacy value', () => {
    for (const target of [bob(), { userId: 'bob', privacy: null }]) {
      const by = (defaultVisibility: Audience, relation: Relation) =>
        visibleTo(target, alice(), relation, { defaultVisibility, hiddenAs: 'offline' }).level
      expect(by('everyone', STRANGER)).toBe('everything')
      expect(by('contacts', STRANGER)).toBe('nothing')
      expect(by('contacts', CONTACT)).toBe('everything')
      expect(by('nobody', CONTACT)).toBe('nothing')
    }
  })

  test('[S5] [P29] contacts are those in the list of the one who is looked at, not of the one who looks', () => {
    const target = bob({ statusVisibility: 'contacts' })
    expect(seen(target, alice(), CONTACT)).toEqual(['everything', 'contact', 'everyone'])
    const follower: Relation = { viewerIsContact: false, targetIsContact: true }
    expect(seen(target, alice(), follower)).toEqual(['nothing', 'not_a_contact', 'status_hidden'])
  })

  test('[S5] last seen has an audience of its own', () => {
    expect(seen(bob({ lastSeenVisibility: 'nobody' }), alice())).toEqual(['status', 'everyone', 'nobody'])
  })

  test('[S5] [P31] last seen is never visible to somebody who may not see the status', () => {
    const target = bob({ statusVisibility: 'nobody', lastSeenVisibility: 'everyone' })
    expect(seen(target, alice(), CONTACT)).toEqual(['nothing', 'nobody', 'status_hidden'])
  })

  test('[S5] an approximate last seen is approximate for everybody but oneself', () => {
    const target = bob({ lastSeenPrecision: 'approximate', allow: ['alice'] })
    expect(seen(target, alice())).toEqual(['approximate', 'allowed', 'allowed'])
    expect(seen(target, null)).toEqual(['approximate', 'everyone', 'everyone'])
    expect(seen(target, target)).toEqual(['everything', 'self', 'self'])
  })

  test('[S5] [P28] people see everything of themselves, whatever they chose', () => {
    const target = bob({ statusVisibility: 'nobody', lastSeenVisibility: 'nobody', deny: ['bob'] })
    expect(seen(target, target)).toEqual(['everything', 'self', 'self'])
  })
})

describe('[S5] lists', () => {
  test('[S5] [P28] being allowed wins over the audience', () => {
    const target = bob({ statusVisibility: 'nobody', lastSeenVisibility: 'nobody', allow: ['alice'] })
    expect(seen(target, alice())).toEqual(['everything', 'allowed', 'allowed'])
    expect(seen(target, { userId: 'carol', privacy: null })[0]).toBe('nothing')
  })

  test('[S5] [P28] being denied wins over the audience and over being allowed', () => {
    expect(seen(bob({ deny: ['alice'] }), alice(), CONTACT)).toEqual(['nothing', 'denied', 'denied'])
    expect(seen(bob({ allow: ['alice'], deny: ['alice'] }), alice())[0]).toBe('nothing')
    expect(seen(bob({ deny: ['mallory'] }), alice())[0]).toBe('everything')
  })
})

describe('[S5] reciprocity', () => {
  const target = bob({ reciprocal: true })

  test('[S5] [P30] whoever hides from me does not see me', () => {
    expect(seen(target, alice())).toEqual(['everything', 'everyone', 'everyone'])
    expect(seen(target, alice({ statusVisibility: 'nobody' }))[0]).toBe('nothing')
    expect(seen(target, alice({ deny: ['bob'] }))[0]).toBe('nothing')
    expect(seen(target, alice({ statusVisibility: 'contacts' }))[0]).toBe('nothing')
    const follower: Relation = { viewerIsContact: false, targetIsContact: true }
    expect(seen(target, alice({ statusVisibility: 'contacts' }), follower)[0]).toBe('everything')
  })

  test('[S5] [P30] status and last seen are each returned by themselves', () => {
    const hidesLastSeen = alice({ lastSeenVisibility: 'nobody' })
    expect(seen(target, hidesLastSeen)).toEqual(['status', 'everyone', 'not_shown_back'])
    const showsOnlyMe = alice({ lastSeenVisibility: 'nobody', allow: ['bob'] })
    expect(seen(target, showsOnlyMe)[0]).toBe('everything')
  })

  test('[S5] [P28] those on my allow list see me whatever they show', () => {
    const hides = alice({ statusVisibility: 'nobody', lastSeenVisibility: 'nobody' })
    expect(seen(bob({ reciprocal: true, allow: ['alice'] }), hides)[0]).toBe('everything')
  })

  test('[S5] two who both ask for it see each other: it does not go round in circles', () => {
    expect(seen(target, alice({ reciprocal: true }))[0]).toBe('everything')
  })

  test('[S5] it widens nothing: showing myself gets me past no audience', () => {
    const forContacts = bob({ reciprocal: true, statusVisibility: 'contacts' })
    expect(seen(forContacts, alice({ allow: ['bob'] }))).toEqual([
      'nothing',
      'not_a_contact',
      'status_hidden',
    ])
  })
})

describe('[S5] without a token', () => {
  test('[S5] [P32] only what is for everyone is seen', () => {
    expect(seen(bob(), null)).toEqual(['everything', 'everyone', 'everyone'])
    expect(seen(bob({ lastSeenVisibility: 'contacts' }), null)[0]).toBe('status')
    expect(seen(bob({ statusVisibility: 'contacts', allow: ['alice'] }), null)[0]).toBe('nothing')
  })

  test('[S5] [P32] nothing is seen of people who deny anybody or are reciprocal: it might be those', () => {
    expect(seen(bob({ deny: ['mallory'] }), null)).toEqual(['nothing', 'denied', 'denied'])
    expect(seen(bob({ reciprocal: true }), null)).toEqual(['nothing', 'not_shown_back', 'not_shown_back'])
  })
})
