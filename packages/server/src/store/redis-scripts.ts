// The atomic steps in Redis, as Lua inside TypeScript so that a single-file executable carries them. The
// scripts compare, write, index and list; all decisions are made by their callers.
//
// `p` is the prefix of all keys of one shard. It contains the hash tag, so all keys with this prefix
// are on one node. The keys of shard 17, after `{s17}:`
//   u:<user>     "<revision> <status> <gateway> …\n<record as JSON>"; gateways with a live session
//   w:<user>     gateways with a watcher, each followed by "\n"
//   g:<gateway>  set: users with a live session there
//   i:<gateway>  set: users with a watcher there
//   a            set: gateways that have a g: or an i: set here
//   due, keep    sorted sets: user by deadline, user by the instant until which the record is kept
//   announce, archive  sorted sets: user with that open duty, by the revision of the commit that left it
//   e            "<name> <instant>": the epoch of the shard, and since when it remembers (0: nothing to wait for)
//   n            the last revision
//   log          stream: records for the change log, user `u` and text `r`
//   c            hash: users by shown status
import { createHash } from 'node:crypto'
import type { RedisScript } from '../redis/client.ts'

function script(lua: string): RedisScript {
  return { lua, sha: createHash('sha1').update(lua).digest('hex') }
}

/** A script for parts of a call, one for each shard: see `redis-shard-calls.ts`. */
export interface ShardScript extends RedisScript {
  /** Of one call: bounds how long it keeps Redis busy. */
  readonly usersMax: number
}

/**
 * The step is written for one shard, with its prefix `p` and its own ARGV. The arguments of a call are, for each part, the
 * prefix, the number of arguments and the arguments; the reply is the answer of each part. A part that fails ends the
 * call, and the parts before it have taken effect.
 */
function shardScript(usersMax: number, functions: string, step: string): ShardScript {
  const { lua, sha } = script(`${functions}
local function step(p, ARGV)
${step}
end
local answers, a = {}, 1
while a < #ARGV do
  local last = a + 1 + tonumber(ARGV[a + 1])
  answers[#answers + 1] = step(ARGV[a], { unpack(ARGV, a + 2, last) })
  a = last + 1
end
return answers
`)
  return { lua, sha, usersMax }
}

/** A gateway without sessions and interest here is not listed. */
const DETACH = `
local function detach(p, gateway)
  if redis.call('EXISTS', p .. 'g:' .. gateway, p .. 'i:' .. gateway) == 0 then redis.call('SREM', p .. 'a', gateway) end
end
`

/** Removes a user from the counts and sets of their previous head (status and gateways). */
const LEAVE = `${DETACH}
local function leave(p, id, head, counts)
  local status = string.match(head, '^%a+')
  counts[status] = (counts[status] or 0) - 1
  for gateway in string.gmatch(head, ' ([^ ]+)') do
    redis.call('SREM', p .. 'g:' .. gateway, id)
    detach(p, gateway)
  end
end
local function count(p, counts)
  for status, change in pairs(counts) do
    if change ~= 0 then redis.call('HINCRBY', p .. 'c', status, change) end
  end
end
`

/** Entries of the change log that a shard keeps, about. */
export const LOG_ENTRIES_MAX = 20_000

/** Arguments of `COMMIT` per user. */
export const COMMIT_FIELDS = 8

/**
 * Per user: id, expected revision, head, record, deadline or '', kept until or '', duties (1 announce, 2 archive,
 * 3 both, or 0), record for the change log or ''. Returns per user the new revision (0: conflict), the interested
 * gateways, and the revision of a commit whose duty to announce it this one takes over, or ''.
 *
 * Revisions are at least the time in microseconds, so that they keep growing when the counter is lost,
 * because a server restarted empty or a replica missed the last writes.
 */
