// Following one sharded channel for ever. The connection is our own and never reconnects by itself:
// whenever it breaks, falls silent or serves the channel no longer, another one is opened to whichever
// node serves it now. Each time the channel is followed again, messages may have been missed while it
// was not, and the follower is told.
import type { Redis } from 'ioredis'
import type { Clock, Timer } from '../platform/clock.ts'
import type { RedisLink } from './link.ts'
import type { RedisNodeAddress } from './url.ts'

const LOOK_EVERY_MS = 1_000
const RETRY_FIRST_MS = 20
const RETRY_MS_MAX = 500

export interface Follower {
  receive(message: string): void
  /** The channel is followed again, after a time in which messages may have been missed. */
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
  let looking: Timer | null = null

  const isHeld = (redis: Redis): boolean => 'redis' in hold && hold.redis === redis

  async function join(): Promise<void> {
    const node = await link.nodeFor(channel).catch(() => null)
    if (hold.state !== 'waiting') return
    if (node === null) return retry()
    const redis = link.openNode(node)
    hold = { state: 'joining', redis, node }
    const lost = () => lose(redis)
    // Without a listener for errors ioredis would print them.
    redis.on('error', () => {})
    redis.on('close', lost)
    // The slot went to another node.
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
    if (wasJoined) follower.onGap()
    wasJoined = true
    joined.resolve()
  }

  function lose(redis: Redis): void {
    if (!isHeld(redis)) return
    redis.disconnect()
    retry()
  }

  function retry(): void {
    const delayMs = Math.min(RETRY_FIRST_MS * 2 ** failures, RETRY_MS_MAX)
    failures++
    const timer = clock.after(delayMs, () => void link.refresh().then(join))
    hold = { state: 'waiting', timer }
  }

  // A connection can be dead without a word, and a node can lose the channel without one: when it was
  // cut off from the rest of its cluster, for example.
  async function look(): Promise<void> {
    if (hold.state !== 'joined') return
    const { redis, node } = hold
    const serving = await link.nodeFor(channel).catch(() => null)
    const hasMoved = serving !== null && (serving.host !== node.host || serving.port !== node.port)
    const isAlive = await redis.ping().then(
      () => true,
      () => false,
    )
    if (hasMoved || !isAlive) lose(redis)
  }

  void join()
  looking = clock.every(LOOK_EVERY_MS, () => void look())

  return {
    joined: joined.promise,
    lastProblem: () => problem,
    stop() {
      looking?.stop()
      if (hold.state === 'waiting') hold.timer?.stop()
      const held = 'redis' in hold ? hold.redis : null
      hold = { state: 'stopped' }
      held?.disconnect()
      joined.resolve()
    },
  }
}
