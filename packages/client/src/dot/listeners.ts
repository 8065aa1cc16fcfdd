// Event listeners of the app. Invariant: a listener that throws does not stop the others; its error is
// reported as an uncaught one.
import type { DotEvents } from '../types.ts'

export type Listeners = { [Name in keyof DotEvents]: Set<DotEvents[Name]> }

export type Listener = (...args: unknown[]) => void

export const createListeners = (): Listeners => ({
  state: new Set(),
  change: new Set(),
  me: new Set(),
  contacts: new Set(),
  settings: new Set(),
  error: new Set(),
})

/** Returns the function that removes the listener. */
export function listen<Args extends unknown[]>(
  listeners: Set<(...args: Args) => void>,
  listener: (...args: Args) => void,
): () => void {
  // Wrapped, so that the same listener can be added twice.
  const entry = (...args: Args) => listener(...args)
  listeners.add(entry)
  return () => void listeners.delete(entry)
}

export function notify<Args extends unknown[]>(
  listeners: Iterable<(...args: Args) => void>,
  ...args: Args
): void {
  for (const listener of listeners) {
    try {
      listener(...args)
    } catch (error) {
      queueMicrotask(() => {
        throw error
      })
    }
  }
}
