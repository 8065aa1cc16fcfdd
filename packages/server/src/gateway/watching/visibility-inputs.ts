// The inputs of the evaluator that this gateway knows: privacy settings and contact-list edition of every
// user watched here or watching from here, by interned index. Messages overtake each other, so each part
// keeps its newest.
import {
  PRIVACY_UNKNOWN,
  type PrivacySetting,
  UNRESTRICTED,
  type VisibilityInputs,
} from '../../presence/core/privacy.ts'
import { wins } from '../../presence/core/setting-events.ts'

export interface InputTable {
  of(user: number): VisibilityInputs
  /** Takes what is newer; false when nothing is. */
  learn(user: number, inputs: VisibilityInputs): boolean
  /** Takes it as it is: the store may have lost what was known. False when it is the same. */
  replace(user: number, inputs: VisibilityInputs): boolean
  forget(user: number): void
}

export function createInputTable(): InputTable {
  /** Users without settings have no entry. */
  const known = new Map<number, VisibilityInputs>()
  const of = (user: number) => known.get(user) ?? UNRESTRICTED

  function set(user: number, next: VisibilityInputs): boolean {
    const { privacy, contactsAt } = of(user)
    if (isSame(privacy, next.privacy) && contactsAt === next.contactsAt) return false
    if (next.privacy === null && next.contactsAt === 0) known.delete(user)
    else known.set(user, next)
    return true
  }

  return {
    of,
    learn(user, { privacy: heard, contactsAt: heardAt }) {
      const { privacy, contactsAt } = of(user)
      const isNewer =
        privacy === PRIVACY_UNKNOWN || (heard !== null && heard !== privacy && wins(heard, privacy))
      return set(user, {
        privacy: isNewer ? heard : privacy,
        contactsAt: Math.max(contactsAt, heardAt),
      })
    },
    replace: set,
    forget: (user) => void known.delete(user),
  }
}

const isSame = (a: PrivacySetting | null, b: PrivacySetting | null) =>
  a === b || (a !== null && b !== null && !wins(a, b) && !wins(b, a))
