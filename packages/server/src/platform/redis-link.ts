// How we want ioredis: nothing waits in it. A command is answered or rejected within a second and a
// half, and while Redis is away at once; connecting goes on for ever. A command that failed is never
// sent a second time behind our back, because by then a later one may have taken effect; only
// redirections of a cluster are followed.
import { Cluster, Redis, type RedisOptions } from 'ioredis'
import type { RedisAccess, RedisNodeAddress, RedisUrl } from './redis-url.ts'

const COMMAND_MS_MAX = 1_500
/** Silence after which a connection with commands under way is given up. */
const SILENCE_MS_MAX = 2_000
const CONNECT_MS_MAX = 2_000
const RECONNECT_STEP_MS = 50
const RECONNECT_MS_MAX = 1_000
const SLOTS_REFRESH_MS_MAX = 500
/** Catches what nobody told us about, such as a new replica. */
const SLOTS_REFRESH_EVERY_MS = 10_000
const REDIRECTIONS_MAX = 8
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
}

/** How replies are shaped is left as it is; naming it would change their types. */
type Options = Omit<RedisOptions, 'replyMapping'>
type Reachable = Exclude<RedisUrl, { kind: 'invalid' }>

export function openLink(url: Reachable, options: LinkOptions): RedisLink {
  return url.kind === 'single' ? openSingle(url, options) : openCluster(url, options)
}

