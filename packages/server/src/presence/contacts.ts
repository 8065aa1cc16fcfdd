// Editing a contact list: first the list itself, then the word that it was edited. Whoever hears of the
// edit reads the list after it, so nobody goes by an old one; a backend that gets an error can repeat
// the whole edit.
import type { Archive } from '../archive/port.ts'
import type { Clock } from '../platform/clock.ts'
import type { Tracker } from './tracker.ts'
import { Unavailable } from './unavailable.ts'

export interface Contacts {
  /** The whole list as a JSON array. */
  list(ownerId: string): Promise<string>
  replace(ownerId: string, contactIds: readonly string[]): Promise<void>
  add(ownerId: string, contactIds: readonly string[]): Promise<void>
  remove(ownerId: string, contactIds: readonly string[]): Promise<void>
}

export function createContacts(parts: { archive: Archive; tracker: Tracker; clock: Clock }): Contacts {
  const { archive, tracker, clock } = parts

  async function orUnavailable<T>(work: Promise<T>): Promise<T> {
    try {
      return await work
    } catch (error) {
      throw new Unavailable('contact lists cannot be reached', { cause: error })
    }
  }

  async function edit(ownerId: string, work: Promise<void>): Promise<void> {
    await orUnavailable(work)
    await tracker.apply(ownerId, { type: 'contacts_changed', at: clock.now() })
  }

  return {
    list: (ownerId) => orUnavailable(archive.contactsJson(ownerId)),
    replace: (ownerId, ids) => edit(ownerId, archive.replaceContacts(ownerId, ids, clock.now())),
    add: (ownerId, ids) => edit(ownerId, archive.addContacts(ownerId, ids, clock.now())),
    remove: (ownerId, ids) => edit(ownerId, archive.removeContacts(ownerId, ids)),
  }
}
