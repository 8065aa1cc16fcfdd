// Which calls become of parts, on a client that only takes notes. That the scripts run each part for its shard is shown by
// the contract of the store, on a single server and on a cluster.
import { expect, test } from 'bun:test'
import type { RedisArgument, RedisClient, RedisScript } from '../redis/client.ts'
import { COMMIT, INTEREST } from './redis-scripts.ts'
import { createRedisShardCalls } from './redis-shard-calls.ts'

interface Sent {
  script: RedisScript
  key: string
  args: readonly RedisArgument[]
}

/** Answers each part with its arguments, and rejects calls to the lost shard. */
function noting(isCluster: boolean, lost = 's-1') {
  const sent: Sent[] = []
  const client: RedisClient = {
    isCluster,
    send: () => Promise.reject(new Error('only scripts are expected')),
    async run(script, key, args) {
      sent.push({ script, key, args })
      if (args.includes(lost)) throw new Error('lost')
      const answers: RedisArgument[][] = []
      for (let a = 0; a < args.length; a += 2 + Number(args[a + 1]))
        answers.push(args.slice(a + 2, a + 2 + Number(args[a + 1])))
      return answers
    },
  }
  return { calls: createRedisShardCalls(client, (shard) => `s${shard}`), sent }
}

test('[C2] parts of one turn with one script are one call to a single server, each with its own answer', async () => {
  const { calls, sent } = noting(false)
  const first = [calls.run(INTEREST, 3, ['a', 'b'], 1), calls.run(COMMIT, 4, ['c'], 1)]
  const second = calls.run(INTEREST, 5, [], 1)
  expect(sent).toEqual([])
  expect(await Promise.all([...first, second])).toEqual([['a', 'b'], ['c'], []])
  expect(sent).toEqual([
    { script: INTEREST, key: 's3', args: ['s3', 2, 'a', 'b', 's5', 0] },
    { script: COMMIT, key: 's4', args: ['s4', 1, 'c'] },
  ])
  await calls.run(COMMIT, 4, ['d'], 1)
  expect(sent).toHaveLength(3)
})

test('[C2] a call is about as many users as its script allows, and a larger part has one of its own', async () => {
  const { calls, sent } = noting(false)
  const sizes = [60, 40, 1, 300, 5]
  await Promise.all(sizes.map((users, shard) => calls.run(COMMIT, shard, [], users)))
  expect(sent.map(({ args }) => args.filter((_, index) => index % 2 === 0))).toEqual([
    ['s0', 's1'],
    ['s2'],
    ['s3'],
    ['s4'],
  ])
})

test('[C7] when a call fails its parts do, and no others', async () => {
  const { calls } = noting(false, 's1')
  const outcomes = await Promise.allSettled([
    calls.run(COMMIT, 0, [], 50),
    calls.run(COMMIT, 1, [], 50),
    calls.run(COMMIT, 2, [], 50),
    calls.run(INTEREST, 3, [], 1),
  ])
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled', 'fulfilled'])
})

test('[C7] in a cluster each part is a call, and fails alone', async () => {
  const { calls, sent } = noting(true, 's1')
  const outcomes = await Promise.allSettled([0, 1, 2].map((shard) => calls.run(COMMIT, shard, ['a'], 1)))
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(sent.map(({ key, args }) => [key, ...args])).toEqual(
    [0, 1, 2].map((n) => [`s${n}`, `s${n}`, 1, 'a']),
  )
})
