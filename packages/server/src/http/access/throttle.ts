// How often a user may call, over HTTP and gRPC: which limits there are, and the failure of a call over one. Users are
// counted in the limiter, which all processes share; server keys are not counted.
import type { Failure } from '@greendot/protocol'
import type { RateLimit, RateLimiter } from '../../limits/port.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Config } from '../../platform/config/config.ts'
import type { Tally } from '../../platform/measuring/tally.ts'

/** After the burst, a user may open one stream per interval. */
const STREAM_EVERY_MS = 1_000

export type LimitedCall = 'read' | 'write' | 'stream'

const ADVICE: Record<LimitedCall, (seconds: number) => string> = {
  read: (seconds) => `too many reads; wait ${seconds} s, or watch by WebSocket`,
  write: (seconds) => `too many writes; wait ${seconds} s`,
  stream: (seconds) => `too many streams opened one after the other; wait ${seconds} s, or keep one open`,
}

/** A failure after which the same call can succeed. */
export interface RetriableFailure extends Failure {
  retryAfterSeconds: number
}

export interface Throttle {
  /** Counts the call. Null when the user may make it now. */
  failureFor(call: LimitedCall, userId: string): Promise<RetriableFailure | null>
}

export interface ThrottleParts {
  rateLimiter: RateLimiter
  config: Pick<Config, 'pollBurst' | 'pollEveryMs' | 'writeBurst' | 'writeEveryMs' | 'sessionsPerUser'>
  clock: Pick<Clock, 'now'>
  tally: Tally
}

export function createThrottle({ rateLimiter, config, clock, tally }: ThrottleParts): Throttle {
  const limits: Record<LimitedCall, RateLimit> = {
    read: { name: 'read', burst: config.pollBurst, everyMs: config.pollEveryMs },
    write: { name: 'write', burst: config.writeBurst, everyMs: config.writeEveryMs },
    // All sessions of a user may reconnect at once, twice in a row.
    stream: { name: 'stream', burst: 2 * config.sessionsPerUser, everyMs: STREAM_EVERY_MS },
  }
  tally.rateLimited.announce(Object.keys(limits))

  return {
    async failureFor(call, userId) {
      const waitMs = await rateLimiter.take(limits[call], userId, clock.now())
      if (waitMs === 0) return null
      tally.rateLimited.add(call)
      const retryAfterSeconds = Math.ceil(waitMs / 1000)
      return { code: 'rate_limited', message: ADVICE[call](retryAfterSeconds), retryAfterSeconds }
    },
  }
}
