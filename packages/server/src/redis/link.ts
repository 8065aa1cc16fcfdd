// What a way to Redis offers, and how we want ioredis for it: nothing waits in it. A command is answered or rejected within a second and a
// half, and while Redis is away at once; connecting goes on for ever. A command that failed is never
// sent a second time behind our back, because by then a later one may have taken effect; only
// redirections of a cluster are followed.
import type { Cluster, Redis, RedisOptions } from 'ioredis'
import type { Clock } from '../platform/clock.ts'
import type { RedisAccess, RedisNodeAddress } from './url.ts'

const COMMAND_MS_MAX = 1_500
/** Silence after which a connection with commands under way is given up. */
const SILENCE_MS_MAX = 2_000
/** Shorter than a command may take, so that none outlives its own rejection in a queue. */
const CONNECT_MS_MAX = 1_000
const RECONNECT_STEP_MS = 50
const RECONNECT_MS_MAX = 1_000
const CLOSE_MS_MAX = 500
/** The first with sharded publish and subscribe. */
const VERSION_MIN = 7

export interface RedisLink {
  readonly isCluster: boolean
  /** Addresses as written, without the login. */
  readonly name: string
  isReady(): boolean
  call(command: string, args: readonly (string | number)[]): Promise<unknown>
  /** Null when every part that holds data answers, otherwise which does not and why. */
  probe(): Promise<string | null>
  /** Looks up again who serves what. */
  refresh(): Promise<void>
  /** Which node serves a channel now; null while that is not known. */
  nodeFor(channel: string): Promise<RedisNodeAddress | null>
  /** A connection of its own, not yet connected and never reconnecting. */
  openNode(node: RedisNodeAddress): Redis
  close(): Promise<void>
}

export interface LinkOptions {
  readFromReplicas: boolean
  /** A connection broke or could not be made. */
  onDoubt(): void
  clock: Clock
}

/** How replies are shaped is left as it is; naming it would change their types. */
type Options = Omit<RedisOptions, 'replyMapping'>

export const retryStrategy = (attempt: number): number =>
  Math.min(attempt * RECONNECT_STEP_MS, RECONNECT_MS_MAX)

export function commonOptions({ username, password, tls }: RedisAccess): Options {
  return {
    ...(username === null ? {} : { username }),
    ...(password === null ? {} : { password }),
    ...(tls ? { tls: {} } : {}),
    connectionName: 'greendot',
    commandTimeout: COMMAND_MS_MAX,
    socketTimeout: SILENCE_MS_MAX,
    connectTimeout: CONNECT_MS_MAX,
    disableClientInfo: true,
  }
}

/** For a connection that somebody else keeps alive, by opening another one. */
export function ownOptions(access: RedisAccess): Options {
  return { ...commonOptions(access), lazyConnect: true, retryStrategy: null, autoResubscribe: false }
}

/**
 * Called before a command is sent: holds back what is written until the turn is over. The commands of
 * a batch then leave in one write for each connection, which takes half the work of many small ones.
 * ioredis has pipelines for this, but in a cluster they do not follow the redirection of a part, and
 * one must have returned before the next is sent.
 */
export function writeTogether(connections: () => Redis[]): () => void {
  let isHolding = false
  return () => {
    if (isHolding) return
    isHolding = true
    const streams = connections().flatMap(({ stream }) => stream ?? [])
    for (const stream of streams) stream.cork()
    queueMicrotask(() => {
      isHolding = false
      for (const stream of streams) stream.uncork()
    })
  }
}

/** The last thing that went wrong. Only the text: the error itself holds the command, and so the login. */
export function rememberTrouble(link: Redis | Cluster, event: string, onDoubt: () => void) {
  let last: string | null = null
  link.on(event, (error: Error) => {
    last = error.message
    onDoubt()
  })
  link.on('ready', () => {
    last = null
  })
  return { last: () => last }
}

/** Until it has been tried once, there is nothing to say about a connection. */
export const firstTry = (link: Redis | Cluster): Promise<void> =>
  new Promise((resolve) => {
    link.once('ready', () => resolve())
    link.once('close', () => resolve())
  })

const versionChecked = new WeakSet<Redis>()

/** Null when the server answers and is one we can use, otherwise why not. */
export async function whyUnusable(redis: Redis): Promise<string | null> {
  try {
    await redis.ping()
    if (versionChecked.has(redis)) return null
    const version = /^redis_version:([\d.]+)/m.exec(await redis.info('server'))?.[1] ?? 'unknown'
    if (Number.parseInt(version, 10) < VERSION_MIN) return `Redis ${VERSION_MIN} is needed, not ${version}`
    versionChecked.add(redis)
    return null
  } catch (error) {
    return reasonOf(error)
  }
}

/** What went wrong, in words for people. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return /^(Reached the max retries|Stream isn't writeable)/.test(text) ? 'the connection broke' : text
}

export const nameOf = (nodes: readonly RedisNodeAddress[]): string =>
  nodes.map(({ host, port }) => `${host}:${port}`).join(',')

export function end(link: Redis | Cluster, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    // One that is between two attempts to connect does not always say that it has ended.
    const limit = clock.after(CLOSE_MS_MAX, resolve)
    link.once('end', () => {
      limit.stop()
      resolve()
    })
    link.disconnect()
  })
}
