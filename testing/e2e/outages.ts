// A Redis and a PostgreSQL that tests may stop and start, and a way to stop time in the middle of a
// write: writers of a table wait while a test holds it, and the test sees that they wait.
import { SQL } from 'bun'
import { describeWithService } from '../services/describe.ts'
import { until, WAIT_MS } from '../services/within.ts'
import { foundBoth, type Services, startBoth } from './both-services.ts'
import { type Scene, useScene } from './scene.ts'

/** A `describe` whose tests have both services; `settings` are those of a server that finds them empty. */
export function describeWithOutages(
  title: string,
  body: (scene: Scene, services: () => Services, settings: () => Promise<OutageSettings>) => void,
): void {
  describeWithService(title, foundBoth, startBoth, (services) => {
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

/** Resolves when the server has noticed that both services answer again. Until then it may refuse to write. */
export const isWhole = (url: string): Promise<void> =>
  until(WAIT_MS, 'both services to answer', async () => {
    const { status } = (await (await fetch(`${url}/readyz`)).json()) as { status: string }
    return status === 'ready'
  })

export type OutageSettings = Record<string, string | number> & { database_url: string }

export interface HeldTable {
  /** Resolves when a writer waits. */
  isWaitedFor(): Promise<void>
  release(): Promise<void>
}

/** Until it is released the table cannot be written; reading goes on. */
export async function holdTable(databaseUrl: string, table: string): Promise<HeldTable> {
  const sql = new SQL(databaseUrl, { max: 2 })
  const holder = await sql.reserve()
  await holder.unsafe('BEGIN')
  await holder.unsafe(`LOCK TABLE ${table} IN EXCLUSIVE MODE`)
  return {
    isWaitedFor: () =>
      until(WAIT_MS, `a session to wait for ${table}`, async () => {
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
