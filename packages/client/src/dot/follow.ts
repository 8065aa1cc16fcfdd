// Follows people for something that is drawn: the hooks and the element read through this, so that both
// show the same. Invariant: nobody is shown as here by a connection that will never hear of them again.
import type { Dot, Person } from '../types.ts'

export const personOf = (dot: Dot, userId: string): Person | undefined =>
  dot.state === 'closed' ? undefined : dot.get(userId)

/** Calls back whenever `personOf` may answer differently, until the returned function is called. */
export function follow(dot: Dot, userIds: string | Iterable<string>, onChange: () => void): () => void {
  const stopWatching = dot.watch(userIds, onChange)
  const stopListening = dot.on('state', onChange)
  return () => {
    stopListening()
    // What is taken off a page is often put back at once, moved or for somebody else besides. Whoever
    // follows the same people by then keeps them known, and the server never hears of it.
    queueMicrotask(stopWatching)
  }
}
