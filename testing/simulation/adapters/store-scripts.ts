// The scripts of the store, as functions on the data of a simulated node. They do what the Lua in
// packages/server/src/store/redis-scripts.ts does, and the contract of the store is run on both.
import { chunksOf } from '../../../packages/server/src/platform/chunks.ts'
import {
  CLEAR_DUTIES,
  COMMIT,
  COMMIT_FIELDS,
  DROP_INTEREST,
  DROP_LEASE,
  EPOCH,
  FORGET,
  INTEREST,
  LOG_ENTRIES_MAX,
  RENEW_LEASE,
  RETIRE,
  TAKE_LOST,
  TIME,
} from '../../../packages/server/src/store/redis-scripts.ts'
import type { RedisData } from './redis-data.ts'

export interface ScriptContext {
  data: RedisData
  /** The clock of the node, in milliseconds with a fraction. */
  now: number
}

export type Script = (context: ScriptContext, key: string, args: readonly string[]) => unknown

function detach(data: RedisData, p: string, gateway: string): void {
  if (!data.exists(`${p}g:${gateway}`) && !data.exists(`${p}i:${gateway}`)) data.setRemove(`${p}a`, gateway)
}

function count(data: RedisData, p: string, status: string, change: number): void {
  const before = Number(data.hashGet(`${p}c`, status) ?? 0)
  data.hashSet(`${p}c`, status, String(before + change))
}

/** `head`: status and gateways. */
function leave(data: RedisData, p: string, id: string, head: string): void {
  const [status, ...gateways] = head.split(' ')
  count(data, p, status!, -1)
  for (const gateway of gateways) {
    data.setRemove(`${p}g:${gateway}`, id)
    detach(data, p, gateway)
  }
}

const commit: Script = ({ data, now }, p, args) => {
  let n = Math.max(Number(data.get(`${p}n`) ?? 0), Math.floor(now * 1_000))
  const results: (number | string)[] = []
  let isWritten = false
  for (const fields of chunksOf(args, COMMIT_FIELDS)) {
    const [id, expected, head, record, dueAt, keptUntil, duties, logged] = fields
    const held = data.get(`${p}u:${id}`)
    const line = held === null ? null : held.slice(0, held.indexOf('\n'))
    const revision = line === null ? '0' : line.slice(0, line.indexOf(' '))
    if (revision !== expected) {
      results.push(0, '', '')
      continue
    }
    n++
    isWritten = true
    const isOwed = duties === '1' || duties === '3'
    const unannounced = isOwed ? data.score(`${p}announce`, id!) : null
    results.push(n, data.get(`${p}w:${id}`) ?? '', unannounced === null ? '' : String(unannounced))
    data.set(`${p}u:${id}`, `${n} ${head}\n${record}`)
    const before = line === null ? null : line.slice(line.indexOf(' ') + 1)
    if (before !== head) {
      if (before !== null) leave(data, p, id!, before)
      const [status, ...gateways] = head!.split(' ')
      count(data, p, status!, 1)
      for (const gateway of gateways) {
        data.setAdd(`${p}g:${gateway}`, id!)
        data.setAdd(`${p}a`, gateway)
      }
    }
    if (dueAt === '') data.sortedRemove(`${p}due`, id!)
    else data.sortedAdd(`${p}due`, id!, Number(dueAt))
    if (keptUntil === '') data.sortedRemove(`${p}keep`, id!)
    else data.sortedAdd(`${p}keep`, id!, Number(keptUntil))
    if (isOwed) data.sortedAdd(`${p}announce`, id!, n)
    if (duties === '2' || duties === '3') data.sortedAdd(`${p}archive`, id!, n)
    if (logged !== '') data.streamAdd(`${p}log`, Math.floor(now), ['u', id!, 'r', logged!], LOG_ENTRIES_MAX)
  }
  if (isWritten) data.set(`${p}n`, String(n))
  return results
}

const forget: Script = ({ data }, p, [now, limit, keptUntil]) => {
  const past = data.sortedRange(`${p}keep`, { min: '-inf', max: `(${now}`, limit: Number(limit) })
  let forgotten = 0
  for (const [id] of past) {
    const isUnwritten = data.score(`${p}archive`, id) !== null
    if (isUnwritten || (data.score(`${p}due`, id) !== null && data.exists(`${p}w:${id}`))) {
      data.sortedAdd(`${p}keep`, id, Number(keptUntil))
      continue
    }
    forgotten++
    const held = data.get(`${p}u:${id}`)
    if (held !== null) {
      const line = held.slice(0, held.indexOf('\n'))
      leave(data, p, id, line.slice(line.indexOf(' ') + 1))
    }
    data.delete(`${p}u:${id}`)
    for (const name of ['due', 'keep', 'announce']) data.sortedRemove(p + name, id)
  }
  return forgotten
}

