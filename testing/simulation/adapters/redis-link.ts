// What a process has of Redis: a link for commands, which reconnects by itself, and connections that follow channels.
// The client of the server (packages/server/src/redis) runs on top of it unchanged.
import type { Redis } from 'ioredis'
import type { LinkOptions, RedisLink } from '../../../packages/server/src/redis/link.ts'
import type { RedisNodeAddress } from '../../../packages/server/src/redis/url.ts'
import type { Machine } from '../time/machine.ts'
import type { RedisNode } from './redis-node.ts'
import { openWire, type Wire, type WireParts } from './wire.ts'

const RECONNECT_STEP_MS = 50
const RECONNECT_MS_MAX = 1_000

export interface SimulatedRedis extends Omit<WireParts, 'machine' | 'node'> {
  nodes: readonly RedisNode[]
  isCluster: boolean
}

/** Keys and channels with the same tag are on the same node. */
function nodeOf(nodes: readonly RedisNode[], key: string): RedisNode {
  if (nodes.length === 1) return nodes[0]!
  const tag = /\{([^}]+)\}/.exec(key)?.[1] ?? key
  let hash = 0
  for (let index = 0; index < tag.length; index++) hash = (hash * 31 + tag.charCodeAt(index)) >>> 0
  return nodes[hash % nodes.length]!
}

function keyOf(command: string, args: readonly (string | number)[]): string {
  if (command === 'evalsha' || command === 'eval') return String(args[2])
  if (command === 'xread') return String(args[args.indexOf('STREAMS') + 1])
  return String(args[0])
}

export function openSimulatedLink(redis: SimulatedRedis, machine: Machine, options: LinkOptions): RedisLink {
  const { nodes, isCluster } = redis
  let isClosed = false
  const tried = Promise.withResolvers<void>()
  const wires = new Map<RedisNode, Wire>()
  const failures = new Map<RedisNode, number>()

  function open(node: RedisNode): void {
    if (isClosed) return
    const again = () => {
      options.onDoubt()
      const failed = (failures.get(node) ?? 0) + 1
      failures.set(node, failed)
      machine.clock.after(Math.min(failed * RECONNECT_STEP_MS, RECONNECT_MS_MAX), () => open(node))
    }
    const wire = openWire({ ...redis, machine, node }, { onClose: again })
    wires.set(node, wire)
    wire.connect().then(
      () => {
        failures.set(node, 0)
        if (nodes.every((each) => wires.get(each)?.isReady())) tried.resolve()
      },
      () => {
        tried.resolve()
        again()
      },
    )
  }
  for (const node of nodes) open(node)

  async function whyUnusable(node: RedisNode): Promise<string | null> {
    const wire = wires.get(node)!
    if (!wire.isReady()) return `${node.name}: there is no connection`
    return wire.send('ping', []).then(
      () => null,
      (error: Error) => `${node.name}: ${error.message}`,
    )
  }

  return {
    isCluster,
    name: 'simulated',
    isReady: () => !isClosed && [...wires.values()].some((wire) => wire.isReady()),
    call: (command, args) => wires.get(nodeOf(nodes, keyOf(command, args)))!.send(command, args),
    async probe() {
      await tried.promise
      const reasons = await Promise.all(nodes.map(whyUnusable))
      return reasons.find((reason) => reason !== null) ?? null
    },
    refresh: async () => {},
    async nodeFor(channel) {
      const node = nodeOf(nodes, channel)
      return { host: node.name, port: node.generation() }
    },
    openNode: (address) => openFollower(redis, machine, address) as unknown as Redis,
    async close() {
      isClosed = true
      for (const wire of wires.values()) wire.close()
    },
  }
}

type Listener = (...args: string[]) => void

/** As much of a connection of ioredis as following a channel needs. */
function openFollower(redis: SimulatedRedis, machine: Machine, { host }: RedisNodeAddress) {
  const listeners = new Map<string, Listener>()
  const node = redis.nodes.find(({ name }) => name === host)!
  const wire = openWire(
    { ...redis, machine, node },
    {
      onClose: () => listeners.get('close')?.(),
      onPush: (channel, message) => listeners.get('smessage')?.(channel, message),
    },
  )
  return {
    on: (event: string, listener: Listener) => void listeners.set(event, listener),
    connect: () => wire.connect(),
    ssubscribe: (channel: string) => wire.send('ssubscribe', [channel]),
    ping: () => wire.send('ping', []),
    disconnect: () => wire.close(),
  }
}
