// Access to Redis, a single server or a cluster: commands, scripts, a channel to follow, and events when
// Redis is down and when it is back. Every command is answered or rejected soon; a rejected command may
// still have taken effect. Credentials never reach a log or an error.
import { type Clock, systemClock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import { startPulse } from '../platform/pulse.ts'
import { within } from '../platform/within.ts'
import { type Follower, followChannel } from './channel.ts'
import { openCluster } from './cluster.ts'
import { type LinkOptions, type RedisLink, reasonOf } from './link.ts'
import { openSingle } from './single.ts'
import type { RedisUrl } from './url.ts'

const PULSE_EVERY_MS = 1_000
const PULSE_AWAY_EVERY_MS = 250
const FOLLOW_MS_MAX = 10_000

export type RedisArgument = string | number

/** Lua, and the hash under which Redis caches it. */
export interface RedisScript {
  readonly lua: string
  readonly sha: string
}

export interface RedisClient {
  /** In a cluster, the keys of one command must share a hash tag. */
  readonly isCluster: boolean
  /** Command names are lower case: only then does the client recognise reads. */
  send(command: string, args: readonly RedisArgument[]): Promise<unknown>
  /** The key decides on which node the script runs. */
  run(script: RedisScript, key: string, args: readonly RedisArgument[]): Promise<unknown>
}

export interface RedisConnection extends RedisClient {
  /** Resolves once every part of Redis has answered; rejects with the reason after `withinMs`. */
  ready(withinMs: number): Promise<void>
  /**
   * Resolves when the channel is followed. From then on it is followed until stopped, also across outages.
   * Rejects with the reason after a timeout.
   */
  follow(channel: string, follower: Follower): Promise<() => void>
  /** Is told when a part of Redis goes away and when all of it is back. */
  onOutages(listener: { begin(): void; end(): void }): void
  close(): Promise<void>
}

export interface ConnectRedisOptions {
  /**
   * Reads go to replicas of a cluster, if there are any. Replicas may be behind, so this is for queries
   * only; writers and watchers read from the master.
   */
  readFromReplicas?: boolean
  logger: Logger
  /** Redis, or a part of it with data, does not answer. */
  onTrouble?: (why: string) => void
  /** Redis answers again. It may have lost all data, or the last writes before the outage. */
  onBack?: () => void
  clock?: Clock
}

export function connectRedis(
  url: Exclude<RedisUrl, { kind: 'invalid' }>,
  options: ConnectRedisOptions,
): RedisConnection {
  const open = (linkOptions: LinkOptions) =>
    url.kind === 'single' ? openSingle(url, linkOptions) : openCluster(url, linkOptions)
  return connectOver(open, options)
}

/** The same over any link; a simulation has its own. */
export function connectOver(
  open: (options: LinkOptions) => RedisLink,
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
  const link = open(linkOptions)
  const following = new Set<() => void>()
  const listeners: { begin(): void; end(): void }[] = []

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
      for (const { begin } of listeners) begin()
    },
    onBack() {
      isAway = false
      logger.info({ redis: link.name }, 'redis is back')
      options.onBack?.()
      for (const { end } of listeners) end()
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
    // A new error, because the original contains the arguments, which must not be logged.
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
          // A server that just started, or just became master, does not have the script yet.
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
      const unfollow = () => {
        following.delete(channelFollowed.stop)
        channelFollowed.stop()
      }
      await within(clock, FOLLOW_MS_MAX, channelFollowed.joined, () => {
        unfollow()
        throw new Error(`${channel} cannot be followed: ${channelFollowed.lastProblem() ?? 'no answer'}`)
      })
      return unfollow
    },
    onOutages(listener) {
      listeners.push(listener)
      if (isAway) listener.begin()
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
