// Follows one sharded channel until it is stopped. The connection is its own and never reconnects by itself:
// when it breaks, falls silent or no longer serves the channel, another one is opened to the node that
// serves the channel now. The follower is told of each gap, because messages may have been missed.
import type { Redis } from 'ioredis'
import type { Clock, Timer } from '../platform/clock.ts'
import type { RedisLink } from './link.ts'
import type { RedisNodeAddress } from './url.ts'

const CHECK_EVERY_MS = 1_000
/** Checks without an answer to the first of them. Counted, not timed, as with silence (`silence.ts`). */
const LATE_CHECKS_MAX = 5
const RETRY_FIRST_MS = 20
const RETRY_MS_MAX = 500

export interface Follower {
  receive(message: string): void
  /** The channel is not followed any more; it will be again. */
  onBreak?(): void
  /** The channel is followed again; messages may have been missed in between. */
  onGap(): void
}

type Hold =
  | { state: 'waiting'; timer: Timer | null }
  | { state: 'joining' | 'joined'; redis: Redis; node: RedisNodeAddress }
  | { state: 'stopped' }

export function followChannel(parts: {
  link: RedisLink
  channel: string
  follower: Follower
  clock: Clock
}): { joined: Promise<void>; lastProblem: () => string | null; stop: () => void } {
  const { link, channel, follower, clock } = parts
  const joined = Promise.withResolvers<void>()
  let hold: Hold = { state: 'waiting', timer: null }
  let wasJoined = false
  let failures = 0
  let problem: string | null = null
  let checking: Timer | null = null
  /** Checks since the first one that is not answered. */
  let unanswered = 0

  const isHeld = (redis: Redis): boolean => 'redis' in hold && hold.redis === redis

  async function join(): Promise<void> {
    const node = await link.nodeFor(channel).catch(() => null)
    if (hold.state !== 'waiting') return
    if (node === null) return retry()
    const redis = link.openNode(node)
    hold = { state: 'joining', redis, node }
    const lost = () => lose(redis)
    // Without a listener ioredis prints errors.
    redis.on('error', () => {})
    redis.on('close', lost)
    // The slot moved to another node.
    redis.on('moved', lost)
    redis.on('smessage', (_, message: string) => {
      if (isHeld(redis)) follower.receive(message)
    })
    try {
      await redis.connect()
      await redis.ssubscribe(channel)
      if (isHeld(redis)) follow(redis, node)
    } catch (error) {
      problem = error instanceof Error ? error.message : String(error)
      lose(redis)
    }
  }

  function follow(redis: Redis, node: RedisNodeAddress): void {
    hold = { state: 'joined', redis, node }
    failures = 0
    unanswered = 0
    if (wasJoined) follower.onGap()
    wasJoined = true
    joined.resolve()
  }

  function lose(redis: Redis): void {
    if (!isHeld(redis)) return
    const wasFollowed = hold.state === 'joined'
    redis.disconnect()
    retry()
    if (wasFollowed) follower.onBreak?.()
  }

  function retry(): void {
    const delayMs = Math.min(RETRY_FIRST_MS * 2 ** failures, RETRY_MS_MAX)
    failures++
    const timer = clock.after(delayMs, () => void link.refresh().then(join))
    hold = { state: 'waiting', timer }
  }

  // A dead connection may send no event, and so may a node that lost the channel, for example because it
  // was partitioned from its cluster. On a very slow one messages are late, too.
  async function check(): Promise<void> {
    if (hold.state !== 'joined') return
    const { redis, node } = hold
    if (unanswered > LATE_CHECKS_MAX) return lose(redis)
    if (unanswered++ > 0) return
    const serving = await link.nodeFor(channel).catch(() => null)
    const hasMoved = serving !== null && (serving.host !== node.host || serving.port !== node.port)
    const isAlive = await redis.ping().then(
      () => true,
      () => false,
    )
    if (!isHeld(redis)) return
    unanswered = 0
    if (hasMoved || !isAlive) lose(redis)
  }

  void join()
  checking = clock.every(CHECK_EVERY_MS, () => void check())

  return {
    joined: joined.promise,
    lastProblem: () => problem,
    stop() {
      checking?.stop()
      if (hold.state === 'waiting') hold.timer?.stop()
      const held = 'redis' in hold ? hold.redis : null
      hold = { state: 'stopped' }
      held?.disconnect()
      joined.resolve()
    },
  }
}
