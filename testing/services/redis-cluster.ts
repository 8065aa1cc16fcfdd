// A Redis Cluster for tests: masters with replicas, each a process on the loopback. It is configured node by node,
// because `redis-cli --cluster create` waits for whole seconds. Timeouts of nodes are short, so that a failover
// takes seconds.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Child, newFolder, removeFolder } from './child.ts'
import { freePort, LOOPBACK } from './ports.ts'
import { type RedisSettings, redisCli, startRedisChild } from './redis.ts'
import { followersOf, formCluster, isAgreed, isServing, type Role, roleOf } from './redis-cluster-state.ts'
import { until, WAIT_MS } from './within.ts'

const NODE_TIMEOUT_MS = 1_500

export interface RedisClusterOptions {
  masters?: number
  /** For each master. */
  replicas?: number
  settings?: RedisSettings
}

export interface RedisNode {
  port: number
  pid: number
  /** Its role after the last start, failover or restart. */
  role: Role | 'down'
}

export interface RedisCluster {
  /** Lists every node, so that it works after any failover. */
  readonly url: string
  /** Masters first, then the replicas in the same order: the replica of node 0 is node `masters`. */
  readonly nodes: readonly RedisNode[]
  stop(): Promise<void>
  /** Ends a master with kill -9 and waits for the promotion of a replica; returns the index of the replica. */
  failover(masterIndex: number): Promise<number>
  killNode(index: number, signal?: NodeJS.Signals): Promise<void>
  /** Starts it in its folder, where it has the state of the cluster; waits until it has joined again. */
  restartNode(index: number): Promise<void>
  flushAll(): Promise<void>
  /** Every running node serves, sees every other, and every replica follows its master. */
  waitUntilReady(): Promise<void>
  cli(index: number, ...args: string[]): Promise<string>
}

interface Member {
  port: number
  folder: string
  child: Child
  role: RedisNode['role']
}

export async function startRedisCluster(options: RedisClusterOptions = {}): Promise<RedisCluster> {
  const { masters = 3, replicas = 1 } = options
  const folder = newFolder('redis-cluster')
  const settings: RedisSettings = {
    'cluster-enabled': 'yes',
    'cluster-node-timeout': String(NODE_TIMEOUT_MS),
    // A replica may take over however long it was disconnected from its master.
    'cluster-replica-validity-factor': '0',
    // Otherwise a master waits five seconds for further replicas before it sends its data.
    'repl-diskless-sync-delay': '0',
    'repl-ping-replica-period': '1',
    ...options.settings,
  }
  const members = await Promise.all(
    Array.from({ length: masters * (1 + replicas) }, async (_, index): Promise<Member> => {
      const port = await freePort({ withBus: true })
      const own = join(folder, String(index))
      mkdirSync(own)
      const child = await startRedisChild({ port, folder: own, settings })
      return { port, folder: own, child, role: index < masters ? 'master' : 'replica' }
    }),
  )
  const member = (index: number): Member => {
    const one = members[index]
    if (one === undefined) throw new Error(`the cluster has no node ${index}`)
    return one
  }
  const running = () => members.filter(({ child }) => child.isRunning())

  async function refreshRoles(): Promise<void> {
    await Promise.all(
      members.map(async (one) => {
        one.role = one.child.isRunning() ? await roleOf(one.port) : 'down'
      }),
    )
  }

  async function stop(): Promise<void> {
    await Promise.all(members.map(({ child }) => child.end('SIGKILL')))
    removeFolder(folder)
  }

  async function waitUntilReady(): Promise<void> {
    const ports = running().map(({ port }) => port)
    await until(WAIT_MS, 'getting the cluster ready', () => isAgreed(ports))
    await refreshRoles()
  }

  try {
    const ports = members.map(({ port }) => port)
    await formCluster(ports, masters)
    await waitUntilReady()
  } catch (error) {
    await stop()
    throw error
  }

  return {
    url: `redis-cluster://${members.map(({ port }) => `${LOOPBACK}:${port}`).join(',')}`,
    get nodes() {
      return members.map(({ port, child, role }) => ({ port, pid: child.pid, role }))
    },

    stop,

    async failover(masterIndex) {
      const master = member(masterIndex)
      const followers = await followersOf(master.port)
      if (followers.length === 0) throw new Error(`node ${masterIndex} has no replica to take its place`)
      master.child.signal('SIGKILL')
      await master.child.exited
      let promoted = -1
      await until(WAIT_MS, 'the failover', async () => {
        await refreshRoles()
        promoted = members.findIndex(({ port, role }) => followers.includes(port) && role === 'master')
        return promoted !== -1
      })
      await until(WAIT_MS, 'the recovery after the failover', async () => {
        const serving = await Promise.all(running().map(({ port }) => isServing(port)))
        return serving.every(Boolean)
      })
      return promoted
    },

    async killNode(index, signal = 'SIGKILL') {
      const { child } = member(index)
      child.signal(signal)
      if (signal === 'SIGSTOP' || signal === 'SIGCONT') return
      await child.exited
      member(index).role = 'down'
    },

    async restartNode(index) {
      const one = member(index)
      await one.child.end('SIGKILL')
      one.child = await startRedisChild({ port: one.port, folder: one.folder, settings })
      await waitUntilReady()
    },

    async flushAll() {
      await refreshRoles()
      const owners = members.filter(({ role }) => role === 'master')
      await Promise.all(owners.map(({ port }) => redisCli(port, 'FLUSHALL', 'SYNC')))
    },

    waitUntilReady,
    cli: (index, ...args) => redisCli(member(index).port, ...args),
  }
}
