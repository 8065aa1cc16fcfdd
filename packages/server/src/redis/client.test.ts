import { afterEach, describe, expect, test } from 'bun:test'
import {
  connect,
  isSkipped,
  newPrefix,
  reason,
  useRedis,
  useRedisCluster,
} from '../../../../testing/contracts/redis-under-test.ts'
import { freePort } from '../../../../testing/services/ports.ts'
import { startRedis } from '../../../../testing/services/redis.ts'
import { until, WAIT_MS } from '../../../../testing/services/within.ts'
import { createLogger } from '../platform/logger.ts'
import { connectRedis, type RedisConnection } from './client.ts'
import { parseRedisUrl } from './url.ts'

const open: RedisConnection[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((connection) => connection.close()))
})

/** A connection that writes down what it tells and logs, without waiting for it to be ready. */
function begin(url: string) {
  const told: string[] = []
  const lines: string[] = []
  const parsed = parseRedisUrl(url)
  if (parsed.kind === 'invalid') throw new Error(parsed.message)
  const connection = connectRedis(parsed, {
    logger: createLogger({ level: 'trace', destination: { write: (line) => lines.push(line) } }),
    onTrouble: () => told.push('trouble'),
    onBack: () => told.push('back'),
  })
  open.push(connection)
  const isTold = (what: string[]) => async () => told.join() === what.join()
  return { connection, told, lines, isTold }
}

describe.skipIf(isSkipped)(`redis client, single server${reason}`, () => {
  const { server } = useRedis()

  test('[C7] says once that the server is away and once that it is back', async () => {
    const { connection, told, lines, isTold } = begin(server().url)
    await connection.ready(WAIT_MS)
    expect(told).toEqual([])
    await server().kill('SIGKILL')
    await until(WAIT_MS, 'word of trouble', isTold(['trouble']))
    await expect(connection.send('get', ['x'])).rejects.toThrow('redis is away')
    await server().restart({ keepData: false })
    await until(WAIT_MS, 'word that it is back', isTold(['trouble', 'back']))
    expect(await connection.send('set', ['x', 1])).toBe('OK')
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual(['redis is away', 'redis is back'])
  })

  test('[C7] says so too when the server hangs and no command is pending', async () => {
    const { connection, isTold } = begin(server().url)
    await connection.ready(WAIT_MS)
    const channel = newPrefix()
    let heard = 0
    await connection.follow(channel, { receive: () => heard++, onGap: () => heard++ })
    await server().kill('SIGSTOP')
    try {
      await until(WAIT_MS, 'word of trouble', isTold(['trouble']))
    } finally {
      await server().kill('SIGCONT')
    }
    await until(WAIT_MS, 'word that it is back', isTold(['trouble', 'back']))
    // By a message, or by a gap if the connection that follows was lost as well.
    await until(WAIT_MS, 'following the channel again', async () => {
      await connection.send('spublish', [channel, 'x'])
      return heard > 0
    })
  })

  test('[C7] a master that became a replica is left, and used again when it is one no longer', async () => {
    const { connection } = begin(server().url)
    await connection.ready(WAIT_MS)
    await server().cli('REPLICAOF', '127.0.0.1', '1')
    await expect(connection.send('set', ['x', 1])).rejects.toThrow('READONLY')
    await server().cli('REPLICAOF', 'NO', 'ONE')
    const isWritable = () => connection.send('set', ['x', 1]).then(Boolean, () => false)
    await until(WAIT_MS, 'writing again', isWritable)
  })

  test('[C7] where there is no server, waiting for it ends with the reason', async () => {
    const port = await freePort()
    const { connection, told } = begin(`redis://127.0.0.1:${port}`)
    await expect(connection.ready(500)).rejects.toThrow(
      `127.0.0.1:${port} cannot be used: connect ECONNREFUSED`,
    )
    expect(told).toEqual(['trouble'])
    await expect(connection.send('get', ['x'])).rejects.toThrow('redis is away')
    await connection.close()
  })

  test('[C6] a wrong password is named as the reason, and no password is ever shown', async () => {
    const guarded = await startRedis({ settings: { requirepass: 'open-sesame' } })
    try {
      const urlOf = (password: string) => `redis://:${password}@127.0.0.1:${guarded.port}`
      const wrong = begin(urlOf('hunter2'))
      const refused = await wrong.connection.ready(1_000).catch((error: Error) => error)
      expect(Bun.inspect(refused)).toContain('WRONGPASS')
      const denied = await wrong.connection.send('get', ['x']).catch((error: Error) => error)
      expect(Bun.inspect([refused, denied, wrong.lines])).not.toContain('hunter2')

      const right = begin(urlOf('open-sesame'))
      await right.connection.ready(WAIT_MS)
      expect(await right.connection.send('set', ['x', 1])).toBe('OK')
      await guarded.kill('SIGKILL')
      await until(WAIT_MS, 'word of trouble', right.isTold(['trouble']))
      expect(right.lines.join()).not.toContain('open-sesame')
    } finally {
      await guarded.stop()
    }
  })

  test('[C7] after closing, commands are refused and nothing more is told', async () => {
    const { connection, told } = begin(server().url)
    await connection.ready(WAIT_MS)
    const stop = await connection.follow('channel', { receive: () => {}, onGap: () => told.push('gap') })
    const last = connection.send('get', ['x'])
    await connection.close()
    expect(await last.catch((error: Error) => error.message)).toEqual(expect.anything())
    await expect(connection.send('get', ['x'])).rejects.toThrow('closed')
    stop()
    await connection.close()
    expect(told).toEqual([])
  })
})

