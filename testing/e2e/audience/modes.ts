// Privacy modes for the end-to-end tests: at least one for each outcome and each kind of rule. All of them
// are in the matrix of the evaluator's own tests. Bob chose it and alice looks; `sees` is what alice sees of
// bob and `anyone` what the public page shows.
import type { SettingsInput } from '../../clients/server.ts'
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
const CAROL = ['carol']
/** Both audiences at once. */
const toAll = (audience: 'everyone' | 'contacts' | 'nobody'): Chosen => ({
  status_visibility: audience,
  last_seen_visibility: audience,
})

const AUDIENCES: readonly Mode[] = [
  { name: 'nothing chosen', sees: 'everything', anyone: 'everything' },
  { name: 'status hidden', bob: { status_visibility: 'nobody' }, ...UNSEEN },
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
    name: 'last seen hidden',
    bob: { last_seen_visibility: 'nobody' },
    bobsContacts: ALICE,
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
]

const LISTS: readonly Mode[] = [
  {
    name: 'only alice is allowed',
    bob: { ...toAll('nobody'), allow: ALICE },
    sees: 'everything',
    anyone: 'nothing',
  },
  { name: 'alice is denied', bob: { deny: ALICE }, ...UNSEEN },
]

const RECIPROCITY: readonly Mode[] = [
  {
    name: 'reciprocal, and alice shows hers',
    bob: { reciprocal: true },
    sees: 'everything',
    anyone: 'nothing',
  },
  {
    name: 'reciprocal, and alice hides only her last seen',
    bob: { reciprocal: true },
    alice: { last_seen_visibility: 'nobody' },
    sees: 'status',
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
]

const CONTACTS_BY_DEFAULT = { default_visibility: 'contacts' }
const HIDDEN_BY_DEFAULT = { default_visibility: 'nobody' }
const HIDDEN_AS_NULL = { hidden_as: 'null' }

const BY_DEFAULT: readonly Mode[] = [
  {
    name: 'contacts by default, and alice is one',
    server: CONTACTS_BY_DEFAULT,
    bobsContacts: ALICE,
    sees: 'everything',
    anyone: 'nothing',
  },
  {
    name: 'hidden by default',
    server: HIDDEN_BY_DEFAULT,
    bobsContacts: ALICE,
    ...UNSEEN,
  },
  {
    name: 'hidden as null',
    server: HIDDEN_AS_NULL,
    bob: { deny: ALICE },
    ...UNSEEN,
  },
]

export const MODES: readonly Mode[] = [...AUDIENCES, ...PRECISION, ...LISTS, ...RECIPROCITY, ...BY_DEFAULT]