export const COMMIT = shardScript(
  100,
  LEAVE,
  `local names, ids = {}, {}
for a = 1, #ARGV, ${COMMIT_FIELDS} do
  ids[#ids + 1] = ARGV[a]
  names[#names + 1] = p .. 'u:' .. ARGV[a]
  names[#names + 1] = p .. 'w:' .. ARGV[a]
end
local held = redis.call('MGET', unpack(names))
local owing = redis.call('ZMSCORE', p .. 'announce', unpack(ids))
local time = redis.call('TIME')
local n = math.max(tonumber(redis.call('GET', p .. 'n') or 0), time[1] * 1000000 + time[2])
local results, writes, counts = {}, {}, {}
local due, settled, keep, kept, announce, archive = {}, {}, {}, {}, {}, {}
for a = 1, #ARGV, ${COMMIT_FIELDS} do
  local user = #results / 3
  local at = user * 2
  local id, head = ARGV[a], ARGV[a + 2]
  local revision, before = '0', nil
  if held[at + 1] then revision, before = string.match(held[at + 1], '^(%d+) ([^\\n]*)') end
  if revision ~= ARGV[a + 1] then
    results[user * 3 + 1] = 0
    results[user * 3 + 2] = ''
    results[user * 3 + 3] = ''
  else
    n = n + 1
    results[user * 3 + 1] = n
    results[user * 3 + 2] = held[at + 2] or ''
    results[user * 3 + 3] = ''
    writes[#writes + 1] = names[at + 1]
    writes[#writes + 1] = string.format('%.0f', n) .. ' ' .. head .. '\\n' .. ARGV[a + 3]
    if before ~= head then
      if before then leave(p, id, before, counts) end
      local status = string.match(head, '^%a+')
      counts[status] = (counts[status] or 0) + 1
      for gateway in string.gmatch(head, ' ([^ ]+)') do
        redis.call('SADD', p .. 'g:' .. gateway, id)
        redis.call('SADD', p .. 'a', gateway)
      end
    end
    if ARGV[a + 4] == '' then settled[#settled + 1] = id
    else due[#due + 1] = ARGV[a + 4]; due[#due + 1] = id end
    if ARGV[a + 5] == '' then kept[#kept + 1] = id
    else keep[#keep + 1] = ARGV[a + 5]; keep[#keep + 1] = id end
    local duties = ARGV[a + 6]
    if duties == '1' or duties == '3' then
      announce[#announce + 1] = n
      announce[#announce + 1] = id
      results[user * 3 + 3] = owing[user + 1] or ''
    end
    if duties == '2' or duties == '3' then archive[#archive + 1] = n; archive[#archive + 1] = id end
    if ARGV[a + 7] ~= '' then
      redis.call('XADD', p .. 'log', 'MAXLEN', '~', ${LOG_ENTRIES_MAX}, '*', 'u', id, 'r', ARGV[a + 7])
    end
  end
end
if #writes == 0 then return results end
redis.call('MSET', p .. 'n', string.format('%.0f', n), unpack(writes))
if #due > 0 then redis.call('ZADD', p .. 'due', unpack(due)) end
if #settled > 0 then redis.call('ZREM', p .. 'due', unpack(settled)) end
if #keep > 0 then redis.call('ZADD', p .. 'keep', unpack(keep)) end
if #kept > 0 then redis.call('ZREM', p .. 'keep', unpack(kept)) end
if #announce > 0 then redis.call('ZADD', p .. 'announce', unpack(announce)) end
if #archive > 0 then redis.call('ZADD', p .. 'archive', unpack(archive)) end
count(p, counts)
return results`,
)

/**
 * Arguments: now, limit, until when a record is kept instead whose row is not written, or that is watched and has a
 * deadline. Returns how many records were forgotten. Only after the instant, not at it.
 */
export const FORGET = shardScript(
  250,
  LEAVE,
  `local past = redis.call('ZRANGE', p .. 'keep', '-inf', '(' .. ARGV[1], 'BYSCORE', 'LIMIT', 0, ARGV[2])
if #past == 0 then return 0 end
local ids, kept = {}, {}
local unwritten = redis.call('ZMSCORE', p .. 'archive', unpack(past))
for i, deadline in ipairs(redis.call('ZMSCORE', p .. 'due', unpack(past))) do
  if unwritten[i] or (deadline and redis.call('EXISTS', p .. 'w:' .. past[i]) == 1) then
    kept[#kept + 1] = ARGV[3]
    kept[#kept + 1] = past[i]
  else ids[#ids + 1] = past[i] end
end
if #kept > 0 then redis.call('ZADD', p .. 'keep', unpack(kept)) end
if #ids == 0 then return 0 end
local names, counts = {}, {}
for i, id in ipairs(ids) do names[i] = p .. 'u:' .. id end
for i, held in ipairs(redis.call('MGET', unpack(names))) do
  if held then leave(p, ids[i], string.match(held, '^%d+ ([^\\n]*)'), counts) end
end
redis.call('DEL', unpack(names))
redis.call('ZREM', p .. 'due', unpack(ids))
redis.call('ZREM', p .. 'keep', unpack(ids))
redis.call('ZREM', p .. 'announce', unpack(ids))
count(p, counts)
return #ids`,
)

