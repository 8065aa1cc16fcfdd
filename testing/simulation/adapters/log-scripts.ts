// The scripts of the change log, as functions on the data of a simulated node. They do what the Lua in
// packages/server/src/log/redis-scripts.ts does, and the contract of the log is run on both.
import {
  APPEND,
  BEGIN,
  COUNT,
  KEEP,
  RELEASE,
  RENEW,
  REWIND,
  SAY_ALIVE,
  TAKE,
} from '../../../packages/server/src/log/redis-scripts.ts'
import { isIdBefore } from './redis-data.ts'
import type { Script } from './store-scripts.ts'

const append: Script = ({ data, now }, p, [lengthMax, ...pairs]) => {
  for (let a = 0; a < pairs.length; a += 2)
    data.streamAdd(`${p}log`, Math.floor(now), ['u', pairs[a]!, 'r', pairs[a + 1]!], Number(lengthMax))
  return 0
}

const begin: Script = ({ data }, _, [group, start, ...shards]) => {
  for (const p of shards) {
    const key = `${p}log:${group}`
    if (data.hashGet(key, 'offset') !== null) continue
    data.hashSet(key, 'offset', start === 'newest' ? data.streamLastId(`${p}log`) : '0-0')
  }
  return 0
}

const take: Script = ({ data, now }, _, [group, consumer, leaseMs, limit, ...shards]) => {
  const at = Math.floor(now)
  let left = Number(limit)
  return shards.map((p) => {
    const key = `${p}log:${group}`
    const owner = data.hashGet(key, 'owner')
    const isFree = owner === null || owner === consumer || Number(data.hashGet(key, 'until')) <= at
    if (left === 0 || !isFree) return ''
    left--
    data.hashSet(key, 'owner', consumer!)
    data.hashSet(key, 'until', String(at + Number(leaseMs)))
    return data.hashGet(key, 'offset') ?? '0-0'
  })
}

const renew: Script = ({ data, now }, _, [group, consumer, leaseMs, ...shards]) =>
  shards.map((p) => {
    const key = `${p}log:${group}`
    if (data.hashGet(key, 'owner') !== consumer) return ''
    data.hashSet(key, 'until', String(Math.floor(now) + Number(leaseMs)))
    return data.hashGet(key, 'offset') ?? '0-0'
  })

const keep: Script = ({ data }, p, [group, consumer, wanted]) => {
  const key = `${p}log:${group}`
  if (data.hashGet(key, 'owner') !== consumer) return ''
  const kept = data.hashGet(key, 'offset') ?? '0-0'
  const last = data.streamLastId(`${p}log`)
  const offset = isIdBefore(last, wanted!) ? last : wanted!
  if (!isIdBefore(kept, offset)) return kept
  data.hashSet(key, 'offset', offset)
  return offset
}

const release: Script = ({ data }, _, [group, consumer, ...shards]) => {
  for (const p of shards) {
    const key = `${p}log:${group}`
    if (data.hashGet(key, 'owner') !== consumer) continue
    data.hashRemove(key, 'owner')
    data.hashRemove(key, 'until')
  }
  return 0
}

const rewind: Script = ({ data, now }, p, [group, offset]) => {
  const key = `${p}log:${group}`
  const until = data.hashGet(key, 'until')
  if (until !== null && Number(until) > Math.floor(now)) return 0
  data.hashSet(key, 'offset', offset!)
  return 1
}

const countAfter: Script = ({ data }, p, [group, given, limit]) => {
  const from = given !== '' ? given! : (data.hashGet(`${p}log:${group}`, 'offset') ?? '0-0')
  if (from === '0-0') return [data.streamLength(`${p}log`), '']
  const entries = data.streamAfter(`${p}log`, from, Number(limit))
  return [entries.length, entries.at(-1)?.id ?? '']
}

const sayAlive: Script = ({ data, now }, key, [consumer, leaseMs]) => {
  const at = Math.floor(now)
  data.sortedAdd(key, consumer!, at + Number(leaseMs))
  for (const [name] of data.sortedRange(key, { min: '-inf', max: String(at) })) data.sortedRemove(key, name)
  return data.sortedRange(key, { min: '-inf', max: '+inf' }).map(([name]) => name)
}

export const LOG_SCRIPTS: readonly [sha: string, run: Script][] = [
  [APPEND.sha, append],
  [BEGIN.sha, begin],
  [TAKE.sha, take],
  [RENEW.sha, renew],
  [KEEP.sha, keep],
  [RELEASE.sha, release],
  [REWIND.sha, rewind],
  [COUNT.sha, countAfter],
  [SAY_ALIVE.sha, sayAlive],
]
