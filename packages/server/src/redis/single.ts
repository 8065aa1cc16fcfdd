// The connection to a single Redis server. Reconnecting never gives up, and commands that were pending when
// the connection broke are rejected, not sent again.
import { Redis } from 'ioredis'
import { watchLateAnswers } from './late-answers.ts'
import {
  commonOptions,
  end,
  firstTry,
  type LinkOptions,
  nameOf,
  openOwn,
  type RedisLink,
  reasonOf,
  rememberTrouble,
  retryStrategy,
  whyUnusable,
  writeTogether,
} from './link.ts'
import { watchSilence } from './silence.ts'
import type { RedisUrl } from './url.ts'

export function openSingle(url: Extract<RedisUrl, { kind: 'single' }>, options: LinkOptions): RedisLink {
  const { onDoubt, clock } = options
  const redis = new Redis({
    ...commonOptions(url),
    ...url.node,
    db: url.db,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy,
    // The master became a replica behind the same address: a new connection reaches the new master.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  })
  const troubles = rememberTrouble(redis, 'error', onDoubt)
  const tried = firstTry(redis)
  const holdWrites = writeTogether(() => [redis])
  const silence = watchSilence(() => [redis], clock)
  const lateAnswers = watchLateAnswers(clock)
  redis.on('close', onDoubt)

  return {
    isCluster: false,
    name: nameOf([url.node]),
    isReady: () => redis.status === 'ready',
    call(command, args) {
      holdWrites()
      return lateAnswers.wait(redis.call(command, args as (string | number)[]))
    },
    async probe() {
      await tried
      if (redis.status !== 'ready') return troubles.last() ?? 'there is no connection'
      return lateAnswers.wait(whyUnusable(redis)).catch(reasonOf)
    },
    refresh: async () => {},
    nodeFor: async () => url.node,
    openNode: (node) => openOwn(url, { ...node, db: url.db }, clock),
    close() {
      silence.stop()
      lateAnswers.stop()
      return end(redis, clock)
    },
  }
}
