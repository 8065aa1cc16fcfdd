// What this gateway knows of who may see whom: the privacy of everybody watched here and of everybody who
// watches from here, by interned index. Messages overtake each other, so each part keeps its newest.
import { type Discretion, type PrivacySetting, UNGUARDED } from '../../presence/core/privacy.ts'
import { wins } from '../../presence/core/setting-events.ts'

export interface Discretions {
  of(user: number): Discretion
  /** Takes what is newer in it; false when nothing is. */
  learn(user: number, discretion: Discretion): boolean
  /** Takes it as it is: the store may have lost what was known. False when it is the same. */
  replace(user: number, discretion: Discretion): boolean
  forget(user: number): void
}

export function createDiscretions(): Discretions {
  /** Most people never chose anything and have no entry. */
  const known = new Map<number, Discretion>()
  const of = (user: number) => known.get(user) ?? UNGUARDED

  function set(user: number, next: Discretion): boolean {
    const { privacy, contactsAt } = of(user)
    if (isSame(privacy, next.privacy) && contactsAt === next.contactsAt) return false
    if (next.privacy === null && next.contactsAt === 0) known.delete(user)
    else known.set(user, next)
    return true
  }

  return {
    of,
    learn(user, discretion) {
      const { privacy, contactsAt } = of(user)
      const { privacy: said } = discretion
      const isNewer = said !== null && said !== privacy && wins(said, privacy)
      return set(user, {
        privacy: isNewer ? said : privacy,
        contactsAt: Math.max(contactsAt, discretion.contactsAt),
      })
    },
    replace: set,
    forget: (user) => void known.delete(user),
  }
}

const isSame = (a: PrivacySetting | null, b: PrivacySetting | null) =>
  a === b || (a !== null && b !== null && !wins(a, b) && !wins(b, a))
