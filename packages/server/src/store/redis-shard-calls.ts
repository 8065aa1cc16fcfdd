// Runs scripts on shards. In a cluster every part is a call of its own, because the shards are on many nodes. A single
// server has them all: there the parts of one turn of the event loop that run the same script leave as one call. A user
// who connects touches a dozen shards, and a call costs both sides more than the few keys that a part touches.
import type { RedisArgument, RedisClient } from '../redis/client.ts'
import type { ShardScript } from './redis-scripts.ts'

export interface RedisShardCalls {
  /**
   * Resolves with the answer of this part, which is about so many users. When a call fails, all its parts do, and some
   * may have taken effect.
   */
  run(script: ShardScript, shard: number, args: readonly RedisArgument[], users: number): Promise<unknown>
}

interface Call {
  script: ShardScript
  key: string
  args: RedisArgument[]
  users: number
  parts: PromiseWithResolvers<unknown>[]
}

export function createRedisShardCalls(
  client: RedisClient,
  shardKey: (shard: number) => string,
): RedisShardCalls {
  let calls: Call[] = []
  const openByScript = new Map<ShardScript, Call>()

  function openCall(script: ShardScript, key: string, users: number): Call {
    const open = openByScript.get(script)
    if (open !== undefined && open.users + users <= script.usersMax) return open
    const call: Call = { script, key, args: [], users: 0, parts: [] }
    openByScript.set(script, call)
    if (calls.push(call) === 1) queueMicrotask(sendAll)
    return call
  }

  function sendAll(): void {
    const gathered = calls
    calls = []
    openByScript.clear()
    for (const call of gathered) void send(call)
  }

  async function send({ script, key, args, parts }: Call): Promise<void> {
    try {
      const answers = (await client.run(script, key, args)) as unknown[]
      for (const [index, { resolve }] of parts.entries()) resolve(answers[index])
    } catch (error) {
      for (const { reject } of parts) reject(error)
    }
  }

  return {
    async run(script, shard, args, users) {
      const key = shardKey(shard)
      if (client.isCluster) {
        const answers = (await client.run(script, key, [key, args.length, ...args])) as unknown[]
        return answers[0]
      }
      const call = openCall(script, key, users)
      call.users += users
      call.args.push(key, args.length, ...args)
      const part = Promise.withResolvers<unknown>()
      call.parts.push(part)
      return part.promise
    },
  }
}
