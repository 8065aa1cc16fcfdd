// Interest in Redis: which gateway watches which user. Additions and removals of one gateway never overtake
// each other. What is asked for while a round is running waits for the next round, with the latest wish per
// user. Many connections that come or go at once cost a call, or one per shard, not per user.

import { groupByShard } from '../platform/shards.ts'
import { DROP_INTEREST, INTEREST } from './redis-scripts.ts'
import type { RedisShardCalls } from './redis-shard-calls.ts'

/** Whether each user is to be watched, and the promise of the callers. */
interface Round {
  wishes: Map<string, boolean>
  done: PromiseWithResolvers<void>
}

export interface RedisInterest {
  want(gatewayId: string, userIds: readonly string[], wanted: boolean): Promise<void>
  drop(gatewayId: string): Promise<void>
}

export function createRedisInterest(shardCalls: RedisShardCalls, shardCount: number): RedisInterest {
  const nextRounds = new Map<string, Round>()
  const running = new Set<string>()

  function want(gatewayId: string, userIds: readonly string[], wanted: boolean): Promise<void> {
    let round = nextRounds.get(gatewayId)
    if (round === undefined) {
      round = { wishes: new Map(), done: Promise.withResolvers() }
      nextRounds.set(gatewayId, round)
      if (!running.has(gatewayId)) {
        running.add(gatewayId)
        // At the end of this turn, so that the watches of one connection are one round.
        queueMicrotask(() => void runRounds(gatewayId))
      }
    }
    for (const userId of userIds) round.wishes.set(userId, wanted)
    return round.done.promise
  }

  async function runRounds(gatewayId: string): Promise<void> {
    for (;;) {
      const round = nextRounds.get(gatewayId)
      if (round === undefined) break
      nextRounds.delete(gatewayId)
      await apply(gatewayId, round.wishes).then(round.done.resolve, round.done.reject)
    }
    running.delete(gatewayId)
  }

  async function apply(gatewayId: string, wishes: Map<string, boolean>): Promise<void> {
    const groups = groupByShard([...wishes], ([userId]) => userId, shardCount, INTEREST.usersMax)
    const calls = groups.map(({ shard, items }) => {
      const added = items.filter(([, wanted]) => wanted).map(([userId]) => userId)
      const removed = items.filter(([, wanted]) => !wanted).map(([userId]) => userId)
      return shardCalls.run(INTEREST, shard, [gatewayId, added.length, ...added, ...removed], items.length)
    })
    // The next round begins only when all calls of this one have ended.
    const outcomes = await Promise.allSettled(calls)
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  }

  async function dropInShard(gatewayId: string, shard: number): Promise<void> {
    const { usersMax } = DROP_INTEREST
    let dropped: number
    do {
      dropped = Number(await shardCalls.run(DROP_INTEREST, shard, [gatewayId, usersMax], usersMax))
    } while (dropped === usersMax)
  }

  return {
    want,
    async drop(gatewayId) {
      await Promise.all(Array.from({ length: shardCount }, (_, shard) => dropInShard(gatewayId, shard)))
    },
  }
}
