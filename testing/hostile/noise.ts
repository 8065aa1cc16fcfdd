// Random input from a seed: frames and requests that are almost right, JSON that makes no sense, bytes
// and characters of every kind. The same seed gives the same noise.

export interface Noise {
  /** From 0 up to, not including, `below`. */
  number(below: number): number
  chance(share: number): boolean
  pick<T>(list: readonly T[]): T
  bytes(lengthMax: number): Uint8Array<ArrayBuffer>
  /** Any UTF-16 at all, lone surrogates included. */
  text(lengthMax: number): string
  json(depth?: number): unknown
  /** The text of a client frame, or bytes for a binary one. */
  frame(): string | Uint8Array<ArrayBuffer>
  /** The same text with a few things wrong with it. */
  mutated(text: string): string
}

/** A new one for every run, unless one is given to replay what failed. */
export function fuzzSeed(): number {
  return Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 32))
}

const WORDS = [
  'bob',
  'mallory',
  'a',
  '__proto__',
  'constructor',
  'length',
  '日本',
  '🙂',
  '',
  ' ',
  'a,b',
  '\0',
  '0',
]
const FIELDS = [
  'type',
  'ref',
  'user_ids',
  'known',
  'status',
  'activity',
  'text',
  'emoji',
  'expires_at',
  '__proto__',
]
const TYPES = [
  'heartbeat',
  'watch',
  'watch_contacts',
  'unwatch',
  'set_availability',
  'set_status',
  'set_custom_status',
  'welcome',
  'toString',
]
const NUMBERS = [0, -0, 1, -1, 0.5, 1e21, 2 ** 31, 2 ** 53, -(2 ** 63), 1e308, Date.UTC(2099, 0, 1)]
const CHARACTERS = [
  '"',
  '\\',
  '{',
  '}',
  '[',
  ']',
  ':',
  ',',
  '0',
  'e',
  '-',
  'u',
  'd8',
  '\n',
  '\u2028',
  '\ufeff',
  'é',
]

export function createNoise(seed: number): Noise {
  // Mulberry32: small, quick, and the same everywhere.
  let state = seed >>> 0
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  const number = (below: number) => Math.floor(next() * below)
  const chance = (share: number) => next() < share
  const pick = <T>(list: readonly T[]): T => list[number(list.length)]!
  const many = <T>(countMax: number, make: () => T): T[] => Array.from({ length: number(countMax + 1) }, make)

  const bytes = (lengthMax: number) => Uint8Array.from(many(lengthMax, () => number(256)))
  const text = (lengthMax: number) =>
    many(lengthMax, () => (chance(0.7) ? number(0x80) : number(0x10000)))
      .map((code) => String.fromCharCode(code))
      .join('')

  function json(depth = 3): unknown {
    const kind = number(depth > 0 ? 9 : 6)
    if (kind === 0) return null
    if (kind === 1) return chance(0.5)
    if (kind === 2) return pick(NUMBERS)
    if (kind === 3) return number(2 ** 31) / (chance(0.5) ? 1 : 7)
    if (kind === 4) return pick(WORDS)
    if (kind === 5) return text(20)
    if (kind === 6) return many(5, () => json(depth - 1))
    return Object.fromEntries(many(5, () => [chance(0.6) ? pick(FIELDS) : pick(WORDS), json(depth - 1)]))
  }

  const ids = () => many(8, () => pick(WORDS.slice(0, 8)))

  function validFrame(): Record<string, unknown> {
    const ref = chance(0.5) ? {} : { ref: number(1000) }
    switch (pick(TYPES)) {
      case 'heartbeat':
        return { type: 'heartbeat', activity: pick(['active', 'idle']), ...ref }
      case 'watch':
        return { type: 'watch', user_ids: ids(), known: { bob: number(100) }, ...ref }
      case 'unwatch':
        return { type: 'unwatch', user_ids: ids(), ...ref }
      case 'watch_contacts':
        return { type: 'watch_contacts', ...ref }
      case 'set_custom_status':
        return {
          type: 'set_custom_status',
          text: text(20),
          emoji: pick(WORDS),
          expires_at: pick(NUMBERS),
          ...ref,
        }
      default:
        return { type: 'set_availability', status: pick(['online', 'away', 'busy', 'invisible']), ...ref }
    }
  }

  /** One field taken away, changed or added. */
  function wrongFrame(): string {
    const frame = validFrame()
    const field = chance(0.7) ? pick(Object.keys(frame)) : pick(FIELDS)
    if (chance(0.3)) delete frame[field]
    else frame[field] = field === 'type' && chance(0.7) ? pick(TYPES) : json()
    return JSON.stringify(frame)
  }

  function mutated(original: string): string {
    let result = original
    for (let times = 1 + number(3); times > 0; times--) {
      const at = number(result.length + 1)
      const cut = chance(0.5) ? number(4) : 0
      const inserted = chance(0.6) ? pick(CHARACTERS) : text(3)
      result = result.slice(0, at) + (chance(0.7) ? inserted : '') + result.slice(at + cut)
      if (chance(0.05)) result = result.slice(0, at)
      if (chance(0.02)) result += result
    }
    return result
  }

  function frame(): string | Uint8Array<ArrayBuffer> {
    const kind = number(100)
    if (kind < 25) return JSON.stringify(validFrame())
    if (kind < 60) return wrongFrame()
    if (kind < 80) return mutated(JSON.stringify(validFrame()))
    if (kind < 90) return JSON.stringify(json())
    if (kind < 95) return text(200)
    return bytes(200)
  }

  return { number, chance, pick, bytes, text, json, frame, mutated }
}
