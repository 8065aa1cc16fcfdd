// Faults of the hot store: a single Redis or one master of a cluster.
import type { Redis } from '../../../services/redis.ts'
import type { RedisCluster } from '../../../services/redis-cluster.ts'
import type { Store } from '../deployment/store.ts'
import type { PlannedFault } from '../plan/plan-faults.ts'

export function breakStore(fault: PlannedFault, store: Store): Promise<unknown> {
  return store.kind === 'redis' ? breakRedis(fault, store.redis) : breakCluster(fault, store.cluster)
}

async function breakRedis({ kind, forMs }: PlannedFault, redis: Redis): Promise<unknown> {
  switch (kind) {
    case 'store restarted empty':
      await redis.kill('SIGKILL')
      await Bun.sleep(forMs)
      return redis.restart({ keepData: false })
    case 'store restarted':
      await redis.cli('SAVE')
      await redis.kill('SIGKILL')
      await Bun.sleep(forMs)
      return redis.restart({ keepData: true })
    case 'store frozen':
      await redis.kill('SIGSTOP')
      await Bun.sleep(forMs)
      return redis.kill('SIGCONT')
    case 'store paused':
      await redis.cli('CLIENT', 'PAUSE', String(forMs), 'ALL')
      return Bun.sleep(forMs)
    case 'store flushed':
      return redis.cli('FLUSHALL')
    case 'subscriptions killed':
      return redis.cli('CLIENT', 'KILL', 'TYPE', 'pubsub')
  }
  throw new Error(`${kind} is no fault of Redis`)
}

async function breakCluster({ kind, forMs, which }: PlannedFault, cluster: RedisCluster): Promise<unknown> {
  const all = cluster.nodes.map(({ role }, index) => ({ role, index }))
  const masters = all.filter(({ role }) => role === 'master').map(({ index }) => index)
  const master = masters[which % masters.length]!
  switch (kind) {
    case 'failover':
      await cluster.failover(master)
      return cluster.restartNode(master)
    case 'store flushed':
      return cluster.flushAll()
    case 'one master flushed':
      return cluster.cli(master, 'FLUSHALL')
    case 'master paused':
      await cluster.cli(master, 'CLIENT', 'PAUSE', String(forMs), 'ALL')
      return Bun.sleep(forMs)
    case 'subscriptions killed':
      return Promise.all(
        all
          .filter(({ role }) => role !== 'down')
          .map(({ index }) => cluster.cli(index, 'CLIENT', 'KILL', 'TYPE', 'pubsub')),
      )
  }
  throw new Error(`${kind} is no fault of a cluster`)
}
