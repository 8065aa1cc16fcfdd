// The hot store of a random run: a single Redis or a cluster.
import { type Redis, startRedis } from '../../../services/redis.ts'
import { type RedisCluster, startRedisCluster } from '../../../services/redis-cluster.ts'

export type StoreKind = 'redis' | 'cluster'

export type Store = { kind: 'redis'; redis: Redis } | { kind: 'cluster'; cluster: RedisCluster }

export async function startStore(kind: StoreKind): Promise<Store> {
  if (kind === 'redis') return { kind, redis: await startRedis() }
  return { kind, cluster: await startRedisCluster() }
}
