// A Redis and a PostgreSQL that tests may stop and start, and a way to stop time in the middle of a
// write: whoever edits a table waits while a test holds it, and the test sees that they wait.
import { SQL } from 'bun'
import { describeWithService } from '../services/describe.ts'
import type { Found } from '../services/found.ts'
import { findPostgres, type Postgres, startPostgres } from '../services/postgres.ts'
import { findRedis, type Redis, startRedis } from '../services/redis.ts'
import { until } from '../services/within.ts'
import { type Scene, useScene } from './scene.ts'

const missing = [await findRedis(), await findPostgres()].find(({ state }) => state === 'missing')
const found: Found = missing ?? { state: 'found', path: 'both' }
const WAIT_MS_MAX = 5_000

export interface Services {
  redis: Redis
  postgres: Postgres
}

async function startServices() {
  const [redis, postgres] = await Promise.all([startRedis(), startPostgres()])
  return {
    redis,
    postgres,
    async stop() {
      await Promise.all([redis.stop(), postgres.stop()])
    },
  }
}

/** A `describe` whose tests have both services; `settings` are those of a server that finds them empty. */
export function describeWithOutages(
  title: string,
  body: (scene: Scene, services: () => Services, settings: () => Promise<OutageSettings>) => void,
): void {
  describeWithService(title, found, startServices, (services) => {
    const scene = useScene()

    async function settings(): Promise<OutageSettings> {
      const { redis, postgres } = services()
      await redis.cli('FLUSHALL')
      const database_url = await postgres.newSchema()
      return { redis_url: redis.url, database_url, database_pool: 4, read_cache_ms: 0, log_level: 'silent' }
    }

    body(scene, services, settings)
  })
}

export type OutageSettings = Record<string, string | number> & { database_url: string }

export interface HeldTable {
  /** Resolves when somebody waits to write. */
  isWaitedFor(): Promise<void>
  release(): Promise<void>
}

/** Until it is released nobody writes the table; reading goes on. */
export async function holdTable(databaseUrl: string, table: string): Promise<HeldTable> {
  const sql = new SQL(databaseUrl, { max: 2 })
  const holder = await sql.reserve()
  await holder.unsafe('BEGIN')
  await holder.unsafe(`LOCK TABLE ${table} IN EXCLUSIVE MODE`)
  return {
    isWaitedFor: () =>
      until(WAIT_MS_MAX, `somebody to wait for ${table}`, async () => {
        const waiting: unknown[] = await sql.unsafe('SELECT 1 FROM pg_locks WHERE NOT granted')
        return waiting.length > 0
      }),
    async release() {
      // With the database gone, so is the lock.
      await holder.unsafe('COMMIT').catch(() => {})
      await sql.close({ timeout: 0 })
    },
  }
}
