// The one door to Redis, a single server or a cluster: commands and scripts, a channel to follow, and
// word of when Redis is away and when it is back. Commands are answered or rejected soon, whatever
// happens to Redis; what is rejected may still have taken effect. No login reaches a log or an error.
import { type Clock, systemClock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import { startPulse } from '../platform/pulse.ts'
import { type Follower, followChannel } from './channel.ts'
import { openCluster } from './cluster.ts'
import { type LinkOptions, reasonOf } from './link.ts'
import { openSingle } from './single.ts'
import type { RedisUrl } from './url.ts'

const PULSE_EVERY_MS = 1_000
const PULSE_AWAY_EVERY_MS = 250
const FOLLOW_MS_MAX = 10_000

export type RedisArgument = string | number

/** Lua, and the name Redis knows it by once it has seen it. */
export interface RedisScript {
  readonly lua: string
  readonly sha: string
}

export interface RedisClient {
  /** Then keys of one command must share a hash tag. */
  readonly isCluster: boolean
  /** Names of commands are written small: only so are reads known as reads. */
  send(command: string, args: readonly RedisArgument[]): Promise<unknown>
  /** With one key, which decides where it runs. */
  run(script: RedisScript, key: string, args: readonly RedisArgument[]): Promise<unknown>
}

export interface RedisConnection extends RedisClient {
  /** Resolves once all of Redis has answered; rejects with the reason when it does not in time. */
  ready(withinMs: number): Promise<void>
  /**
   * Resolves when the channel is followed; from then on until stopped, whatever happens to Redis.
   * Rejects with the reason when that does not come about in time.
   */
  follow(channel: string, follower: Follower): Promise<() => void>
  close(): Promise<void>
}

export interface ConnectRedisOptions {
  /**
   * Plain reads go to replicas of a cluster while there are some. What they answer may be old, so
   * this is for queries alone: whoever writes or watches reads from the master.
   */
  readFromReplicas?: boolean
  logger: Logger
  /** Redis, or a part of it that holds data, does not answer. */
  onTrouble?: (why: string) => void
  /** It does again. It may have lost everything, or the last moments before the trouble. */
  onBack?: () => void
  clock?: Clock
}

export function connectRedis(
  url: Exclude<RedisUrl, { kind: 'invalid' }>,
  options: ConnectRedisOptions,
): RedisConnection {
  const { logger, clock = systemClock } = options
  let isAway = false
  let isClosed = false
  const linkOptions: LinkOptions = {
    readFromReplicas: options.readFromReplicas ?? false,
    onDoubt: () => pulse.doubt(),
    clock,
  }
  const link = url.kind === 'single' ? openSingle(url, linkOptions) : openCluster(url, linkOptions)
  const following = new Set<() => void>()

  const pulse = startPulse({
    async probe() {
      if (isAway) await link.refresh()
      return link.probe()
    },
    everyMs: PULSE_EVERY_MS,
    awayEveryMs: PULSE_AWAY_EVERY_MS,
    onTrouble(why) {
      isAway = true
      logger.warn({ redis: link.name, why }, 'redis is away')
      options.onTrouble?.(why)
    },
    onBack() {
      isAway = false
      logger.info({ redis: link.name }, 'redis is back')
      options.onBack?.()
    },
    clock,
  })

  async function attempt(command: string, args: readonly RedisArgument[]): Promise<unknown> {
    if (isClosed) throw new Error('the connection to redis is closed')
    if (!link.isReady()) throw new Error('redis is away')
    return link.call(command, args)
  }

  function failure(command: string, error: unknown): Error {
    if (!isClosed && !isAway) {
      void link.refresh()
      pulse.doubt()
    }
    // A new error: the one from the client carries the arguments, which are no business of a log.
    return new Error(`${command}: ${reasonOf(error)}`)
  }

  return {
    isCluster: link.isCluster,
    async send(command, args) {
      try {
        return await attempt(command, args)
      } catch (error) {
        throw failure(command, error)
      }
    },
    async run({ lua, sha }, key, args) {
      try {
        return await attempt('evalsha', [sha, 1, key, ...args]).catch((error: unknown) => {
          // A server that has just started, or just become a master, has not seen the script yet.
          if (!reasonOf(error).startsWith('NOSCRIPT')) throw error
          return attempt('eval', [lua, 1, key, ...args])
        })
      } catch (error) {
        throw failure('script', error)
      }
    },
    ready: (withinMs) =>
      pulse.first(withinMs).catch((error: Error) => {
        throw new Error(`Redis at ${link.name} cannot be used: ${error.message}`)
      }),
    async follow(channel, follower) {
      const channelFollowed = followChannel({ link, channel, follower, clock })
      following.add(channelFollowed.stop)
      const { promise: tooLate, reject } = Promise.withResolvers<never>()
      const timer = clock.after(FOLLOW_MS_MAX, () =>
        reject(new Error(`${channel} cannot be followed: ${channelFollowed.lastProblem() ?? 'no answer'}`)),
      )
      try {
        await Promise.race([channelFollowed.joined, tooLate])
      } catch (error) {
        following.delete(channelFollowed.stop)
        channelFollowed.stop()
        throw error
      } finally {
        timer.stop()
      }
      return () => {
        following.delete(channelFollowed.stop)
        channelFollowed.stop()
      }
    },
    async close() {
      if (isClosed) return
      isClosed = true
      pulse.stop()
      for (const stop of following) stop()
      following.clear()
      await link.close()
    },
  }
}
