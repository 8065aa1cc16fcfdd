// One Redis and one PostgreSQL for the tests of a file; where one of them cannot be had, neither is used.
import type { Found } from '../services/found.ts'
import { findPostgres, type Postgres, startPostgres } from '../services/postgres.ts'
import { findRedis, type Redis, startRedis } from '../services/redis.ts'

const missing = [await findRedis(), await findPostgres()].find(({ state }) => state === 'missing')
export const foundBoth: Found = missing ?? { state: 'found', path: 'both' }

export interface Services {
  redis: Redis
  postgres: Postgres
}

export async function startBoth(): Promise<Services & { stop(): Promise<void> }> {
  const [redis, postgres] = await Promise.all([startRedis(), startPostgres()])
  return {
    redis,
    postgres,
    async stop() {
      await Promise.all([redis.stop(), postgres.stop()])
    },
  }
}
