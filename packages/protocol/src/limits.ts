// Limits that are part of the contract, and the checks for ids.

export const ID_BYTES_MAX = 128
export const IDS_PER_QUERY_MAX = 1000
export const FRAME_BYTES_MAX = 64 * 1024
export const BODY_BYTES_MAX = 1024 * 1024
/** Lists and objects within each other, in a frame or a body. */
export const JSON_DEPTH_MAX = 16
export const CUSTOM_TEXT_CHARS_MAX = 140
export const CUSTOM_EMOJI_BYTES_MAX = 32
export const BAD_FRAMES_MAX = 10
/** Sessions in one batch of a foreign gateway, those that are over included. */
export const FOREIGN_ENTRIES_MAX = 10_000
/** The longest reason that a disconnected client is told. */
export const REASON_CHARS_MAX = 140

const utf8 = new TextEncoder()

export function utf8Length(text: string): number {
  return utf8.encode(text).length
}

// Control characters, white space, commas, and lone surrogates (which have no UTF-8 form).
const FORBIDDEN_IN_ID = /[\p{Cc}\p{Cs}\s,]/u

/** True for 1 to 128 bytes of UTF-8 without control characters, white space or commas. */
export function isId(value: unknown): value is string {
  if (typeof value !== 'string' || value.length === 0 || value.length > ID_BYTES_MAX) return false
  if (FORBIDDEN_IN_ID.test(value)) return false
  // Three bytes a code unit is the worst case, so short ids skip the encoding.
  return value.length * 3 <= ID_BYTES_MAX || utf8Length(value) <= ID_BYTES_MAX
}
