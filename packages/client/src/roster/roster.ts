// Who is here, from snapshots and changes: a value that takes what it is told and says what is different.
// Invariant: nobody is ever shown older than they were shown before. There is no clock in here; whoever
// holds a roster decides when it cannot know any more.
import type { Presence } from '@greendot/protocol'
import type { Person } from '../types.ts'

export interface Change {
  person: Person
  before: Person | undefined
}

/**
 * The larger version is newer. The same one may show more or less of a person than before, because what
 * this viewer may see has changed. Version 0 means that nothing is known, and wins over everything.
 */
export const replaces = (told: Presence, shown: Presence | null | undefined): boolean =>
  !shown || told.version === 0 || told.version >= shown.version

/** The same object when there is nothing to show anew. */
export function shownAfter(shown: Person | undefined, told: Presence): Person {
  if (shown && !replaces(told, shown)) return shown
  const person = { ...told, stale: false }
  return shown && JSON.stringify(shown) === JSON.stringify(person) ? shown : person
}

export interface Roster {
  get(userId: string): Person | undefined
  /** Everybody in it, as the wire tells them. */
  people(): Person[]
  learn(told: readonly Presence[]): Change[]
  /** There is no link: what is shown is what was last known. */
  doubt(): Change[]
  forget(userId: string): void
  /** Nothing is known any more. Whoever shows somebody should stop, or say that it is what was last known. */
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
    learn: (told) =>
      told.flatMap((presence) => {
        const before = shown.get(presence.user_id)
        return show(shownAfter(before, presence), before)
      }),
    doubt: () =>
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