/** Arguments: duty, then user and revision in turn. Clears a duty that no later commit has left again. */
export const CLEAR_DUTIES = shardScript(
  500,
  '',
  `local name, done = p .. ARGV[1], {}
local ids = {}
for a = 2, #ARGV, 2 do ids[#ids + 1] = ARGV[a] end
local held = redis.call('ZMSCORE', name, unpack(ids))
for i, score in ipairs(held) do
  if score and tonumber(score) == tonumber(ARGV[i * 2 + 1]) then done[#done + 1] = ids[i] end
end
if #done > 0 then redis.call('ZREM', name, unpack(done)) end
return #done`,
)

/**
 * Arguments: the epoch the caller knows or '', a new name, since when a new epoch counts, now. Makes an epoch where there
 * is none, replaces one that has nothing to wait for if the caller knew an earlier one, and returns it.
 */
export const EPOCH = shardScript(
  500,
  '',
  `local key, known = p .. 'e', ARGV[1]
local held = redis.call('GET', key)
if not held then
  local since = ARGV[3]
  if known ~= '' then since = ARGV[4] end
  held = ARGV[2] .. ' ' .. since
  redis.call('SET', key, held)
elseif known ~= '' then
  local name, since = string.match(held, '^(%S+) (%S+)$')
  if name ~= known and since == '0' then
    held = ARGV[2] .. ' ' .. ARGV[4]
    redis.call('SET', key, held)
  end
end
return held`,
)

const WITHOUT = `${DETACH}
local function without(p, id, gateway)
  local name = p .. 'w:' .. id
  local list = redis.call('GET', name) or ''
  local from = string.find('\\n' .. list, '\\n' .. gateway .. '\\n', 1, true)
  if not from then return end
  local rest = string.sub(list, 1, from - 1) .. string.sub(list, from + #gateway + 1)
  if rest == '' then redis.call('DEL', name) else redis.call('SET', name, rest) end
end
`

/** Arguments: gateway, number of ids to add, the ids to add, the ids to remove. */
export const INTEREST = shardScript(
  500,
  WITHOUT,
  `local gateway, adding = ARGV[1], tonumber(ARGV[2])
local interest = p .. 'i:' .. gateway
for a = 3, #ARGV do
  if a - 2 <= adding then
    if redis.call('SADD', interest, ARGV[a]) == 1 then redis.call('APPEND', p .. 'w:' .. ARGV[a], gateway .. '\\n') end
  elseif redis.call('SREM', interest, ARGV[a]) == 1 then without(p, ARGV[a], gateway) end
end
if adding > 0 then redis.call('SADD', p .. 'a', gateway) else detach(p, gateway) end
return 0`,
)

/** Arguments: gateway, limit. Removes up to `limit` entries of its interest and returns how many. */
export const DROP_INTEREST = shardScript(
  500,
  WITHOUT,
  `local ids = redis.call('SPOP', p .. 'i:' .. ARGV[1], ARGV[2])
for _, id in ipairs(ids) do without(p, id, ARGV[1]) end
detach(p, ARGV[1])
return #ids`,
)

// Leases have their own hash tag. After it, `held` and `lost`: gateway by the instant its lease expires
// or expired.

/** Arguments: gateway, new expiry. Returns 0 when there is no such lease. */
export const RENEW_LEASE = script(`
if not redis.call('ZSCORE', KEYS[1] .. 'held', ARGV[1]) then return 0 end
redis.call('ZADD', KEYS[1] .. 'held', ARGV[2], ARGV[1])
return 1
`)

/** Arguments: gateway, the instant since when it is lost. */
export const RETIRE = script(`
redis.call('ZREM', KEYS[1] .. 'held', ARGV[1])
redis.call('ZADD', KEYS[1] .. 'lost', ARGV[2], ARGV[1])
return 0
`)

/** Argument: now. Moves expired leases to `lost` and returns all lost gateways, name and instant in turn. */
export const TAKE_LOST = script(`
local p = KEYS[1]
local over = redis.call('ZRANGE', p .. 'held', '-inf', ARGV[1], 'BYSCORE', 'WITHSCORES')
for i = 1, #over, 2 do
  redis.call('ZREM', p .. 'held', over[i])
  redis.call('ZADD', p .. 'lost', over[i + 1], over[i])
end
return redis.call('ZRANGE', p .. 'lost', 0, -1, 'WITHSCORES')
`)

/** Argument: gateway. */
export const DROP_LEASE = script(`
redis.call('ZREM', KEYS[1] .. 'held', ARGV[1])
redis.call('ZREM', KEYS[1] .. 'lost', ARGV[1])
return 0
`)

/** The clock of the node with the leases: in a cluster, always the same one. */
export const TIME = script(`return redis.call('TIME')`)
