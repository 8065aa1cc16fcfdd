// RateLimiter for processes that share Redis. A bucket is one key that expires soon after the bucket is full, on the
// node of the user's shard, and a token costs one command. After a refusal no token can come before the wait
// is over, so this process answers until then without a command. When Redis does not answer, this process
// counts by itself.
import { createHash } from 'node:crypto'
import type { RedisClient, RedisScript } from '../redis/client.ts'
import type { RateLimit, RateLimiter } from './port.ts'

/** Users whose last refusal is remembered. Over it all are forgotten, and are asked about again. */
const REFUSALS_MAX = 10_000
/** After a call that failed, this process counts by itself for so long. A frozen Redis takes 1.5 s to fail. */
const ALONE_MS = 5_000
/** A key has a hash of the user id, not the id: nothing of an erased user is readable in it. */
const KEY_HASH_CHARS = 22
/** Redis measures the time of a key by its own clock, and a call may be on its way. A key that is too old is a full bucket. */
const CLOCK_MARGIN_MS = 10_000

/**
 * KEYS[1] is the bucket: the instant at which it is full again. Arguments: now, the time of one token, the
 * time of a full bucket. Returns 0, or the milliseconds until there is a token.
 */
const TAKE = script(`
local now, every, capacity = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local stored = tonumber(redis.call('GET', KEYS[1]) or 0)
local full = math.min(math.max(stored, now), now + capacity)
local wait = full + every - now - capacity
if wait <= 0 then full = full + every end
-- A refusal writes only when the clock was set back.
if wait <= 0 or full < stored then
  redis.call('SET', KEYS[1], string.format('%.0f', full), 'PX', string.format('%.0f', full - now + ${CLOCK_MARGIN_MS}))
end
return math.max(0, math.ceil(wait))`)

export interface RedisRateLimiterParts {
  client: Pick<RedisClient, 'run'>
  shardOf(userId: string): number
  /** Counts while Redis does not answer. */
  local: RateLimiter
  /** The prefix of all keys, without braces. */
  prefix?: string
}

export function createRedisRateLimiter(parts: RedisRateLimiterParts): RateLimiter {
  const { client, shardOf, local, prefix = '' } = parts
  /** By key, the instant before which there is no token. */
  const refusedUntil = new Map<string, number>()
  let failedAt = Number.NEGATIVE_INFINITY

  function keyOf(limit: RateLimit, userId: string): string {
    const hash = createHash('sha256').update(userId).digest('base64url').slice(0, KEY_HASH_CHARS)
    return `${prefix}{s${shardOf(userId)}}:l:${limit.name}:${hash}`
  }

  return {
    async take(limit, userId, now) {
      if (Math.abs(now - failedAt) < ALONE_MS) return local.take(limit, userId, now)
      const { burst, everyMs } = limit
      const key = keyOf(limit, userId)
      const until = refusedUntil.get(key)
      if (until !== undefined) {
        // A wait is never longer than one token takes. A longer one means that the clock was set back.
        if (until > now && until <= now + everyMs) return until - now
        refusedUntil.delete(key)
      }
      let waitMs: number
      try {
        waitMs = Number(await client.run(TAKE, key, [now, everyMs, burst * everyMs]))
      } catch {
        failedAt = now
        return local.take(limit, userId, now)
      }
      if (waitMs === 0) return 0
      if (refusedUntil.size >= REFUSALS_MAX) refusedUntil.clear()
      refusedUntil.set(key, now + waitMs)
      return waitMs
    },
  }
}

function script(lua: string): RedisScript {
  return { lua, sha: createHash('sha1').update(lua).digest('hex') }
}
