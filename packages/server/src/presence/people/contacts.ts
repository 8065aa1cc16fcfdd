// Editing a contact list: first the list itself, then the word that it was edited. Whoever hears of the
// edit reads the list after it, so nobody goes by an old one. What is refused was not begun: the store
// that carries the word is asked before anything is written. Once the list is written the edit is done, and
// answered so; should the store fail in that very moment, the word follows as soon as it answers.
import type { Archive } from '../../archive/port.ts'
import type { Clock } from '../../platform/clock.ts'
import type { PresenceStore } from '../../store/port.ts'
import { Unavailable } from '../unavailable.ts'
import type { ContactChangeNotifier } from './contact-change-notifier.ts'

export interface Contacts {
  /** The whole list as a JSON array. */
  list(ownerId: string): Promise<string>
  replace(ownerId: string, contactIds: readonly string[]): Promise<void>
  add(ownerId: string, contactIds: readonly string[]): Promise<void>
  remove(ownerId: string, contactIds: readonly string[]): Promise<void>
}

export interface ContactsParts {
  archive: Archive
  store: PresenceStore
  notifier: ContactChangeNotifier
  clock: Clock
}

export function createContacts({ archive, store, notifier, clock }: ContactsParts): Contacts {
  async function orUnavailable<T>(what: string, work: Promise<T>): Promise<T> {
    try {
      return await work
    } catch (error) {
      throw new Unavailable(what, { cause: error })
    }
  }

  async function edit(ownerId: string, write: () => Promise<void>): Promise<void> {
    if (!notifier.hasRoom()) throw new Unavailable('too many wait to be told of edits')
    await orUnavailable('nobody could be told of an edit', store.load([ownerId]))
    try {
      await write()
    } catch (error) {
      // Part of a long list may be written, or all of it and the answer was lost.
      notifier.notifyIfEdited([ownerId])
      throw new Unavailable('contact lists cannot be reached', { cause: error })
    }
    await notifier.notify([ownerId])
  }

  return {
    list: (ownerId) => orUnavailable('contact lists cannot be reached', archive.contactsJson(ownerId)),
    replace: (ownerId, ids) => edit(ownerId, () => archive.replaceContacts(ownerId, ids, clock.now())),
    add: (ownerId, ids) => edit(ownerId, () => archive.addContacts(ownerId, ids, clock.now())),
    remove: (ownerId, ids) => edit(ownerId, () => archive.removeContacts(ownerId, ids)),
  }
}
