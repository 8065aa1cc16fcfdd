// A server with one defect. The world puts its server together from parts; a weakening replaces some of them
// by parts that break a rule, through the same interface. A weakening that no history notices is a hole in
// the tests.
import type { Archive } from '../../../packages/server/src/archive/port.ts'
import type { Bus } from '../../../packages/server/src/bus/port.ts'
import type { RateLimiter } from '../../../packages/server/src/limits/port.ts'
import type { Replacements } from '../../../packages/server/src/presence/presence.ts'

/** Parts of the world and of presence that are replaced, each before another part is given it. */
export interface Weaken extends Replacements {
  readonly archive?: (archive: Archive) => Archive
  readonly bus?: (bus: Bus) => Bus
  readonly rateLimiter?: (rateLimiter: RateLimiter) => RateLimiter
}

export interface Weakening {
  /** What is true of the weakened server. */
  name: string
  /** The rules it breaks, by their ids. */
  breaks: string
  /** Makes new parts every time, because some remember what they have seen. */
  weaken(): Weaken
}

/** The server as it is. */
export const SOUND: Weakening = { name: 'as it is', breaks: 'nothing', weaken: () => ({}) }
