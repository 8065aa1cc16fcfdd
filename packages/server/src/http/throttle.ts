// How often a user may call over HTTP: which limits there are, and the answer to a call over one. Users are
// counted in the limiter, which all processes share; server keys are not counted.
import type { RateLimit, RateLimiter } from '../limits/port.ts'
import type { Clock } from '../platform/clock.ts'
import type { Config } from '../platform/config/config.ts'
import { refuse } from './reply.ts'

/** After the burst, a user may open one stream per interval. */
const STREAM_EVERY_MS = 1_000

export type LimitedCall = 'read' | 'write' | 'stream'

const ADVICE: Record<LimitedCall, (seconds: number) => string> = {
  read: (seconds) => `too many reads; wait ${seconds} s, or watch by WebSocket`,
  write: (seconds) => `too many writes; wait ${seconds} s`,
  stream: (seconds) => `too many streams opened one after the other; wait ${seconds} s, or keep one open`,
}

export interface Throttle {
  /** Counts the call. Null when the user may make it now. */
  refusalFor(call: LimitedCall, userId: string): Promise<Response | null>
}

export interface ThrottleParts {
  rateLimiter: RateLimiter
  config: Pick<Config, 'pollBurst' | 'pollEveryMs' | 'writeBurst' | 'writeEveryMs' | 'sessionsPerUser'>
  clock: Pick<Clock, 'now'>
}

export function createThrottle({ rateLimiter, config, clock }: ThrottleParts): Throttle {
  const limits: Record<LimitedCall, RateLimit> = {
    read: { name: 'read', burst: config.pollBurst, everyMs: config.pollEveryMs },
    write: { name: 'write', burst: config.writeBurst, everyMs: config.writeEveryMs },
    // All sessions of a user may reconnect at once, twice in a row.
    stream: { name: 'stream', burst: 2 * config.sessionsPerUser, everyMs: STREAM_EVERY_MS },
  }

  return {
    async refusalFor(call, userId) {
      const waitMs = await rateLimiter.take(limits[call], userId, clock.now())
      if (waitMs === 0) return null
      const seconds = Math.ceil(waitMs / 1000)
      const message = ADVICE[call](seconds)
      return refuse({ code: 'rate_limited', message }, { 'retry-after': `${seconds}` })
    },
  }
}
