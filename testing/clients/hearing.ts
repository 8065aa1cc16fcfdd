// The frames that a watcher received, each with the time it came, and what they say of one user. A test waits
// here for the frame it expects.
import type { Presence, ServerFrame } from '@greendot/protocol'
import { createLookout } from './lookout.ts'

export interface Heard {
  frame: ServerFrame
  at: number
}

/** A presence that a client was sent, in a state or a change. */
export interface Sighting {
  presence: Presence
  at: number
}

export interface SightingOptions {
  /** Position in `heard` to look from; earlier frames do not count. */
  since?: number
  withinMs?: number
}

/** A watcher: every frame so far, and what it says of a user. */
export interface Ear {
  heard: Heard[]
  /** Every state and change of one user so far, in order. Removes nothing. */
  sightings(userId: string, since?: number): Sighting[]
  /** Resolves with the first sighting, past or to come, that is accepted. Removes nothing. */
  sees(userId: string, accept: (presence: Presence) => boolean, options?: SightingOptions): Promise<Sighting>
}

export interface Hearing extends Ear {
  hear(frame: ServerFrame): void
  /** Looks now and after every frame, until there is something to find. */
  until<T>(what: string, withinMs: number, find: () => T | undefined): Promise<T>
}

/** Only for tests that hang. */
const WAIT_MS = 30_000

/** `name` is the watcher's, for the message of a wait that timed out. */
export function createHearing(name: string): Hearing {
  const heard: Heard[] = []
  const lookout = createLookout()

  const hearing: Hearing = {
    heard,
    hear(frame) {
      heard.push({ frame, at: Date.now() })
      lookout.notify()
    },
    until: (what, withinMs, find) =>
      lookout.until(withinMs, find, () => {
        const all = heard.map(({ frame }) => JSON.stringify(frame)).join('\n  ')
        return `${name} waited ${withinMs} ms for ${what}; heard\n  ${all}`
      }),
    sightings: (userId, since = 0) =>
      heard.slice(since).flatMap(({ frame, at }) =>
        presencesIn(frame)
          .filter(({ user_id }) => user_id === userId)
          .map((presence) => ({ presence, at })),
      ),
    sees: (userId, accept, { since = 0, withinMs = WAIT_MS } = {}) =>
      hearing.until(`a sighting of ${userId}`, withinMs, () =>
        hearing.sightings(userId, since).find(({ presence }) => accept(presence)),
      ),
  }
  return hearing
}

/** Resolves once each of these watchers has seen it, from its own position on. */
export const allSee = (
  ears: readonly Ear[],
  since: readonly number[],
  userId: string,
  accept: (presence: Presence) => boolean,
): Promise<Sighting[]> =>
  Promise.all(ears.map((ear, index) => ear.sees(userId, accept, { since: since[index]! })))

/** The presences in a frame. */
export function presencesIn(frame: ServerFrame): Presence[] {
  if (frame.type === 'presence_state') return frame.states
  return frame.type === 'presence_change' ? frame.changes : []
}
