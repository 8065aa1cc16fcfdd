// The compact encoding of the two frames that servers send most, `presence_state` and `presence_change`. A
// connection that negotiated it gets these in the short form and all other frames as JSON. Invariant: an entry
// depends on nothing but its presence object, so it can be shared between connections and tells no more than JSON.
import type { ServerFrame } from './frames.ts'
import type { Platform, Presence, Status } from './presence.ts'

/** WebSocket subprotocols. Without one, frames are JSON. */
export const SUBPROTOCOL_JSON = 'greendot.v1'
export const SUBPROTOCOL_COMPACT = 'greendot.v1+compact'
export type Encoding = 'json' | 'compact'

/** Heartbeats on compact connections, the first letter of the activity. JSON is accepted too. */
export const COMPACT_ACTIVE = 'a'
export const COMPACT_IDLE = 'i'

/** First character of a compact frame. JSON frames start with a brace. */
export const COMPACT_CHANGE = 'c'
export const COMPACT_STATE = 's'
/** Between entries. Ids cannot contain it and JSON escapes it. */
export const COMPACT_SEPARATOR = '\n'

// Both tables are complete for ever: clients in use would not know a new letter. What they lack is sent as JSON.
const STATUS_OF: Record<string, Status> = { o: 'online', a: 'away', b: 'busy', f: 'offline' }
const PLATFORM_OF: Record<string, Platform> = {
  w: 'web',
  d: 'desktop',
  m: 'mobile',
  t: 'tablet',
  c: 'console',
  b: 'bot',
  o: 'other',
}
const NO_STATUS = '-'
const RADIX = 36
const PRESENCE_FIELDS = 6

const inverse = (letters: Record<string, string>): Map<string | null, string> =>
  new Map(Object.entries(letters).map(([letter, word]) => [word, letter]))
const STATUS_LETTERS = /* @__PURE__ */ inverse(STATUS_OF).set(null, NO_STATUS)
const PLATFORM_LETTERS = /* @__PURE__ */ inverse(PLATFORM_OF)

/** Reads a frame of a server, compact or JSON. */
export function decodeServerFrame(text: string): ServerFrame {
  if (text[0] === '{') return JSON.parse(text)
  const list = text.slice(1).split(COMPACT_SEPARATOR).map(decodePresence)
  return text[0] === COMPACT_STATE
    ? { type: 'presence_state', states: list }
    : { type: 'presence_change', changes: list }
}

function decodePresence(entry: string): Presence {
  const [userId, letters, lastSeen, version, ...custom] = entry.split(',')
  // Ids are not empty: this is an object that has no short form.
  if (!userId) return JSON.parse(entry.slice(1))
  const [status, ...devices] = letters!
  return {
    user_id: userId,
    status: STATUS_OF[status!] ?? null,
    last_seen: lastSeen ? Number.parseInt(lastSeen, RADIX) : null,
    custom_status: JSON.parse(custom.join() || 'null'),
    devices: devices.map((letter) => PLATFORM_OF[letter]!),
    version: Number.parseInt(version!, RADIX),
  }
}

/** The entry of a presence object, from its JSON. */
export function compactPresence(json: string): string {
  const presence: Presence = JSON.parse(json)
  const { user_id, last_seen, custom_status, version } = presence
  const letters = lettersOf(presence)
  const isShort =
    letters !== null &&
    isCount(version) &&
    (last_seen === null || isCount(last_seen)) &&
    Object.keys(presence).length === PRESENCE_FIELDS
  if (!isShort) return `,${json}`
  const lastSeen = last_seen === null ? '' : last_seen.toString(RADIX)
  const custom = custom_status === null ? '' : `,${JSON.stringify(custom_status)}`
  return `${user_id},${letters},${lastSeen},${version.toString(RADIX)}${custom}`
}

/** Null if a word has no letter. */
function lettersOf({ status, devices }: Presence): string | null {
  let letters = STATUS_LETTERS.get(status)
  if (letters === undefined) return null
  for (const device of devices) {
    const letter = PLATFORM_LETTERS.get(device)
    if (letter === undefined) return null
    letters += letter
  }
  return letters
}

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0