function openSingle(url: Extract<RedisUrl, { kind: 'single' }>, { onDoubt }: LinkOptions): RedisLink {
  const redis = new Redis({
    ...commonOptions(url),
    ...url.node,
    db: url.db,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy,
    // A master that became a replica behind the same address: the new master is a connection away.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  })
  const troubles = rememberTrouble(redis, 'error', onDoubt)
  const tried = firstTry(redis)
  redis.on('close', onDoubt)

  return {
    isCluster: false,
    name: nameOf([url.node]),
    isReady: () => redis.status === 'ready',
    call: (command, args) => redis.call(command, args as (string | number)[]),
    async probe() {
      await tried
      if (redis.status !== 'ready') return troubles.last() ?? 'there is no connection'
      return (await failureOf(redis.ping())) ?? (await failureOf(requireVersion(redis)))
    },
    refresh: async () => {},
    nodeFor: async () => url.node,
    openNode: (node) => new Redis({ ...ownOptions(url), ...node, db: url.db }),
    close: () => ended(redis),
  }
}

function openCluster(url: Extract<RedisUrl, { kind: 'cluster' }>, options: LinkOptions): RedisLink {
  const { readFromReplicas, onDoubt } = options
  const slotByChannel = new Map<string, number>()
  const cluster = new Cluster(url.nodes, {
    redisOptions: commonOptions(url),
    clusterRetryStrategy: retryStrategy,
    slotsRefreshTimeout: SLOTS_REFRESH_MS_MAX,
    slotsRefreshInterval: SLOTS_REFRESH_EVERY_MS,
    maxRedirections: REDIRECTIONS_MAX,
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    ...(readFromReplicas ? { scaleReads: someReplica } : {}),
    // Certificates name hosts, and a looked-up address would not match them.
    ...(url.tls ? { dnsLookup: (host, found) => found(null, host) } : {}),
  })
  const troubles = rememberTrouble(cluster, 'node error', onDoubt)
  const tried = firstTry(cluster)
  cluster.on('error', onDoubt)
  cluster.on('close', onDoubt)
  cluster.on('-node', () => {
    void refresh()
    onDoubt()
  })
  if (readFromReplicas) {
    cluster.on('+node', (node: Redis) => {
      if (node.options.readOnly && node.status === 'wait') node.connect().catch(() => {})
    })
  }

  const refresh = (): Promise<void> =>
    new Promise((resolve) => {
      if (cluster.status !== 'ready') resolve()
      else cluster.refreshSlotsCache(() => resolve())
    })

  async function probe(): Promise<string | null> {
    await tried
    if (cluster.status !== 'ready') return troubles.last() ?? 'there is no connection'
    const nodes = new Map(cluster.nodes().map((node) => [`${node.options.host}:${node.options.port}`, node]))
    const failures = await Promise.all(
      Array.from(ownersOf(cluster), async (owner) => {
        const node = nodes.get(owner)
        if (node === undefined) return `${owner} is gone`
        const failure = (await failureOf(node.ping())) ?? (await failureOf(requireVersion(node)))
        return failure === null ? null : `${owner}: ${failure}`
      }),
    )
    return failures.find((failure) => failure !== null) ?? null
  }

  async function slotOf(channel: string): Promise<number> {
    const known = slotByChannel.get(channel)
    if (known !== undefined) return known
    const slot = Number(await cluster.call('cluster', ['KEYSLOT', channel]))
    slotByChannel.set(channel, slot)
    return slot
  }

  return {
    isCluster: true,
    name: nameOf(url.nodes),
    isReady: () => cluster.status === 'ready',
    call: (command, args) => cluster.call(command, args as (string | number)[]),
    probe,
    refresh,
    async nodeFor(channel) {
      if (cluster.status !== 'ready') return null
      const owner = cluster.slots[await slotOf(channel)]?.[0]
      if (owner === undefined) return null
      const colon = owner.lastIndexOf(':')
      return { host: owner.slice(0, colon), port: Number(owner.slice(colon + 1)) }
    },
    openNode: (node) => new Redis({ ...ownOptions(url), ...node }),
    close: () => ended(cluster),
  }
}

const retryStrategy = (attempt: number): number => Math.min(attempt * RECONNECT_STEP_MS, RECONNECT_MS_MAX)

function commonOptions({ username, password, tls }: RedisAccess): Options {
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
function ownOptions(access: RedisAccess): Options {
  return { ...commonOptions(access), lazyConnect: true, retryStrategy: null, autoResubscribe: false }
}

/** Replicas that answer, while there are any; the master comes first in the list. */
function someReplica(nodes: Redis[]): Redis | Redis[] {
  const replicas = nodes.slice(1).filter((node) => node?.status === 'ready')
  return replicas.length > 0 ? replicas : nodes[0]!
}

function ownersOf(cluster: Cluster): Set<string> {
  const owners = new Set<string>()
  for (const nodes of cluster.slots) owners.add(nodes?.[0] ?? 'the owner of some slots')
  return owners
}

/** The last thing that went wrong. Only the text: the error itself holds the command, and so the login. */
function rememberTrouble(link: Redis | Cluster, event: string, onDoubt: () => void) {
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
const firstTry = (link: Redis | Cluster): Promise<void> =>
  new Promise((resolve) => {
    link.once('ready', () => resolve())
    link.once('close', () => resolve())
  })

async function failureOf(answer: Promise<unknown>): Promise<string | null> {
  try {
    await answer
    return null
  } catch (error) {
    return reasonOf(error)
  }
}

/** What went wrong, in words for people. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.startsWith('Reached the max retries') ? 'the connection broke' : text
}

const goodEnough = new WeakSet<Redis>()

async function requireVersion(redis: Redis): Promise<void> {
  if (goodEnough.has(redis)) return
  const version = /^redis_version:([\d.]+)/m.exec(await redis.info('server'))?.[1] ?? 'unknown'
  if (Number.parseInt(version, 10) < VERSION_MIN) {
    throw new Error(`Redis ${VERSION_MIN} or newer is needed, and this is version ${version}`)
  }
  goodEnough.add(redis)
}

const nameOf = (nodes: readonly RedisNodeAddress[]): string =>
  nodes.map(({ host, port }) => `${host}:${port}`).join(',')

function ended(link: Redis | Cluster): Promise<void> {
  if (link.status === 'end') return Promise.resolve()
  return new Promise((resolve) => {
    link.once('end', () => resolve())
    link.disconnect()
  })
}
