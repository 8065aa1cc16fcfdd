// The one place that says what each privacy mode comes to. Bob chose it, alice looks, carol is somebody
// else; `sees` is what alice sees of bob and `anyone` what the public page shows. Written from the
// promises in the documentation, not from the code.
import type { SettingsInput } from '../server.ts'
import type { Chosen, ViewLevel } from './audience.ts'

export interface Mode {
  name: string
  server?: SettingsInput
  /** What bob chose, and whom he has in his contact list. */
  bob?: Chosen
  bobsContacts?: readonly string[]
  alice?: Chosen
  alicesContacts?: readonly string[]
  sees: ViewLevel
  anyone: ViewLevel
}

/** Hidden from alice and from the public. */
const UNSEEN = { sees: 'nothing', anyone: 'nothing' } as const
const ALICE = ['alice']
const BOB = ['bob']
const CAROL = ['carol']
/** Both audiences at once. */
const toAll = (audience: 'everyone' | 'contacts' | 'nobody'): Chosen => ({
  status_visibility: audience,
  last_seen_visibility: audience,
})

const AUDIENCES: readonly Mode[] = [
  { name: 'nothing chosen', sees: 'everything', anyone: 'everything' },
  { name: 'status to everyone', bob: toAll('everyone'), sees: 'everything', anyone: 'everything' },
  { name: 'status to nobody', bob: { status_visibility: 'nobody' }, ...UNSEEN },
  {
    name: 'status to nobody, though alice is a contact',
    bob: { status_visibility: 'nobody' },
    bobsContacts: ALICE,
    ...UNSEEN,
  },
  {
    name: 'status to contacts, and alice is a stranger',
    bob: { status_visibility: 'contacts' },
    bobsContacts: CAROL,
    ...UNSEEN,
  },
  {
    name: 'status to contacts, and alice is one',
    bob: { status_visibility: 'contacts' },
    bobsContacts: [...CAROL, ...ALICE],
    sees: 'everything',
    anyone: 'nothing',
  },
  {
    name: 'status to contacts, and only alice has bob on her list',
    bob: { status_visibility: 'contacts' },
    alicesContacts: BOB,
    ...UNSEEN,
  },
  {
    name: 'last seen to nobody',
    bob: { last_seen_visibility: 'nobody' },
    bobsContacts: ALICE,
    sees: 'status',
    anyone: 'status',
  },
  {
    name: 'last seen to contacts, and alice is a stranger',
    bob: { last_seen_visibility: 'contacts' },
    sees: 'status',
    anyone: 'status',
  },
  {
    name: 'last seen to contacts, and alice is one',
    bob: { last_seen_visibility: 'contacts' },
    bobsContacts: ALICE,
    sees: 'everything',
    anyone: 'status',
  },
  {
    name: 'last seen to everyone but status to nobody',
    bob: { status_visibility: 'nobody', last_seen_visibility: 'everyone' },
    ...UNSEEN,
  },
  {
    name: 'status to contacts and last seen to nobody, and alice is a contact',
    bob: { status_visibility: 'contacts', last_seen_visibility: 'nobody' },
    bobsContacts: ALICE,
    sees: 'status',
    anyone: 'nothing',
  },
]

const PRECISION: readonly Mode[] = [
  {
    name: 'approximate last seen',
    bob: { last_seen_precision: 'approximate' },
    sees: 'approximate',
    anyone: 'approximate',
  },
  {
    name: 'approximate last seen, to contacts, and alice is one',
    bob: { last_seen_precision: 'approximate', last_seen_visibility: 'contacts' },
    bobsContacts: ALICE,
    sees: 'approximate',
    anyone: 'status',
  },
  {
    name: 'approximate last seen, to nobody',
    bob: { last_seen_precision: 'approximate', last_seen_visibility: 'nobody' },
    sees: 'status',
    anyone: 'status',
  },
  {
    name: 'approximate last seen, though alice is allowed',
    bob: { last_seen_precision: 'approximate', allow: ALICE },
    sees: 'approximate',
    anyone: 'approximate',
  },
]

const LISTS: readonly Mode[] = [
  {
    name: 'alice is allowed, and nobody else',
    bob: { ...toAll('nobody'), allow: ALICE },
    sees: 'everything',
    anyone: 'nothing',
  },
  {
    name: 'carol is allowed, and nobody else',
    bob: { ...toAll('nobody'), allow: CAROL },
    ...UNSEEN,
  },
  {
    name: 'alice is allowed, also what nobody sees of the last seen',
    bob: { last_seen_visibility: 'nobody', allow: ALICE },
    sees: 'everything',
    anyone: 'status',
  },
  { name: 'alice is denied', bob: { deny: ALICE }, ...UNSEEN },
  { name: 'carol is denied', bob: { deny: CAROL }, sees: 'everything', anyone: 'nothing' },
  {
    name: 'alice is denied, though she is a contact',
    bob: { ...toAll('contacts'), deny: ALICE },
    bobsContacts: ALICE,
    ...UNSEEN,
  },
  {
    name: 'alice is allowed and denied',
    bob: { allow: ALICE, deny: ALICE },
    ...UNSEEN,
  },
]

