// Which watchers count where the size of an audience shows: above `polled_above` a new watcher is told
// "pushed": false. A watcher who hides must not make that differ for others (S6; random histories show it), so
// only users count who have a session here, are not invisible and show themselves to everyone. Pacing goes by
// all watchers: it changes when a frame is sent, which is not promised.

import { NIL } from '../../platform/typed-arrays.ts'
import type { Evaluator } from '../../presence/privacy/evaluator.ts'
import type { Delivery } from '../delivery/delivery.ts'
import type { Viewers } from './viewers.ts'
import type { InputTable } from './visibility-inputs.ts'

export interface WatcherExposure {
  /** Whether the user has a session here and is not invisible. */
  setVisible(user: number, isVisible: boolean): void
  /** Who may see this user has changed. */
  review(user: number): void
  /** Counts a new edge, or not. */
  place(edge: number): void
}

export interface WatcherExposureParts {
  inputs: InputTable
  viewers: Viewers
  delivery: Delivery
  evaluator: Evaluator
}

export function createWatcherExposure(parts: WatcherExposureParts): WatcherExposure {
  const { inputs, viewers, delivery, evaluator } = parts
  const { edges } = delivery
  const visible = new Set<number>()

  const isExposed = (user: number) => visible.has(user) && evaluator.isOpenToAll(inputs.of(user).privacy)

  function review(user: number): void {
    if (!delivery.hasLimit) return
    const isCounted = isExposed(user)
    for (const connection of viewers.connectionsOf(user)) {
      for (let edge = edges.firstTarget(connection); edge !== NIL; edge = edges.nextTarget(edge))
        delivery.setCounted(edge, isCounted)
    }
  }

  return {
    setVisible(user, isVisible) {
      if (!delivery.hasLimit || visible.has(user) === isVisible) return
      if (isVisible) visible.add(user)
      else visible.delete(user)
      review(user)
    },
    review,
    place(edge) {
      if (delivery.hasLimit) delivery.setCounted(edge, isExposed(viewers.userOf(edges.connectionOf(edge))))
    },
  }
}
