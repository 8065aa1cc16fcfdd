// What a person decides about who sees them. A value in the record like any other choice, so that
// every change of the person carries the privacy it happened under.
import type { Audience, LastSeenPrecision } from '@greendot/protocol'

/** People one person may name in each of their two lists. */
export const LISTED_MAX = 1000
export const LISTED_BYTES_MAX = 16 * 1024

export interface Privacy {
  /** Null where the person left it to the server's default. */
  statusVisibility: Audience | null
  lastSeenVisibility: Audience | null
  /** Only those who show themselves to me may see me. */
  reciprocal: boolean
  lastSeenPrecision: LastSeenPrecision
  /** Named people, who win over the audience; whoever is on both lists is denied. */
  allow: readonly string[]
  deny: readonly string[]
}

export interface PrivacySetting extends Privacy {
  /** When the person last changed any of it. */
  setAt: number
}

export const NO_PRIVACY_CHOSEN: Privacy = {
  statusVisibility: null,
  lastSeenVisibility: null,
  reciprocal: false,
  lastSeenPrecision: 'exact',
  allow: [],
  deny: [],
}

/** What decides who may see somebody, besides the contact list itself. */
export interface VisibilityInputs {
  privacy: PrivacySetting | null
  /** When the contact list was last edited; what was known of it before is not to be relied on. */
  contactsAt: number
}

/** Somebody who never chose anything and whose list nobody edited. */
export const UNRESTRICTED: VisibilityInputs = Object.freeze({ privacy: null, contactsAt: 0 })

/** Null for the many who never chose anything and whose list nobody edited. */
export function visibilityInputsOf({ privacy, contactsAt }: VisibilityInputs): VisibilityInputs | null {
  return privacy === null && contactsAt === 0 ? null : { privacy, contactsAt }
}

/** What the server's operator decided. */
export interface PrivacyRules {
  defaultVisibility: Audience
  /** The status that hidden and unknown people have. */
  hiddenAs: 'offline' | null
}