const RECIPROCITY: readonly Mode[] = [
  {
    name: 'reciprocal, and alice shows hers',
    bob: { reciprocal: true },
    sees: 'everything',
    anyone: 'nothing',
  },
  {
    name: 'reciprocal, and alice hides hers',
    bob: { reciprocal: true },
    alice: { status_visibility: 'nobody' },
    ...UNSEEN,
  },
  {
    name: 'reciprocal, and alice hides only her last seen',
    bob: { reciprocal: true },
    alice: { last_seen_visibility: 'nobody' },
    sees: 'status',
    anyone: 'nothing',
  },
  {
    name: 'reciprocal, and alice hides hers but is allowed',
    bob: { reciprocal: true, allow: ALICE },
    alice: toAll('nobody'),
    sees: 'everything',
    anyone: 'nothing',
  },
  {
    name: 'reciprocal, and alice hides hers but allows bob',
    bob: { reciprocal: true },
    alice: { ...toAll('nobody'), allow: BOB },
    sees: 'everything',
    anyone: 'nothing',
  },
  {
    name: 'reciprocal, and alice denies bob',
    bob: { reciprocal: true },
    alice: { deny: BOB },
    ...UNSEEN,
  },
  {
    name: 'reciprocal, and alice shows hers to contacts such as bob',
    bob: { reciprocal: true },
    alice: toAll('contacts'),
    alicesContacts: BOB,
    sees: 'everything',
    anyone: 'nothing',
  },
  {
    name: 'reciprocal, and alice shows hers to contacts, of whom bob is none',
    bob: { reciprocal: true },
    bobsContacts: ALICE,
    alice: toAll('contacts'),
    alicesContacts: CAROL,
    ...UNSEEN,
  },
  {
    name: 'alice is reciprocal, which says nothing of what she sees',
    bob: {},
    alice: { reciprocal: true, ...toAll('nobody') },
    sees: 'everything',
    anyone: 'everything',
  },
]

const CONTACTS_BY_DEFAULT = { default_visibility: 'contacts' }
const NOBODY_BY_DEFAULT = { default_visibility: 'nobody' }
const HIDDEN_AS_NULL = { hidden_as: 'null' }

const BY_DEFAULT: readonly Mode[] = [
  {
    name: 'contacts by default, and alice is a stranger',
    server: CONTACTS_BY_DEFAULT,
    ...UNSEEN,
  },
  {
    name: 'contacts by default, and alice is one',
    server: CONTACTS_BY_DEFAULT,
    bobsContacts: ALICE,
    sees: 'everything',
    anyone: 'nothing',
  },
  {
    name: 'contacts by default, but bob chose everyone for his status',
    server: CONTACTS_BY_DEFAULT,
    bob: { status_visibility: 'everyone' },
    sees: 'status',
    anyone: 'status',
  },
  {
    name: 'contacts by default, reciprocal, and bob is no contact of alice',
    server: CONTACTS_BY_DEFAULT,
    bob: { reciprocal: true },
    bobsContacts: ALICE,
    ...UNSEEN,
  },
  {
    name: 'contacts by default, reciprocal, and they are contacts of each other',
    server: CONTACTS_BY_DEFAULT,
    bob: { reciprocal: true },
    bobsContacts: ALICE,
    alicesContacts: BOB,
    sees: 'everything',
    anyone: 'nothing',
  },
  {
    name: 'nobody by default',
    server: NOBODY_BY_DEFAULT,
    bobsContacts: ALICE,
    ...UNSEEN,
  },
  {
    name: 'nobody by default, but bob chose everyone',
    server: NOBODY_BY_DEFAULT,
    bob: toAll('everyone'),
    sees: 'everything',
    anyone: 'everything',
  },
  {
    name: 'nobody by default, but alice is allowed',
    server: NOBODY_BY_DEFAULT,
    bob: { allow: ALICE },
    sees: 'everything',
    anyone: 'nothing',
  },
  {
    name: 'hidden as null',
    server: HIDDEN_AS_NULL,
    bob: { deny: ALICE },
    ...UNSEEN,
  },
  {
    name: 'hidden as null, but not from contacts such as alice',
    server: { ...HIDDEN_AS_NULL, ...CONTACTS_BY_DEFAULT },
    bobsContacts: ALICE,
    sees: 'everything',
    anyone: 'nothing',
  },
]

export const MODES: readonly Mode[] = [...AUDIENCES, ...PRECISION, ...LISTS, ...RECIPROCITY, ...BY_DEFAULT]
