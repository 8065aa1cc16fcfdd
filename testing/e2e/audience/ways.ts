// Every way to lose the right to see bob, and to get it back: by what he chooses, by what the viewer
// chooses, and by edits of either contact list. Alice is the viewer it happens to; carol is allowed to
// see him whatever else he chooses, so for her nothing changes.
import { expect } from 'bun:test'
import { call } from '../scene.ts'
import { type Chosen, choose, editContacts, SERVER_KEY } from './audience.ts'

/** What holds at first: alice sees bob. */
export interface Before {
  bob?: Chosen
  alice?: Chosen
  bobsContacts?: readonly string[]
  alicesContacts?: readonly string[]
}

/** One way to lose the right to see bob, and to get it back. */
export interface Way extends Before {
  name: string
  lose(url: string): Promise<unknown>
  gain(url: string): Promise<unknown>
}

async function chooseForBob(url: string, chosen: Chosen): Promise<void> {
  const { status } = await call(url, SERVER_KEY, 'PUT', '/api/v1/users/bob/settings', chosen)
  expect(status).toBe(200)
}

export const WAYS: readonly Way[] = [
  {
    name: 'bob hides his status',
    lose: (url) => choose(url, 'bob', { status_visibility: 'nobody' }),
    gain: (url) => choose(url, 'bob', { status_visibility: 'everyone' }),
  },
  {
    name: 'the backend hides bob, and returns to the default',
    lose: (url) => chooseForBob(url, { status_visibility: 'nobody' }),
    gain: (url) => chooseForBob(url, { status_visibility: null }),
  },
  {
    name: 'bob shows himself to contacts, and alice is none',
    lose: (url) => choose(url, 'bob', { status_visibility: 'contacts' }),
    gain: (url) => choose(url, 'bob', { status_visibility: 'everyone' }),
  },
  {
    name: 'bob denies alice',
    lose: (url) => choose(url, 'bob', { deny: ['alice'] }),
    gain: (url) => choose(url, 'bob', { deny: [] }),
  },
  {
    name: 'bob takes alice off those he allows',
    bob: { status_visibility: 'nobody', allow: ['carol', 'alice'] },
    lose: (url) => choose(url, 'bob', { allow: ['carol'] }),
    gain: (url) => choose(url, 'bob', { allow: ['alice', 'carol'] }),
  },
  {
    name: 'the backend takes alice off the list of bob',
    bob: { status_visibility: 'contacts' },
    bobsContacts: ['alice', 'dave'],
    lose: (url) => editContacts(url, 'DELETE', 'bob', ['alice']),
    gain: (url) => editContacts(url, 'POST', 'bob', ['alice']),
  },
  {
    name: 'the backend replaces the list of bob',
    bob: { status_visibility: 'contacts' },
    bobsContacts: ['alice'],
    lose: (url) => editContacts(url, 'PUT', 'bob', ['dave']),
    gain: (url) => editContacts(url, 'PUT', 'bob', ['alice', 'dave']),
  },
  {
    name: 'bob becomes reciprocal, and alice hides hers',
    alice: { status_visibility: 'nobody' },
    lose: (url) => choose(url, 'bob', { reciprocal: true }),
    gain: (url) => choose(url, 'bob', { reciprocal: false }),
  },
  {
    name: 'bob is reciprocal, and alice hides hers',
    bob: { reciprocal: true },
    lose: (url) => choose(url, 'alice', { status_visibility: 'nobody' }),
    gain: (url) => choose(url, 'alice', { status_visibility: 'everyone' }),
  },
  {
    name: 'bob is reciprocal, and alice denies him',
    bob: { reciprocal: true },
    lose: (url) => choose(url, 'alice', { deny: ['bob'] }),
    gain: (url) => choose(url, 'alice', { deny: [] }),
  },
  {
    name: 'bob is reciprocal, and the backend takes him off the list of alice, who shows hers to contacts',
    bob: { reciprocal: true },
    alice: { status_visibility: 'contacts' },
    alicesContacts: ['bob'],
    lose: (url) => editContacts(url, 'DELETE', 'alice', ['bob']),
    gain: (url) => editContacts(url, 'POST', 'alice', ['bob']),
  },
]

export async function prepareWay(url: string, before: Before): Promise<void> {
  await choose(url, 'bob', { allow: ['carol'], ...before.bob })
  if (before.alice !== undefined) await choose(url, 'alice', before.alice)
  if (before.bobsContacts !== undefined) await editContacts(url, 'PUT', 'bob', before.bobsContacts)
  if (before.alicesContacts !== undefined) await editContacts(url, 'PUT', 'alice', before.alicesContacts)
}
