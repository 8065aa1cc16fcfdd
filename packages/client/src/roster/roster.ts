// Known presence by user id, from snapshots and changes; every update returns what changed.
// Invariant: a shown version is never replaced by an older one. There is no clock in here; the owner of a
// roster decides when its content is stale.
import type { Presence } from '@greendot/protocol'
import type { Person } from '../types.ts'

export interface Change {
  person: Person
  before: Person | undefined
}

/**
 * The larger version is newer. The same version may show more or less than before, because what this viewer
 * may see has changed. Version 0 means that nothing is known, and replaces every version.
 */
export const replaces = (incoming: Presence, shown: Presence | null | undefined): boolean =>
  !shown || incoming.version === 0 || incoming.version >= shown.version

/** Returns the same object if nothing changed. */
function shownAfter(shown: Person | undefined, incoming: Presence): Person {
  if (shown && !replaces(incoming, shown)) return shown
  const person = { ...incoming, stale: false }
  return shown && JSON.stringify(shown) === JSON.stringify(person) ? shown : person
}

export interface Roster {
  get(userId: string): Person | undefined
  people(): Person[]
  apply(incoming: readonly Presence[]): Change[]
  /** Marks everything as last known. */
  markStale(): Change[]
  forget(userId: string): void
  /** Removes everything and returns it as stale, for the viewers of what is still shown. */
  clear(): Change[]
}

export function createRoster(): Roster {
  const shown = new Map<string, Person>()

  function show(person: Person, before: Person | undefined): Change[] {
    if (person === before) return []
    shown.set(person.user_id, person)
    return [{ person, before }]
  }

  return {
    get: (userId) => shown.get(userId),
    people: () => [...shown.values()],
    apply: (incoming) =>
      incoming.flatMap((presence) => {
        const before = shown.get(presence.user_id)
        return show(shownAfter(before, presence), before)
      }),
    markStale: () =>
      [...shown.values()].flatMap((before) =>
        show(before.stale ? before : { ...before, stale: true }, before),
      ),
    forget: (userId) => void shown.delete(userId),
    clear() {
      const before = [...shown.values()]
      shown.clear()
      return before.map((person) => ({ person: { ...person, stale: true }, before: person }))
    },
  }
}
