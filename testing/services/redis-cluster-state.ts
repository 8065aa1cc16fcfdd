// Joins the nodes of a Redis Cluster and reads their state. The cluster is ready when all nodes report the same
// state of all nodes.
import { LOOPBACK } from './ports.ts'
import { redisCli } from './redis.ts'
import { until, WAIT_MS } from './within.ts'

const SLOTS = 16_384

export type Role = 'master' | 'replica'

interface Neighbour {
  id: string
  port: number
  role: Role
  /** The id of its master; of a master itself, `-`. */
  masterId: string
  isHealthy: boolean
  slots: string
}

/** Gives the slots to the first `masters` nodes and spreads the others over them as replicas. */
export async function formCluster(ports: readonly number[], masters: number): Promise<void> {
  await Promise.all(
    ports.map(async (port, index) => {
      // Distinct epochs, because nodes with the same epoch first have to resolve the conflict.
      await redisCli(port, 'CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1))
      if (index >= masters) return
      const [from, to] = [index, index + 1].map((share) => Math.floor((share * SLOTS) / masters))
      await redisCli(port, 'CLUSTER', 'ADDSLOTSRANGE', String(from!), String(to! - 1))
    }),
  )
  // Every node meets every other, because gossip takes longer.
  const pairs = ports.flatMap((one, index) => ports.slice(index + 1).map((other) => [one, other] as const))
  await Promise.all(pairs.map(([one, other]) => redisCli(one, 'CLUSTER', 'MEET', LOOPBACK, String(other))))
  await until(WAIT_MS, 'the meeting of the nodes', async () => {
    const known = await Promise.all(ports.map(neighboursOf))
    return known.every((all) => all.filter(({ isHealthy }) => isHealthy).length === ports.length)
  })
  const ids = await Promise.all(ports.map((port) => redisCli(port, 'CLUSTER', 'MYID')))
  await Promise.all(
    ports
      .slice(masters)
      .map((port, index) => redisCli(port, 'CLUSTER', 'REPLICATE', ids[index % masters] ?? '')),
  )
}

/** Whether these nodes, and no others, are up, agree about everything, and follow their masters. */
export async function isAgreed(ports: readonly number[]): Promise<boolean> {
  const answers = await Promise.all(
    ports.map(async (port) => ({
      story: storyOf(await neighboursOf(port)),
      serves: await isServing(port),
      follows: !/^master_link_status:down/m.test(await redisCli(port, 'INFO', 'replication')),
    })),
  )
  const stories = new Set(answers.map(({ story }) => story))
  const isComplete = answers[0]?.story.split('\n').length === ports.length
  return isComplete && stories.size === 1 && answers.every(({ serves, follows }) => serves && follows)
}

const storyOf = (neighbours: readonly Neighbour[]): string =>
  neighbours
    .filter(({ isHealthy }) => isHealthy)
    .map(({ id, role, masterId, slots }) => `${id} ${role} ${masterId} ${slots}`)
    .sort()
    .join('\n')

export async function isServing(port: number): Promise<boolean> {
  return (await redisCli(port, 'CLUSTER', 'INFO')).includes('cluster_state:ok')
}

export async function roleOf(port: number): Promise<Role> {
  return (await redisCli(port, 'ROLE')).startsWith('master') ? 'master' : 'replica'
}

/** The ports of the healthy replicas of the master on this port. */
export async function followersOf(port: number): Promise<number[]> {
  const id = await redisCli(port, 'CLUSTER', 'MYID')
  const all = await neighboursOf(port)
  return all.filter(({ masterId, isHealthy }) => masterId === id && isHealthy).map((one) => one.port)
}

async function neighboursOf(port: number): Promise<Neighbour[]> {
  const lines = (await redisCli(port, 'CLUSTER', 'NODES')).split('\n').filter((line) => line !== '')
  return lines.map((line) => {
    const [id = '', address = '', flagList = '', masterId = '', , , , link, ...slots] = line.split(' ')
    const flags = flagList.split(',')
    return {
      id,
      port: Number(/:(\d+)@/.exec(address)?.[1]),
      role: flags.includes('master') ? 'master' : 'replica',
      masterId,
      // Its own line, `myself`, is always connected.
      isHealthy: link === 'connected' && !flags.some((flag) => /^(fail\??|handshake|noaddr)$/.test(flag)),
      slots: slots.join(' '),
    }
  })
}