describe.skipIf(isSkipped)(`redis client, cluster${reason}`, () => {
  const { server, connection } = useRedisCluster()
  const slotOf = async (key: string) => Number(await server().cli(0, 'CLUSTER', 'KEYSLOT', key))
  const idOf = (index: number) => server().cli(index, 'CLUSTER', 'MYID')

  test('[C2] follows a slot that moves to another master, in the midst of other commands', async () => {
    const key = `{${newPrefix()}}`
    const slot = String(await slotOf(key))
    const owner = Math.floor(((Number(slot) + 1) * 3 - 1) / 16_384)
    const other = (owner + 1) % 3
    const sendMany = () =>
      Promise.all(
        Array.from({ length: 30 }, (_, index) =>
          connection().send('set', [index % 3 === 0 ? `${key}-${index}` : `other-${index}`, index]),
        ),
      )

    // On its way: what is not there yet is asked for where it will be.
    await server().cli(other, 'CLUSTER', 'SETSLOT', slot, 'IMPORTING', await idOf(owner))
    await server().cli(owner, 'CLUSTER', 'SETSLOT', slot, 'MIGRATING', await idOf(other))
    expect(new Set(await sendMany())).toEqual(new Set(['OK']))
    expect(await server().cli(owner, 'CLUSTER', 'COUNTKEYSINSLOT', slot)).toBe('0')

    // Moved: only the redirection reports it.
    for (const index of [other, owner, 3 - owner - other]) {
      await server().cli(index, 'CLUSTER', 'SETSLOT', slot, 'NODE', await idOf(other))
    }
    expect(new Set(await sendMany())).toEqual(new Set(['OK']))
    expect(await connection().send('get', [`${key}-3`])).toBe('3')
  })

  test('[R6] reads go to replicas where that is wanted, writes and scripts never do', async () => {
    const reading = await connect(server().url, { readFromReplicas: true })
    open.push(reading)
    const readsOf = async (index: number) =>
      Number(/cmdstat_mget:calls=(\d+)/.exec(await server().cli(index, 'INFO', 'commandstats'))?.[1] ?? 0)
    const keys = Array.from({ length: 60 }, (_, index) => `{replicated-${index}}`)
    for (const key of keys) await reading.send('set', [key, key])
    // A cluster that has just begun does not name all of its replicas at once.
    await until(WAIT_MS, 'an answer from every replica', async () => {
      await Promise.all(keys.map((key) => reading.send('mget', [key])))
      return (await Promise.all([3, 4, 5].map(readsOf))).every((reads) => reads > 0)
    })
    const before = await Promise.all([0, 1, 2].map(readsOf))
    const script = { lua: "return redis.call('GET', KEYS[1])", sha: 'f'.repeat(40) }
    for (const key of keys) {
      expect(await reading.send('mget', [key])).toEqual([key])
      expect(await reading.run(script, key, [])).toBe(key)
    }
    expect(await Promise.all([0, 1, 2].map(readsOf))).toEqual(before)
  })

  test('[C7] the end of a replica is no trouble; the end of a master is, until another takes its place', async () => {
    const { connection, told, isTold } = begin(server().url)
    await connection.ready(WAIT_MS)
    await server().killNode(4)
    expect(await connection.send('set', ['x', 1])).toBe('OK')
    await server().failover(0)
    await until(WAIT_MS, 'word that it is back', isTold(['trouble', 'back']))
    await Promise.all(
      Array.from({ length: 50 }, (_, index) => connection.send('set', [`after-${index}`, index])),
    )
    expect(told).toEqual(['trouble', 'back'])
  })
})
