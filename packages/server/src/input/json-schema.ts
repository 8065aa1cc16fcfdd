// Input rules in JSON Schema, for the OpenAPI document. The server checks with code; a schema cannot count bytes
// and does not know the time. The schema of ids therefore allows a little less than the server. An emoji may have
// too many bytes, and an expiry may lie in the past, although the schema allows it.
// Patterns use ranges only, because `\s` and `\p{…}` mean different things in different languages.
import { CUSTOM_EMOJI_BYTES_MAX, CUSTOM_TEXT_CHARS_MAX, ID_BYTES_MAX } from '@greendot/protocol'

/** So many characters fit, whatever they are: one takes at most 4 bytes. */
const ID_CHARACTERS = ID_BYTES_MAX / 4

const ASCII_IN_ID = '\\u0021-\\u002b\\u002d-\\u007e'
const FORBIDDEN_IN_ID =
  '\\u0000-\\u0020\\u002c\\u007f-\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff'

const ID_RULE = `1 to ${ID_BYTES_MAX} bytes of UTF-8 without control characters, white space or commas`

/** An id in an answer: any that the server accepts. */
export const ANSWERED_ID_SCHEMA = {
  minLength: 1,
  maxLength: ID_BYTES_MAX,
  pattern: `^[^${FORBIDDEN_IN_ID}]+$`,
  description: ID_RULE,
}

/** An id in a request. */
export const ID_SCHEMA = {
  ...ANSWERED_ID_SCHEMA,
  pattern: `^(?:[^${FORBIDDEN_IN_ID}]{1,${ID_CHARACTERS}}|[${ASCII_IN_ID}]{1,${ID_BYTES_MAX}})$`,
  description:
    `${ID_RULE}. The pattern counts characters: up to ${ID_CHARACTERS} of any kind, or ${ID_BYTES_MAX} of ASCII. ` +
    'The server accepts more as long as the bytes fit',
}

const NO_NULL_CHARACTER = '^[^\\u0000]*$'

export const TEXT_SCHEMA = {
  maxLength: CUSTOM_TEXT_CHARS_MAX,
  pattern: NO_NULL_CHARACTER,
}

export const EMOJI_SCHEMA = {
  maxLength: CUSTOM_EMOJI_BYTES_MAX,
  pattern: NO_NULL_CHARACTER,
  description: `At most ${CUSTOM_EMOJI_BYTES_MAX} bytes of UTF-8`,
}

/** No earlier instant can be in the future. */
const EXPIRY_MIN = Date.UTC(2026, 0, 1)
/** The last instant that inputs can name. */
export const INSTANT_MAX = Date.UTC(9999, 11, 31)

export const EXPIRY_MS_SCHEMA = { minimum: EXPIRY_MIN, maximum: INSTANT_MAX }

// Up to 8999: in the last hours of 9999, a time zone could lead to the year 10000.
const YEAR = '(?:202[6-9]|20[3-9][0-9]|2[1-9][0-9]{2}|[3-8][0-9]{3})'
// Without 2400 and the like, to keep it short.
const LEAP_YEAR = '(?:20(?:28|[3579][26]|[468][048])|(?:2[1-9]|[3-8][0-9])(?:0[48]|[2468][048]|[13579][26]))'
const MONTH_AND_DAY = [
  '(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])',
  '(?:0[13-9]|1[0-2])-(?:29|30)',
  '(?:0[13578]|1[02])-31',
].join('|')
const HOUR_AND_MINUTE = '(?:[01][0-9]|2[0-3]):[0-5][0-9]'
const TIME = `T${HOUR_AND_MINUTE}(?::[0-5][0-9](?:\\.[0-9]{1,9})?)?(?:Z|[+-]${HOUR_AND_MINUTE})`

const isoPattern = (year: string, leapYear: string): string =>
  `^(?:${year}-(?:${MONTH_AND_DAY})|${leapYear}-02-29)(?:${TIME})?$`

/** ISO 8601: a day that exists, or a time with its zone. */
export const EXPIRY_TEXT_SCHEMA = { pattern: isoPattern(YEAR, LEAP_YEAR) }

// From 1971 on: in the first hours of 1970, a time zone could lead to the year 1969.
const ANY_YEAR = '(?:19(?:7[1-9]|[89][0-9])|[2-8][0-9]{3})'
const ANY_LEAP_YEAR = `(?:19(?:7[26]|8[048]|9[26])|20(?:0[048]|[13579][26]|[2468][048])|${LEAP_YEAR})`

/** The same, for instants that may be in the past. */
export const INSTANT_TEXT_SCHEMA = { pattern: isoPattern(ANY_YEAR, ANY_LEAP_YEAR) }
