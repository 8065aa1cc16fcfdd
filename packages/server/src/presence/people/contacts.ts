// Edits a contact list: first the list in the archive, then the notice to the gateways. A gateway reads the
// list after the notice, so it never acts on an old one. The store, which carries the notice, is asked before
// anything is written, so a refused edit was not begun. Once the list is written the edit is answered; if the
// store fails in that moment, the notice follows when it answers again.
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
    if (!notifier.hasRoom()) throw new Unavailable('too many notices of edited contact lists wait')
    await orUnavailable('no gateway could be notified of an edit', store.load([ownerId]))
    try {
      await write()
    } catch (error) {
      // A part of a long list may be written, or all of it with the answer lost.
      notifier.notifyIfEdited([ownerId])
      throw new Unavailable('contact lists cannot be read or written', { cause: error })
    }
    await notifier.notify([ownerId])
  }

  return {
    list: (ownerId) =>
      orUnavailable('contact lists cannot be read or written', archive.contactsJson(ownerId)),
    replace: (ownerId, ids) => edit(ownerId, () => archive.replaceContacts(ownerId, ids, clock.now())),
    add: (ownerId, ids) => edit(ownerId, () => archive.addContacts(ownerId, ids, clock.now())),
    remove: (ownerId, ids) => edit(ownerId, () => archive.removeContacts(ownerId, ids)),
  }
}
