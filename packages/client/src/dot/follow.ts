// Shared by the hooks and the element, so that both show the same. Invariant: a closed connection shows
// nothing, because it gets no more changes.
import type { Dot, Person } from '../types.ts'

export const personOf = (dot: Dot, userId: string): Person | undefined =>
  dot.state === 'closed' ? undefined : dot.get(userId)

/** Calls `onChange` whenever `personOf` may return something else, until the returned function is called. */
export function follow(dot: Dot, userIds: string | Iterable<string>, onChange: () => void): () => void {
  const stopWatching = dot.watch(userIds, onChange)
  const stopListening = dot.on('state', onChange)
  return () => {
    stopListening()
    // Components are often unmounted and mounted again in one turn. If something else follows the same
    // targets by then, they stay known, and nothing is sent.
    queueMicrotask(stopWatching)
  }
}
