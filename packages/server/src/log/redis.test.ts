import { describe, expect, test } from 'bun:test'
import { changeLogContract } from '../../../../testing/contracts/change-log.ts'
import {
  appendUntilTaken,
  type LogOnTest,
  type MakeLog,
  numbered,
  oncePerUser,
  quiet,
  textOf,
  useLogs,
} from '../../../../testing/contracts/change-log-under-test.ts'
import { startDoomed } from '../../../../testing/contracts/doomed-consumer.ts'
import {
  isSkipped,
  newPrefix,
  type RedisUnderTest,
  reason,
  useRedis,
  useRedisCluster,
} from '../../../../testing/contracts/redis-under-test.ts'
import { systemClock } from '../platform/clock.ts'
import type { RedisClient } from '../redis/client.ts'
import { createRedisLog, type RedisLogOptions } from './redis.ts'

const SHARDS = 4
/** Longer than a busy machine may stall this process, because a lease that ran out lets another consumer in. */
const LEASE_MS = 5_000

const open = (client: RedisClient, options: Partial<RedisLogOptions>) =>
  createRedisLog({
    client,
    clock: systemClock,
    logger: quiet,
    shards: SHARDS,
    leaseMs: LEASE_MS,
    pauseMs: 1,
    ...options,
  })

function makeLogOn({ server, connection }: RedisUnderTest<{ url: string }>): MakeLog {
  async function make(options: Partial<RedisLogOptions> = {}): Promise<LogOnTest> {
    const prefix = newPrefix()
    return {
      open: async () => open(connection(), { prefix, ...options }),
      doom: (group) =>
        startDoomed({ kind: 'redis', url: server().url, prefix, shards: SHARDS, leaseMs: LEASE_MS }, group),
    }
  }
  return { isShared: true, make: () => make(), makeSmall: () => make({ entriesMax: 10 }) }
}

/** A client that can be cut off, as if its process were paused. */
function cuttable(client: RedisClient) {
  let isCut = false
  const guard = <Answer>(call: () => Promise<Answer>): Promise<Answer> =>
    isCut ? Promise.reject(new Error('cut')) : call()
  const guarded: RedisClient = {
    isCluster: client.isCluster,
    send: (command, args) => guard(() => client.send(command, args)),
    run: (script, key, args) => guard(() => client.run(script, key, args)),
  }
  return {
    client: guarded,
    cut(cut: boolean) {
      isCut = cut
    },
  }
}

describe.skipIf(isSkipped)(`redis change log, single server${reason}`, () => {
  const redis = useRedis()
  changeLogContract('redis, single server', makeLogOn(redis))
  const logs = useLogs()

  test('[C3] an entry has the fields that a commit of the store writes', async () => {
    const prefix = newPrefix()
    const log = await logs.open({ open: async () => open(redis.connection(), { prefix, shards: 1 }) })
    await log.append([{ userId: 'zoë', text: '{"a":1}' }])
    const [entry] = (await redis.connection().send('xrange', [`${prefix}{s0}:log`, '-', '+'])) as [
      [string, string[]],
    ]
    expect(entry[1]).toEqual(['u', 'zoë', 'r', '{"a":1}'])
    await redis.connection().send('xadd', [`${prefix}{s0}:log`, '*', 'other', 'x'])
    const reader = await logs.read(log, 'g')
    expect(await reader.first(2)).toMatchObject([
      { userId: 'zoë', text: '{"a":1}' },
      { userId: null, text: '' },
    ])
  })

  test('[C3] [C7] a consumer that was cut off and replaced cannot move the offset of the group', async () => {
    const prefix = newPrefix()
    const cutOff = cuttable(redis.connection())
    const one = await logs.open({ open: async () => open(cutOff.client, { prefix, shards: 1 }) })
    const two = await logs.open({ open: async () => open(redis.connection(), { prefix, shards: 1 }) })
    const begun = Promise.withResolvers<void>()
    const ending = Promise.withResolvers<void>()
    const first = await logs.read(one, 'g', {
      before() {
        begun.resolve()
        return ending.promise
      },
    })
    await two.append(numbered('a', 2))
    await begun.promise
    cutOff.cut(true)
    const second = await logs.read(two, 'g')
    await second.first(2)
    await first.owns(0)
    await two.append(numbered('a', 1, 2))
    await second.saw(textOf('a', 2))
    cutOff.cut(false)
    ending.resolve()
    await first.first(2)
    await first.stop()
    await second.stop()
    expect(await two.lag('g')).toBe(0)
    await two.append(numbered('a', 1, 3))
    const third = await logs.read(two, 'g')
    await third.first(1)
    expect(third.texts()).toEqual([textOf('a', 3)])
  })

  test('[C3] [C7] after a flush the group goes on with what comes then', async () => {
    const prefix = newPrefix()
    const log = await logs.open({ open: async () => open(redis.connection(), { prefix }) })
    const reader = await logs.read(log, 'g', { start: 'newest' })
    await log.append(numbered('a', 3))
    await reader.first(3)
    await redis.server().cli('FLUSHALL', 'SYNC')
    await log.append(numbered('a', 3, 3))
    await reader.saw(textOf('a', 5))
    expect(oncePerUser(reader.all(), 'a')).toEqual(numbered('a', 6).map(({ text }) => text))
  })

  test('[C3] [C7] a consumer goes on after Redis was away, and append rejects meanwhile', async () => {
    const prefix = newPrefix()
    const on = { open: async () => open(redis.connection(), { prefix }) }
    const { log, reader } = await logs.running(on, 1)
    await redis.server().kill('SIGKILL')
    await expect(log.append(numbered('a', 1, 1))).rejects.toThrow()
    await redis.server().restart({ keepData: false })
    await appendUntilTaken(log, 2)
    await reader.saw(textOf('a', 2))
  })
})

describe.skipIf(isSkipped)(`redis change log, cluster${reason}`, () => {
  changeLogContract('redis cluster', makeLogOn(useRedisCluster()))
})