const clearDuties: Script = ({ data }, p, [duty, ...done]) => {
  let cleared = 0
  for (let a = 0; a < done.length; a += 2) {
    if (data.score(p + duty!, done[a]!) !== Number(done[a + 1])) continue
    data.sortedRemove(p + duty!, done[a]!)
    cleared++
  }
  return cleared
}

const epoch: Script = ({ data }, p, [known, name, since, now]) => {
  const held = data.get(`${p}e`)
  const isReplaced = held !== null && known !== '' && !held.startsWith(`${known} `) && held.endsWith(' 0')
  if (held !== null && !isReplaced) return held
  const made = `${name} ${known === '' ? since : now}`
  data.set(`${p}e`, made)
  return made
}

function without(data: RedisData, p: string, id: string, gateway: string): void {
  const key = `${p}w:${id}`
  const rest = (data.get(key) ?? '').split('\n').filter((name) => name !== '' && name !== gateway)
  if (rest.length === 0) data.delete(key)
  else data.set(key, rest.map((name) => `${name}\n`).join(''))
}

const interest: Script = ({ data }, p, [gateway, adding, ...ids]) => {
  for (const [index, id] of ids.entries()) {
    if (index < Number(adding)) {
      if (data.setAdd(`${p}i:${gateway}`, id))
        data.set(`${p}w:${id}`, `${data.get(`${p}w:${id}`) ?? ''}${gateway}\n`)
    } else if (data.setRemove(`${p}i:${gateway}`, id)) without(data, p, id, gateway!)
  }
  if (Number(adding) > 0) data.setAdd(`${p}a`, gateway!)
  else detach(data, p, gateway!)
  return 0
}

const dropInterest: Script = ({ data }, p, [gateway, limit]) => {
  const ids = data.setMembers(`${p}i:${gateway}`).slice(0, Number(limit))
  for (const id of ids) {
    data.setRemove(`${p}i:${gateway}`, id)
    without(data, p, id, gateway!)
  }
  detach(data, p, gateway!)
  return ids.length
}

const renewLease: Script = ({ data }, p, [gateway, until]) => {
  if (data.score(`${p}held`, gateway!) === null) return 0
  data.sortedAdd(`${p}held`, gateway!, Number(until))
  return 1
}

const retire: Script = ({ data }, p, [gateway, at]) => {
  data.sortedRemove(`${p}held`, gateway!)
  data.sortedAdd(`${p}lost`, gateway!, Number(at))
  return 0
}

const takeLost: Script = ({ data }, p, [now]) => {
  for (const [gateway, until] of data.sortedRange(`${p}held`, { min: '-inf', max: now! })) {
    data.sortedRemove(`${p}held`, gateway)
    data.sortedAdd(`${p}lost`, gateway, until)
  }
  const lost = data.sortedRange(`${p}lost`, { min: '-inf', max: '+inf' })
  return lost.flatMap(([gateway, at]) => [gateway, String(at)])
}

const dropLease: Script = ({ data }, p, [gateway]) => {
  data.sortedRemove(`${p}held`, gateway!)
  data.sortedRemove(`${p}lost`, gateway!)
  return 0
}

const time: Script = ({ now }) => [String(Math.floor(now / 1_000)), String(Math.floor((now % 1_000) * 1_000))]

/** The parts of a call of such a script: the prefix of a shard, and the arguments for it. */
export function partsOf(args: readonly string[]): { p: string; args: string[] }[] {
  const parts: { p: string; args: string[] }[] = []
  for (let a = 0; a < args.length; ) {
    const end = a + 2 + Number(args[a + 1])
    parts.push({ p: args[a]!, args: args.slice(a + 2, end) })
    a = end
  }
  return parts
}

export const forEachShard =
  (script: Script): Script =>
  (context, _, args) =>
    partsOf(args).map((part) => script(context, part.p, part.args))

/** Written for one shard. A call runs them for each of its parts. */
export const SHARD_SCRIPTS: readonly [sha: string, run: Script][] = [
  [COMMIT.sha, commit],
  [FORGET.sha, forget],
  [CLEAR_DUTIES.sha, clearDuties],
  [EPOCH.sha, epoch],
  [INTEREST.sha, interest],
  [DROP_INTEREST.sha, dropInterest],
]

export const STORE_SCRIPTS: readonly [sha: string, run: Script][] = [
  [RENEW_LEASE.sha, renewLease],
  [RETIRE.sha, retire],
  [TAKE_LOST.sha, takeLost],
  [DROP_LEASE.sha, dropLease],
  [TIME.sha, time],
]
