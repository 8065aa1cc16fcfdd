// The privacy setting of a user as it is stored in its column: a JSON object without its instant. Unknown
// fields are ignored. A text that cannot be read completely hides the user: a setting meant to hide must
// never show.
import { AUDIENCES, LAST_SEEN_PRECISIONS } from '@greendot/protocol'
import type { Privacy } from '../../presence/core/privacy.ts'

const HIDDEN: Privacy = {
  statusVisibility: 'nobody',
  lastSeenVisibility: 'nobody',
  reciprocal: false,
  lastSeenPrecision: 'approximate',
  allow: [],
  deny: [],
}

/** The order of fields is fixed, so that equal settings are equal texts: texts decide ties of one instant. */
export function toPrivacyText(privacy: Privacy): string {
  return JSON.stringify(onlyPrivacy(privacy))
}

export function fromPrivacyText(text: string): Privacy {
  const found = parse(text)
  return isPrivacy(found) ? onlyPrivacy(found) : HIDDEN
}

function onlyPrivacy(from: Privacy): Privacy {
  const { statusVisibility, lastSeenVisibility, reciprocal, lastSeenPrecision, allow, deny } = from
  return { statusVisibility, lastSeenVisibility, reciprocal, lastSeenPrecision, allow, deny }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function isPrivacy(value: unknown): value is Privacy {
  if (typeof value !== 'object' || value === null) return false
  const { statusVisibility, lastSeenVisibility, reciprocal, lastSeenPrecision, allow, deny } =
    value as Partial<Record<keyof Privacy, unknown>>
  return (
    isAudience(statusVisibility) &&
    isAudience(lastSeenVisibility) &&
    typeof reciprocal === 'boolean' &&
    LAST_SEEN_PRECISIONS.some((precision) => precision === lastSeenPrecision) &&
    isList(allow) &&
    isList(deny)
  )
}

const isAudience = (value: unknown) => value === null || AUDIENCES.some((audience) => audience === value)

const isList = (value: unknown) => Array.isArray(value) && value.every((id) => typeof id === 'string')
