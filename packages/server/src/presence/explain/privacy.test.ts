// The part of an explanation that is about privacy (S7), word for word. Bob is simply online; what
// differs is what bob and alice chose, and who is looking.
import { expect, test } from 'bun:test'
import { connected, createPerson } from '../../../../../testing/presence-person.ts'
import { OPEN_RULES, SOME_INSTANT } from '../../../../../testing/records.ts'
import { POLICIES } from '../core/policy.ts'
import { NO_PRIVACY_CHOSEN, type Privacy } from '../core/privacy.ts'
import type { Person } from '../privacy/visibility.ts'
import { type ExplainInput, explain } from './explain.ts'

const person = createPerson(POLICIES.instant)
person.at(SOME_INSTANT, connected('web#1', SOME_INSTANT))

const alice = (chosen: Partial<Privacy> = {}): Person => ({
  userId: 'alice',
  privacy: { ...NO_PRIVACY_CHOSEN, ...chosen },
})

function about(chosen: Partial<Privacy>, other: Partial<ExplainInput> = {}) {
  return explain({
    userId: 'bob',
    record: { ...person.record(), privacy: { ...NO_PRIVACY_CHOSEN, ...chosen, setAt: SOME_INSTANT } },
    viewer: alice(),
    relation: { viewerIsContact: false, targetIsContact: false },
    rules: OPEN_RULES,
    policy: POLICIES.instant,
    now: SOME_INSTANT,
    ...other,
  })
}

const WEB_ACTIVE = 'bob has 1 session: web is active, so bob is online.'

/** Everything that is said after it and after what the clock does. */
function said(chosen: Partial<Privacy>, other: Partial<ExplainInput> = {}): string[] {
  const { because } = about(chosen, other)
  expect(because[0]).toBe(WEB_ACTIVE)
  return because.slice(3)
}

const HIDDEN = 'So alice sees bob as offline, exactly like somebody who never came.'

test('[S7] contacts only, seen and not seen', () => {
  expect(said({ statusVisibility: 'contacts' })).toEqual([
    "bob shows the status to contacts only, and alice is not in bob's contact list.",
    HIDDEN,
  ])
  const relation = { viewerIsContact: true, targetIsContact: false }
  expect(said({ statusVisibility: 'contacts', lastSeenVisibility: 'nobody' }, { relation })).toEqual([
    "bob shows the status to contacts only, and alice is in bob's contact list.",
    'bob shows the last seen to nobody.',
    'So alice sees bob as online, without the last seen.',
  ])
})

test('[S7] the defaults of the server are named as such and filled in', () => {
  const rules = { defaultVisibility: 'nobody', hiddenAs: null } as const
  const { because, details } = about({ lastSeenVisibility: 'contacts' }, { rules })
  expect(because.slice(3)).toEqual([
    "bob shows the status to nobody by the server's default.",
    'So alice sees no status of bob at all, exactly like somebody who never came.',
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

test('[S7] lists', () => {
  expect(said({ deny: ['alice'] })).toEqual([
    "alice is on bob's deny list, which wins over everything else.",
    HIDDEN,
  ])
  const allowed = {
    allow: ['alice'],
    lastSeenVisibility: 'nobody',
    lastSeenPrecision: 'approximate',
  } as const
  expect(said(allowed)).toEqual([
    "alice is on bob's allow list, which wins over audience and reciprocity.",
    'bob shows the last seen only roughly: recently.',
    'So alice sees bob as online.',
  ])
})

test('[S7] reciprocity, and the reason on the other side', () => {
  expect(said({ reciprocal: true })).toEqual([
    "bob shows the status and the last seen to everyone by the server's default.",
    'bob wants the same in return, and alice shows the status and the last seen.',
    'So alice sees bob as online.',
  ])
  const viewer = alice({ statusVisibility: 'contacts' })
  expect(said({ reciprocal: true }, { viewer })).toEqual([
    'bob shows the status only to those who show theirs to bob, and alice does not.',
    "alice shows the status to contacts only, and bob is not in alice's contact list.",
    HIDDEN,
  ])
})

test('[S7] nobody in particular, and the app', () => {
  expect(said({ deny: ['mallory'] }, { viewer: 'anyone' })).toEqual([
    'bob denies people by name, and somebody without a token might be one of them.',
    'So somebody without a token sees bob as offline, exactly like somebody who never came.',
  ])
  expect(said({ statusVisibility: 'nobody' }, { viewer: 'app' })).toEqual([
    'A server key sees the truth, whatever bob shows to whom.',
    'So a server key sees bob as online.',
  ])
  const { details } = about({ statusVisibility: 'nobody' }, { viewer: 'app' })
  expect(details.rulings.status).toEqual({ visible: true, rule: 'server_key' })
  expect(details.sight).toBe('everything')
})
