// Listeners of an app, and telling them. Invariant: one that throws keeps no other from hearing; its error
// shows up as any uncaught one does.
import type { DotEvents } from '../types.ts'

export type Listeners = { [Name in keyof DotEvents]: Set<DotEvents[Name]> }

/** Any of them. */
export type Listener = (...told: unknown[]) => void

export const createListeners = (): Listeners => ({
  state: new Set(),
  change: new Set(),
  me: new Set(),
  contacts: new Set(),
  error: new Set(),
})

/** Returns the function that takes it off again. */
export function listen<Told extends unknown[]>(
  listeners: Set<(...told: Told) => void>,
  listener: (...told: Told) => void,
): () => void {
  // Wrapped, so that a listener added twice is two.
  const entry = (...told: Told) => listener(...told)
  listeners.add(entry)
  return () => void listeners.delete(entry)
}

export function tell<Told extends unknown[]>(
  listeners: Iterable<(...told: Told) => void>,
  ...told: Told
): void {
  for (const listener of listeners) {
    try {
      listener(...told)
    } catch (error) {
      queueMicrotask(() => {
        throw error
      })
    }
  }
}
