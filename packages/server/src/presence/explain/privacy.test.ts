// The part of an explanation that is about privacy (S7), word for word. The target, bob, is online; the privacy
// settings of bob and alice and the viewer differ.
import { expect, test } from 'bun:test'
import { connected, createUser } from '../../../../../testing/worlds/presence-user.ts'
import { OPEN_RULES, SOME_INSTANT } from '../../../../../testing/worlds/records.ts'
import { POLICIES } from '../core/policy.ts'
import { NO_PRIVACY_CHOSEN, type Privacy } from '../core/privacy.ts'
import type { Party } from '../privacy/visibility.ts'
import { type ExplainInput, explain } from './explain.ts'

const user = createUser(POLICIES.instant)
user.at(SOME_INSTANT, connected('web#1', SOME_INSTANT))

const alice = (chosen: Partial<Privacy> = {}): Party => ({
  userId: 'alice',
  privacy: { ...NO_PRIVACY_CHOSEN, ...chosen },
  contactsAt: 0,
})

function about(chosen: Partial<Privacy>, other: Partial<ExplainInput> = {}) {
  return explain({
    userId: 'bob',
    record: { ...user.record(), privacy: { ...NO_PRIVACY_CHOSEN, ...chosen, setAt: SOME_INSTANT } },
    viewer: alice(),
    relation: { viewerIsContact: false, targetIsContact: false },
    rules: OPEN_RULES,
    policy: POLICIES.instant,
    now: SOME_INSTANT,
    ...other,
  })
}

const WEB_ACTIVE = 'bob has 1 session: web is active, so bob is online.'

/** The sentences after those about sessions and deadlines. */
function sentences(chosen: Partial<Privacy>, other: Partial<ExplainInput> = {}): string[] {
  const { because } = about(chosen, other)
  expect(because[0]).toBe(WEB_ACTIVE)
  return because.slice(4)
}

const HIDDEN = 'So alice sees bob as offline, like an unknown user.'

test('[S7] contacts only, for a contact and for another user', () => {
  expect(sentences({ statusVisibility: 'contacts' })).toEqual([
    "bob shows the status to contacts only, and alice is not in bob's contact list.",
    HIDDEN,
  ])
  const relation = { viewerIsContact: true, targetIsContact: false }
  expect(sentences({ statusVisibility: 'contacts', lastSeenVisibility: 'nobody' }, { relation })).toEqual([
    "bob shows the status to contacts only, and alice is in bob's contact list.",
    'bob shows last seen to nobody.',
    'So alice sees bob as online, without last seen.',
  ])
})

test('[S7] the defaults of the server are named and filled in', () => {
  const rules = { defaultVisibility: 'nobody', hiddenAs: null } as const
  const { because, details } = about({ lastSeenVisibility: 'contacts' }, { rules })
  expect(because.slice(4)).toEqual([
    "bob shows the status to nobody by the server's default.",
    'So alice sees no status of bob, like an unknown user.',
  ])
  expect(details.privacy).toEqual({
    status_visibility: 'nobody',
    last_seen_visibility: 'contacts',
    reciprocal: false,
    last_seen_precision: 'exact',
    allow: [],
    deny: [],
  })
  expect(details.away_after_ms).toBe(POLICIES.instant.awayAfterMs)
  expect(details.rulings.status).toEqual({ visible: false, rule: 'nobody' })
})

test('[S7] allow and deny lists', () => {
  expect(sentences({ deny: ['alice'] })).toEqual([
    "alice is on bob's deny list, which wins over everything else.",
    HIDDEN,
  ])
  const allowed = {
    allow: ['alice'],
    lastSeenVisibility: 'nobody',
    lastSeenPrecision: 'approximate',
  } as const
  expect(sentences(allowed)).toEqual([
    "alice is on bob's allow list, which wins over audience and reciprocity.",
    'bob shows an approximate last seen: recently.',
    'So alice sees bob as online.',
  ])
})

test('[S7] reciprocity, with the reason on the other side', () => {
  expect(sentences({ reciprocal: true })).toEqual([
    "bob shows the status and last seen to everyone by the server's default.",
    'bob is reciprocal, and alice shows the status and last seen to bob.',
    'So alice sees bob as online.',
  ])
  const viewer = alice({ statusVisibility: 'contacts' })
  expect(sentences({ reciprocal: true }, { viewer })).toEqual([
    'bob is reciprocal, and alice does not show the status to bob.',
    "alice shows the status to contacts only, and bob is not in alice's contact list.",
    HIDDEN,
  ])
})

test('[S7] an anonymous viewer, and the app', () => {
  expect(sentences({ deny: ['mallory'] }, { viewer: 'anyone' })).toEqual([
    'bob has a deny list, and an anonymous viewer could be on it.',
    'So an anonymous viewer sees bob as offline, like an unknown user.',
  ])
  expect(sentences({ statusVisibility: 'nobody' }, { viewer: 'app' })).toEqual([
    'A server key sees everything, whatever the privacy of bob.',
    'So a server key sees bob as online.',
  ])
  const { details } = about({ statusVisibility: 'nobody' }, { viewer: 'app' })
  expect(details.rulings.status).toEqual({ visible: true, rule: 'server_key' })
  expect(details.sight).toBe('everything')
})
