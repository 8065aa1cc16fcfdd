// The plain commands that the adapters send, on the data of a simulated node. Arguments are texts, as on the wire.
import type { RedisData } from './redis-data.ts'

type Command = (data: RedisData, args: readonly string[]) => unknown

function zrange(data: RedisData, [key, min, max, ...options]: readonly string[]): string[] {
  const limitAt = options.indexOf('LIMIT')
  const limit = limitAt === -1 ? undefined : Number(options[limitAt + 2])
  const found = data.sortedRange(key!, { min: min!, max: max!, ...(limit !== undefined && { limit }) })
  return options.includes('WITHSCORES')
    ? found.flatMap(([member, score]) => [member, String(score)])
    : found.map(([member]) => member)
}

/** `COUNT n STREAMS key … id …`; null where no stream has anything new. */
function xread(data: RedisData, args: readonly string[]): unknown {
  const named = args.slice(args.indexOf('STREAMS') + 1)
  const keys = named.slice(0, named.length / 2)
  const streams = keys.flatMap((key, index) => {
    const entries = data.streamAfter(key, named[keys.length + index]!, Number(args[1]))
    return entries.length === 0 ? [] : [[key, entries.map(({ id, fields }) => [id, fields])]]
  })
  return streams.length === 0 ? null : streams
}

function zadd(data: RedisData, [key, score, member]: readonly string[]): number {
  data.sortedAdd(key!, member!, Number(score))
  return 1
}

function hset(data: RedisData, [key, field, value]: readonly string[]): number {
  data.hashSet(key!, field!, value!)
  return 1
}

export const COMMANDS: Readonly<Record<string, Command>> = {
  ping: () => 'PONG',
  get: (data, [key]) => data.get(key!),
  mget: (data, keys) => keys.map((key) => data.get(key)),
  smembers: (data, [key]) => data.setMembers(key!),
  hmget: (data, [key, ...fields]) => fields.map((field) => data.hashGet(key!, field)),
  hgetall: (data, [key]) => Object.fromEntries(data.hashAll(key!)),
  hset,
  hdel(data, [key, ...fields]) {
    for (const field of fields) data.hashRemove(key!, field)
  },
  zadd,
  zrange,
  zcount: (data, [key, min, max]) => data.sortedRange(key!, { min: min!, max: max! }).length,
  zrem(data, [key, ...members]) {
    for (const member of members) data.sortedRemove(key!, member)
  },
  xread,
}
