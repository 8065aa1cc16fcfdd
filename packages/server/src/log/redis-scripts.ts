// The atomic steps of the change log in Redis. The keys of shard 17, after `{s17}:`
//   log          stream: fields `u` user id and `r` record, cut to a length
//   log:<group>  hash: `owner` consumer and `until` when its lease ends, by the clock of Redis; `offset` the last
//                entry that the group handled
// A script takes the prefixes of its shards as last arguments. In a cluster it is one, which is also KEYS[1].
import { createHash } from 'node:crypto'
import type { RedisScript } from '../redis/client.ts'

function script(lua: string): RedisScript {
  return { lua, sha: createHash('sha1').update(lua).digest('hex') }
}

const NOW = `
local function now()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
`

const LAST_ID = `
local function lastId(p)
  local info = redis.pcall('XINFO', 'STREAM', p .. 'log')
  if info.err then return '0-0' end
  for i = 1, #info, 2 do
    if info[i] == 'last-generated-id' then return info[i + 1] end
  end
end
`

const IS_BEFORE = `
local function isBefore(a, b)
  local aMs, aNumber = string.match(a, '^(%d+)-(%d+)$')
  local bMs, bNumber = string.match(b, '^(%d+)-(%d+)$')
  if aMs ~= bMs then return tonumber(aMs) < tonumber(bMs) end
  return tonumber(aNumber) < tonumber(bNumber)
end
`

/** Arguments: length of the stream, then user and record in turn. */
export const APPEND = script(`
for a = 2, #ARGV, 2 do
  redis.call('XADD', KEYS[1] .. 'log', 'MAXLEN', '~', ARGV[1], '*', 'u', ARGV[a], 'r', ARGV[a + 1])
end
return 0
`)

/** Arguments: group, oldest or newest, shards. Says where a group begins that never read them. */
export const BEGIN = script(`${LAST_ID}
for a = 3, #ARGV do
  local p, offset = ARGV[a], '0-0'
  if ARGV[2] == 'newest' then offset = lastId(p) end
  redis.call('HSETNX', p .. 'log:' .. ARGV[1], 'offset', offset)
end
return 0
`)

/**
 * Arguments: group, consumer, lease in milliseconds, how many to take at most, shards. Takes shards without a lease.
 * Returns for each shard its offset, or '' if it was not taken.
 */
export const TAKE = script(`${NOW}
local at, left, taken = now(), tonumber(ARGV[4]), {}
for a = 5, #ARGV do
  local key = ARGV[a] .. 'log:' .. ARGV[1]
  local held = redis.call('HMGET', key, 'owner', 'until', 'offset')
  taken[a - 4] = ''
  if left > 0 and (not held[1] or held[1] == ARGV[2] or tonumber(held[2]) <= at) then
    left = left - 1
    redis.call('HSET', key, 'owner', ARGV[2], 'until', string.format('%.0f', at + ARGV[3]))
    taken[a - 4] = held[3] or '0-0'
  end
end
return taken
`)

/** Arguments: group, consumer, lease in milliseconds, shards. Returns for each its offset, or '' if it is not its own. */
export const RENEW = script(`${NOW}
local untilAt, offsets = string.format('%.0f', now() + ARGV[3]), {}
for a = 4, #ARGV do
  local key = ARGV[a] .. 'log:' .. ARGV[1]
  local held = redis.call('HMGET', key, 'owner', 'offset')
  offsets[a - 3] = ''
  if held[1] == ARGV[2] then
    redis.call('HSET', key, 'until', untilAt)
    offsets[a - 3] = held[2] or '0-0'
  end
end
return offsets
`)

/**
 * Arguments: group, consumer, offset. Returns the offset that is kept, or '' if the shard is not its own. An offset
 * never goes back, and never passes the stream: after a failover, later entries may have smaller ids than lost ones.
 */
export const KEEP = script(`${LAST_ID}${IS_BEFORE}
local key, offset = KEYS[1] .. 'log:' .. ARGV[1], ARGV[3]
local held = redis.call('HMGET', key, 'owner', 'offset')
if held[1] ~= ARGV[2] then return '' end
local kept, last = held[2] or '0-0', lastId(KEYS[1])
if isBefore(last, offset) then offset = last end
if isBefore(kept, offset) then
  redis.call('HSET', key, 'offset', offset)
  kept = offset
end
return kept
`)

/** Arguments: group, consumer, shards. */
export const RELEASE = script(`
for a = 3, #ARGV do
  local key = ARGV[a] .. 'log:' .. ARGV[1]
  if redis.call('HGET', key, 'owner') == ARGV[2] then redis.call('HDEL', key, 'owner', 'until') end
end
return 0
`)

/** Arguments: group, offset. Returns 0 while a consumer has the lease. */
export const REWIND = script(`${NOW}
local key = KEYS[1] .. 'log:' .. ARGV[1]
local untilAt = redis.call('HGET', key, 'until')
if untilAt and tonumber(untilAt) > now() then return 0 end
redis.call('HSET', key, 'offset', ARGV[2])
return 1
`)

/**
 * Arguments: group, offset to count from or '' for that of the group, how many to count at most. Returns the count
 * and the offset of the last one. All entries are counted without reading them.
 */
export const COUNT = script(`
local from = ARGV[2]
if from == '' then from = redis.call('HGET', KEYS[1] .. 'log:' .. ARGV[1], 'offset') or '0-0' end
if from == '0-0' then return { redis.call('XLEN', KEYS[1] .. 'log'), '' } end
local entries = redis.call('XRANGE', KEYS[1] .. 'log', '(' .. from, '+', 'COUNT', ARGV[3])
if #entries == 0 then return { 0, '' } end
return { #entries, entries[#entries][1] }
`)

/** KEYS[1]: sorted set of the consumers of a group, by the end of their lease. Arguments: consumer, lease. */
export const SAY_ALIVE = script(`${NOW}
local at = now()
redis.call('ZADD', KEYS[1], string.format('%.0f', at + ARGV[2]), ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', at))
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return redis.call('ZRANGE', KEYS[1], 0, -1)
`)
