// What a connection to Redis offers, and the options of ioredis for it. No command waits in ioredis: it is rejected when
// Redis falls silent (`silence.ts`) or is very slow (`late-answers.ts`), and at once while Redis is down. Reconnecting never
// gives up. A failed command is never sent again automatically, because a later one may have taken effect by then; only
// redirections of a cluster are followed.
import { type Cluster, Redis, type RedisOptions } from 'ioredis'
import type { Clock } from '../platform/clock.ts'
import { watchSilence } from './silence.ts'
import type { RedisAccess, RedisNodeAddress } from './url.ts'

const CONNECT_MS_MAX = 1_000
const RECONNECT_STEP_MS = 50
const RECONNECT_MS_MAX = 1_000
const CLOSE_MS_MAX = 500
/** The first version with sharded publish and subscribe. */
const VERSION_MIN = 7

export interface RedisLink {
  readonly isCluster: boolean
  /** The configured addresses, without credentials. */
  readonly name: string
  isReady(): boolean
  call(command: string, args: readonly (string | number)[]): Promise<unknown>
  /** Null when every part with data answers, otherwise which part does not and why. */
  probe(): Promise<string | null>
  /** Reads the map of slots again. */
  refresh(): Promise<void>
  /** The node that serves a channel; null while that is not known. */
  nodeFor(channel: string): Promise<RedisNodeAddress | null>
  /** A new connection that is not yet open and never reconnects. */
  openNode(node: RedisNodeAddress): Redis
  close(): Promise<void>
}

export interface LinkOptions {
  readFromReplicas: boolean
  /** A connection broke or could not be made. */
  onDoubt(): void
  clock: Clock
}

/** `replyMapping` is left at its default; naming it would change the types of replies. */
type Options = Omit<RedisOptions, 'replyMapping'>

export const retryStrategy = (attempt: number): number =>
  Math.min(attempt * RECONNECT_STEP_MS, RECONNECT_MS_MAX)

export function commonOptions({ username, password, tls }: RedisAccess): Options {
  return {
    ...(username === null ? {} : { username }),
    ...(password === null ? {} : { password }),
    ...(tls ? { tls: {} } : {}),
    connectionName: 'greendot',
    connectTimeout: CONNECT_MS_MAX,
    disableClientInfo: true,
  }
}

/** A connection whose owner replaces it when it breaks. */
export function openOwn(access: RedisAccess, at: RedisNodeAddress & { db?: number }, clock: Clock): Redis {
  const redis = new Redis({
    ...commonOptions(access),
    ...at,
    lazyConnect: true,
    retryStrategy: null,
    autoResubscribe: false,
  })
  const watch = watchSilence(() => [redis], clock)
  redis.once('end', () => watch.stop())
  return redis
}

/**
 * Called before a command is sent: holds writes back until the end of the turn. The commands of a batch
 * then leave in one write per connection, which halves the work. Pipelines of ioredis would do this too,
 * but in a cluster they do not follow the redirection of one command, and each must return before the
 * next is sent.
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

/** The last error, as text only: the error object contains the command, and with it credentials. */
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

/** Resolves after the first attempt to connect; before it the state of a connection is unknown. */
export const firstTry = (link: Redis | Cluster): Promise<void> =>
  new Promise((resolve) => {
    link.once('ready', () => resolve())
    link.once('close', () => resolve())
  })

const versionChecked = new WeakSet<Redis>()

/** Null when the server answers and its version is supported, otherwise the reason. */
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

export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return /^(Reached the max retries|Stream isn't writeable)/.test(text) ? 'the connection broke' : text
}

export const nameOf = (nodes: readonly RedisNodeAddress[]): string =>
  nodes.map(({ host, port }) => `${host}:${port}`).join(',')

export function end(link: Redis | Cluster, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    // Between two attempts to connect, ioredis does not always emit `end`.
    const limit = clock.after(CLOSE_MS_MAX, resolve)
    link.once('end', () => {
      limit.stop()
      resolve()
    })
    link.disconnect()
  })
}
