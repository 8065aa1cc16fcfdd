// The privacy settings of a user. They are a part of the record, so that every change of the user carries the
// privacy it happened under.
import type { Audience, LastSeenPrecision } from '@greendot/protocol'

/** Users in each of the two lists. */
export const LISTED_MAX = 1000
export const LISTED_BYTES_MAX = 16 * 1024

export interface Privacy {
  /** Null for the server's default. */
  statusVisibility: Audience | null
  lastSeenVisibility: Audience | null
  /** Only viewers that show the same to this user see it. */
  reciprocal: boolean
  lastSeenPrecision: LastSeenPrecision
  /** Users by id. The lists win over the audience; a user on both lists is denied. */
  allow: readonly string[]
  deny: readonly string[]
}

export interface PrivacySetting extends Privacy {
  /** When any of it was last changed. */
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

/** For a viewer whose settings are unknown: as if the viewer had chosen `nobody`. */
export const PRIVACY_UNKNOWN: PrivacySetting = Object.freeze({
  ...NO_PRIVACY_CHOSEN,
  statusVisibility: 'nobody',
  lastSeenVisibility: 'nobody',
  setAt: 0,
})

/** What decides who sees a user, besides the contact list itself. */
export interface VisibilityInputs {
  privacy: PrivacySetting | null
  /** When the contact list was last edited; answers about earlier editions are void. */
  contactsAt: number
}

/** A user without privacy settings whose contact list was never edited. */
export const UNRESTRICTED: VisibilityInputs = Object.freeze({ privacy: null, contactsAt: 0 })

/** Null for a user without privacy settings whose contact list was never edited, which is most users. */
export function visibilityInputsOf({ privacy, contactsAt }: VisibilityInputs): VisibilityInputs | null {
  return privacy === null && contactsAt === 0 ? null : { privacy, contactsAt }
}

/** The server's configuration. */
export interface PrivacyRules {
  defaultVisibility: Audience
  /** The status of hidden and unknown users. */
  hiddenAs: 'offline' | null
}
