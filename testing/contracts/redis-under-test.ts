// The Redis of the contracts and of the tests of the Redis adapters: a single server or a cluster of three
// masters with a replica each, started once for a group of tests. Every store and bus has its own prefix, so
// that tests do not see each other's data.
import { afterAll, beforeAll } from 'bun:test'
import { createLogger } from '../../packages/server/src/platform/logger.ts'
import {
  type ConnectRedisOptions,
  connectRedis,
  type RedisConnection,
} from '../../packages/server/src/redis/client.ts'
import { parseRedisUrl } from '../../packages/server/src/redis/url.ts'
import { isCI } from '../services/found.ts'
import { findRedis, type Redis, startRedis } from '../services/redis.ts'
import { type RedisCluster, startRedisCluster } from '../services/redis-cluster.ts'

const START_MS_MAX = 60_000
const READY_MS_MAX = 10_000

const found = await findRedis()
export const isSkipped = found.state === 'missing' && !isCI()
/** For the title of a skipped test. */
export const reason = found.state === 'missing' ? ` (${found.why})` : ''

const quiet = createLogger({ level: 'silent' })
let prefixes = 0
export const newPrefix = (): string => `test-${++prefixes}:`

export async function connect(
  url: string,
  options: Partial<ConnectRedisOptions> = {},
): Promise<RedisConnection> {
  const parsed = parseRedisUrl(url)
  if (parsed.kind === 'invalid') throw new Error(parsed.message)
  const connection = connectRedis(parsed, { logger: quiet, ...options })
  await connection.ready(READY_MS_MAX)
  return connection
}

export interface RedisUnderTest<Server> {
  server(): Server
  /** Shared by all tests of the group. */
  connection(): RedisConnection
}

export const useRedis = (): RedisUnderTest<Redis> => useServer(startRedis)
export const useRedisCluster = (): RedisUnderTest<RedisCluster> => useServer(startRedisCluster)

function useServer<Server extends { url: string; stop(): Promise<void> }>(
  start: () => Promise<Server>,
): RedisUnderTest<Server> {
  let server: Server | null = null
  let connection: RedisConnection | null = null
  beforeAll(async () => {
    server = await start()
    connection = await connect(server.url)
  }, START_MS_MAX)
  afterAll(async () => {
    await connection?.close()
    await server?.stop()
  })
  return { server: () => server!, connection: () => connection! }
}
