// Who may be known to watch: people with a session here who are not invisible and show themselves to
// everybody. The others are kept apart in the watch index, so that nothing that goes by the size of an audience
// tells that they are there.
import type { PrivacyRules } from '../../presence/core/privacy.ts'
import { isOpenToAll } from '../../presence/privacy/visibility.ts'
import type { Outbox } from '../delivery/outbox.ts'
import { openCrowd } from '../delivery/watch-index.ts'
import type { Discretions } from './visibility-inputs.ts'

export interface Openness {
  isOpen(user: number): boolean
  /** What a user chose to show, or whether they are here, may have changed. */
  review(user: number): void
  /** Whether somebody who may be known to watch does. What people watch of themselves does not count. */
  isOpenlyWatched(user: number): boolean
}

export interface OpennessParts {
  outbox: Outbox
  discretions: Discretions
  rules: PrivacyRules
  /** Whether a user has sessions here and is not invisible. */
  isOpenlyHere(user: number): boolean
  /** Every connection of a user that is here. */
  connectionsOf(user: number): readonly number[]
}

export function createOpenness(parts: OpennessParts): Openness {
  const { outbox, discretions, rules, isOpenlyHere, connectionsOf } = parts
  const { index } = outbox

  const isOpen = (user: number) => isOpenToAll(discretions.of(user).privacy, rules) && isOpenlyHere(user)

  return {
    isOpen,
    review(user) {
      const isDiscreet = !isOpen(user)
      for (const connection of connectionsOf(user)) outbox.setDiscreet(connection, isDiscreet)
    },
    isOpenlyWatched(user) {
      const watching = index.watchers(openCrowd(user))
      if (watching === 0 || !isOpen(user)) return watching > 0
      const own = connectionsOf(user)
      return watching > own.length || watching > own.filter((row) => index.isWatching(row, user)).length
    },
  }
}
