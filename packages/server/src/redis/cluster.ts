// The connection to a Redis Cluster. The map of slots is refreshed when a node leaves, when a command fails,
// and periodically. Redirections are followed command by command.
import { Cluster, type Redis } from 'ioredis'
import { watchLateAnswers } from './late-answers.ts'
import {
  commonOptions,
  end,
  firstTry,
  type LinkOptions,
  nameOf,
  openOwn,
  type RedisLink,
  reasonOf,
  rememberTrouble,
  retryStrategy,
  whyUnusable,
  writeTogether,
} from './link.ts'
import { watchSilence } from './silence.ts'
import type { RedisUrl } from './url.ts'

const SLOTS_REFRESH_MS_MAX = 500
/** Finds changes that cause no event, such as a new replica. */
const SLOTS_REFRESH_EVERY_MS = 5_000
const REDIRECTIONS_MAX = 8

export function openCluster(url: Extract<RedisUrl, { kind: 'cluster' }>, options: LinkOptions): RedisLink {
  const { readFromReplicas, onDoubt, clock } = options
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
    // Certificates name hosts; a resolved address would not match them.
    ...(url.tls ? { dnsLookup: (host, found) => found(null, host) } : {}),
  })
  const troubles = rememberTrouble(cluster, 'node error', onDoubt)
  const tried = firstTry(cluster)
  const holdWrites = writeTogether(() => cluster.nodes())
  const silence = watchSilence(() => cluster.nodes(), clock)
  const lateAnswers = watchLateAnswers(clock)
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
        const why = await lateAnswers.wait(whyNot(node)).catch(reasonOf)
        return why === null ? null : `${owner}: ${why}`
      }),
    )
    return failures.find((failure) => failure !== null) ?? null
  }

  async function slotOf(channel: string): Promise<number> {
    const known = slotByChannel.get(channel)
    if (known !== undefined) return known
    const slot = Number(await lateAnswers.wait(cluster.call('cluster', ['KEYSLOT', channel])))
    slotByChannel.set(channel, slot)
    return slot
  }

  return {
    isCluster: true,
    name: nameOf(url.nodes),
    // Without a node ioredis would queue the command, and commands must not wait.
    isReady: () => cluster.status === 'ready' && cluster.nodes().length > 0,
    call(command, args) {
      holdWrites()
      return lateAnswers.wait(cluster.call(command, args as (string | number)[]))
    },
    probe,
    refresh,
    async nodeFor(channel) {
      if (cluster.status !== 'ready') return null
      const owner = cluster.slots[await slotOf(channel)]?.[0]
      if (owner === undefined) return null
      const colon = owner.lastIndexOf(':')
      return { host: owner.slice(0, colon), port: Number(owner.slice(colon + 1)) }
    },
    openNode: (node) => openOwn(url, node, clock),
    close() {
      silence.stop()
      lateAnswers.stop()
      return end(cluster, clock)
    },
  }
}

const whyNot = async (node: Redis): Promise<string | null> =>
  (await whyUnusable(node)) ?? (await whyDown(node))

/** A partitioned node answers PING but refuses commands. */
async function whyDown(node: Redis): Promise<string | null> {
  try {
    const info = String(await node.cluster('INFO'))
    return info.includes('cluster_state:ok') ? null : 'the cluster is down'
  } catch (error) {
    return reasonOf(error)
  }
}

/** Connected replicas, or the master, which is first in the list, if there are none. */
function someReplica(nodes: Redis[]): Redis | Redis[] {
  const replicas = nodes.slice(1).filter((node) => node?.status === 'ready')
  return replicas.length > 0 ? replicas : nodes[0]!
}

function ownersOf(cluster: Cluster): Set<string> {
  const owners = new Set<string>()
  for (const nodes of cluster.slots) owners.add(nodes?.[0] ?? 'the owner of some slots')
  return owners
}
