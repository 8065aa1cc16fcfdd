// A Redis of its own for a measurement, with its own counters, so that a rate can be told
// apart from the CPU time and the memory it takes; and the store on it, as a gateway has it.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { systemClock as clock } from '../../../../server/src/platform/clock.ts'
import { createLogger } from '../../../../server/src/platform/logger.ts'
import { connectRedis, type RedisConnection } from '../../../../server/src/redis/client.ts'
import { parseRedisUrl } from '../../../../server/src/redis/url.ts'
import type { PresenceStore } from '../../../../server/src/store/port.ts'
import { createRedisStore } from '../../../../server/src/store/redis.ts'
import { createScope } from '../../platform/scope.ts'
import { startRedis } from '../../subject/redis.ts'

const READY_MS_MAX = 5_000

export const missingRedis = (): string | null =>
  Bun.which('redis-server') === null ? 'redis-server is not installed' : null

export interface OwnRedis {
  store: PresenceStore
  connection: RedisConnection
  /** A connection without anything of ours around it. */
  bare: Redis
  cpuSeconds(): Promise<number>
  usedBytes(): Promise<number>
  /** Calls that clients made, and all commands with those inside scripts. */
  commands(): Promise<{ calls: number; all: number }>
}

/** Runs `measure` with a Redis that is gone afterwards. */
export async function withRedis<Result>(measure: (redis: OwnRedis) => Promise<Result>): Promise<Result> {
  const scope = createScope()
  try {
    const folder = mkdtempSync(join(tmpdir(), 'greendot-micro-'))
    scope.add(() => rmSync(folder, { recursive: true, force: true }))
    const url = parseRedisUrl((await startRedis(folder, scope)).url)
    if (url.kind !== 'single') throw new Error('Redis has no address')
    const connection = connectRedis(url, { logger: createLogger({ level: 'error' }), clock })
    scope.add(connection.close)
    await connection.ready(READY_MS_MAX)
    const bare = new Redis({ ...url.node, lazyConnect: true })
    scope.add(() => bare.disconnect())
    await bare.connect()
    async function info(section: string, ...names: string[]): Promise<number> {
      const text = await bare.info(section)
      return names.reduce((sum, name) => sum + Number(new RegExp(`^${name}:(\\S+)`, 'm').exec(text)?.[1]), 0)
    }
    return await measure({
      store: createRedisStore({ client: connection, clock }),
      connection,
      bare,
      cpuSeconds: () => info('cpu', 'used_cpu_user', 'used_cpu_sys'),
      usedBytes: () => info('memory', 'used_memory'),
      async commands() {
        const text = await bare.info('commandstats')
        const counted = Array.from(text.matchAll(/^cmdstat_(\S+):calls=(\d+)/gm), ([, name, calls]) => ({
          isScript: name!.startsWith('evalsha'),
          calls: Number(calls),
        }))
        const sum = (some: typeof counted) => some.reduce((total, { calls }) => total + calls, 0)
        return { calls: sum(counted.filter(({ isScript }) => isScript)), all: sum(counted) }
      },
    })
  } finally {
    await scope.close()
  }
}
