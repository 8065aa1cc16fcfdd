// Alice and her contact list: the backend edits it, her connection follows it. What a test of that does
// and looks at.
import { expect } from 'bun:test'
import type { Presence } from '@greendot/protocol'
import { ask, type Person, type Scene } from '../scene.ts'
import { editContacts, isHidden, say, says } from './audience.ts'
import { turns } from './races.ts'

const TURNS_AHEAD_MAX = 20

export const ids = (presences: readonly Presence[]) => presences.map(({ user_id }) => user_id)
export const add = (url: string, ...userIds: string[]) => editContacts(url, 'POST', 'alice', userIds)
export const remove = (url: string, ...userIds: string[]) => editContacts(url, 'DELETE', 'alice', userIds)
export const replace = (url: string, ...userIds: string[]) => editContacts(url, 'PUT', 'alice', userIds)

/** Follows the contact list and returns its snapshot. */
export async function follow(person: Person): Promise<Presence[]> {
  const since = person.heard.length
  await ask(person, { type: 'watch_contacts' })
  return person.heard
    .slice(since)
    .flatMap(({ frame }) => (frame.type === 'presence_state' ? frame.states : []))
}

/** Users of whom something was heard since then, by states and by changes, in the order of names. */
export function heardSince(person: Person, since: number): { states: string[]; changes: string[] } {
  const frames = person.heard.slice(since).map(({ frame }) => frame)
  return {
    states: frames.flatMap((frame) => (frame.type === 'presence_state' ? ids(frame.states) : [])).sort(),
    changes: frames.flatMap((frame) => (frame.type === 'presence_change' ? ids(frame.changes) : [])).sort(),
  }
}

/** Returns when the edit that was made last is in force at this connection, which follows. */
export async function caughtUp(url: string, person: Person, marker: string): Promise<void> {
  const since = person.heard.length
  await add(url, marker)
  await person.sees(marker, () => true, { since })
}

/** Alice has these contacts, connects and follows her list. */
export async function aliceFollows(scene: Scene, url: string, ...contacts: string[]) {
  if (contacts.length > 0) await replace(url, ...contacts)
  const alice = await scene.person(url, 'alice')
  return { alice, snapshot: await follow(alice) }
}

/** The list is edited on one server while alice asks for it on another, or the same, and neither is lost. */
export async function editWhileAsking(scene: Scene, here: string, there: string, rounds: number) {
  for (let round = 0; round < rounds; round++) {
    await replace(here, 'bob')
    const alice = await scene.person(there, 'alice')
    const added = `new-${round}`
    // The edit is ahead of the question by more and more turns of the loop.
    const edited = add(here, added)
    await turns(round % TURNS_AHEAD_MAX)
    const asked = ask(alice, { type: 'watch_contacts' })
    const changed = say(here, 'bob', `round ${round}`)
    await Promise.all([edited, asked, changed])
    await alice.sees(added, isHidden)
    await alice.sees('bob', says(`round ${round}`))
    expect(alice.sightings(added)).toHaveLength(1)
    alice.close()
  }
}
