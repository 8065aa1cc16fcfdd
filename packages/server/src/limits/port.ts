// RateLimiter: how often one user may do something, over all processes. Each user has a token bucket for each
// limit. `now` is passed in. A limiter never fails: what it cannot count it allows.

export interface RateLimit {
  /** Part of the data where processes share it: a word. */
  readonly name: string
  /** Tokens in a full bucket. */
  readonly burst: number
  /** One token comes back in this time. */
  readonly everyMs: number
}

export interface RateLimiter {
  /** Takes a token and returns 0, or returns the milliseconds until there is one. */
  take(limit: RateLimit, userId: string, now: number): Promise<number>
}
