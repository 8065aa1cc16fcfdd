// Two servers with one Redis and one PostgreSQL. The services are started once for the tests of a file,
// and every pair of servers finds them empty: a flushed store, a schema of its own.
import type { SettingsInput } from '../clients/server.ts'
import { describeWithService } from '../services/describe.ts'
import type { Redis } from '../services/redis.ts'
import { foundBoth, startBoth } from './both-services.ts'
import { type Scene, useScene } from './scene.ts'

export interface Pair {
  here: string
  there: string
  /** The settings of both servers, for a test that starts another one, or one as a process. */
  settings: SettingsInput
  databaseUrl: string
  redis: Redis
}

/** A `describe` whose tests may start pairs of servers. */
export function describeWithPairs(
  title: string,
  body: (scene: Scene, pair: (settings?: SettingsInput) => Promise<Pair>) => void,
): void {
  describeWithService(title, foundBoth, startBoth, (services) => {
    const scene = useScene()

    async function pair(settings: SettingsInput = {}): Promise<Pair> {
      const { redis, postgres } = services()
      await redis.cli('FLUSHALL')
      const databaseUrl = await postgres.newSchema()
      const shared = { redis_url: redis.url, database_url: databaseUrl, database_pool: 4, ...settings }
      // One after the other: the first makes the tables.
      const first = await scene.server(shared)
      const second = await scene.server(shared)
      return { here: first.url, there: second.url, settings: shared, databaseUrl, redis }
    }

    body(scene, pair)
  })
}
