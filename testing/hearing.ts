// What somebody heard who watches, by whichever way: every frame with the time it came, and what the
// frames say of one person. A test waits here for the frame it expects.
import type { Presence, ServerFrame } from '@greendot/protocol'
import { createLookout } from './lookout.ts'

export interface Heard {
  frame: ServerFrame
  at: number
}

/** One user as a client was told of them, by a state or a change. */
export interface Sighting {
  presence: Presence
  at: number
}

export interface SightingOptions {
  /** Position in `heard` to look from: what came before it does not count. */
  since?: number
  withinMs?: number
}

/** Whoever watches: every frame so far, and what it says of somebody. */
export interface Ear {
  heard: Heard[]
  /** Every state and change of one user heard so far, in order. Takes nothing. */
  sightings(userId: string, since?: number): Sighting[]
  /** Resolves with the first sighting, past or to come, that is accepted. Takes nothing. */
  sees(userId: string, accept: (presence: Presence) => boolean, options?: SightingOptions): Promise<Sighting>
}

export interface Hearing extends Ear {
  hear(frame: ServerFrame): void
  /** Looks now and after every frame, until there is something to find. */
  until<T>(what: string, withinMs: number, find: () => T | undefined): Promise<T>
}

export const WAIT_MS = 5_000

/** `name` is who waited, in what is said of a wait in vain. */
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

/** Resolves once each of these has seen it, counted from the position of each. */
export const allSee = (
  ears: readonly Ear[],
  since: readonly number[],
  userId: string,
  accept: (presence: Presence) => boolean,
): Promise<Sighting[]> =>
  Promise.all(ears.map((ear, index) => ear.sees(userId, accept, { since: since[index]! })))

/** The people a frame speaks of. */
export function presencesIn(frame: ServerFrame): Presence[] {
  if (frame.type === 'presence_state') return frame.states
  return frame.type === 'presence_change' ? frame.changes : []
}
