// ChangeLog inside one process. Each partition keeps its newest entries up to a limit. A partition that changes its
// consumer does so between two batches, so it never has two at once.
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import { shardOf } from '../platform/shards.ts'
import { checkGroupName } from './group-name.ts'
import { createHanding, type Handing } from './handing.ts'
import type { ChangeLog, Consumption, GroupStart, LogConsumer, LogEntry } from './port.ts'
import { quotaOf } from './shares.ts'

const ENTRIES_MAX = 10_000
const BATCH_MAX = 100
const PAUSE_MS = 100

export interface MemoryLogOptions {
  partitionCount: number
  clock: Clock
  logger: Logger
  /** How many entries a partition keeps. */
  entriesMax?: number
  /** The first pause after a batch was rejected. */
  pauseMs?: number
}

interface Partition {
  /** The offset of the first entry; entries have consecutive offsets. */
  first: number
  entries: LogEntry[]
}

interface Member {
  consumer: LogConsumer
  handing: Handing
  owned: Set<number>
  /** What is being handled now, by partition. */
  handling: Map<number, Promise<void>>
  isStopped: boolean
}

interface Group {
  /** By partition: the offset of the next entry. */
  next: number[]
  members: Member[]
  /** Each waits until a partition is read up to an offset. */
  waiting: { partition: number; end: number; resolve(): void }[]
}

export interface MemoryLog extends ChangeLog {
  /** Resolves when the group has handled what is in the log now; null when it has, or when nothing reads for it. */
  whenHandled(group: string): Promise<unknown> | null
}

export function createMemoryLog(options: MemoryLogOptions): MemoryLog {
  const { partitionCount, clock, logger, entriesMax = ENTRIES_MAX, pauseMs = PAUSE_MS } = options
  const partitions: Partition[] = Array.from({ length: partitionCount }, () => ({ first: 0, entries: [] }))
  const groups = new Map<string, Group>()
  let isClosed = false

  const endOf = ({ first, entries }: Partition): number => first + entries.length

  function groupOf(name: string, start: GroupStart): Group {
    const known = groups.get(name)
    if (known !== undefined) return known
    const next = partitions.map((partition) => (start === 'oldest' ? partition.first : endOf(partition)))
    const group: Group = { next, members: [], waiting: [] }
    groups.set(name, group)
    return group
  }

  /** Partitions above a quota are taken away when they are not being handled; free ones go to who has too few. */
  function share({ members, next }: Group): void {
    const live = members.filter(({ isStopped }) => !isStopped)
    const quotas = members.map((member) =>
      member.isStopped ? 0 : quotaOf(live.indexOf(member), live.length, partitionCount),
    )
    for (const [place, member] of members.entries()) {
      const excess = member.owned.size - quotas[place]!
      const idle = [...member.owned].filter((partition) => !member.handling.has(partition))
      const revoked = excess > 0 ? idle.slice(0, excess) : []
      for (const partition of revoked) member.owned.delete(partition)
      if (revoked.length > 0) member.consumer.onRevoked?.(revoked)
    }
    const free = next
      .map((_, partition) => partition)
      .filter((one) => !members.some(({ owned }) => owned.has(one)))
    for (const [place, member] of members.entries()) {
      const assigned = free.splice(0, Math.max(0, quotas[place]! - member.owned.size))
      for (const partition of assigned) member.owned.add(partition)
      if (assigned.length > 0) member.consumer.onAssigned?.(assigned)
    }
  }

  function read(group: Group, partition: number): LogEntry[] {
    const { first, entries } = partitions[partition]!
    // What the group has not read may be gone.
    const from = Math.max(0, group.next[partition]! - first)
    return entries.slice(from, from + BATCH_MAX)
  }

  async function handle(group: Group, member: Member, partition: number, entries: LogEntry[]): Promise<void> {
    // After the turn of the writer, which never runs code of a consumer.
    await clock.nextTurn()
    const isOver = (): boolean => member.isStopped
    if (isOver()) return
    const isHandled = await member.handing.hand(partition, entries, isOver)
    if (!isHandled) return
    group.next[partition] = Number(entries.at(-1)!.offset) + 1
    release(group)
  }

  function release(group: Group): void {
    if (group.waiting.length === 0) return
    const isDone = (one: Group['waiting'][number]) => group.next[one.partition]! >= one.end
    const done = group.waiting.filter(isDone)
    group.waiting = group.waiting.filter((one) => !isDone(one))
    for (const { resolve } of done) resolve()
  }

  function serve(group: Group): void {
    for (const member of group.members) {
      if (member.isStopped) continue
      for (const partition of member.owned) {
        if (member.handling.has(partition)) continue
        const entries = read(group, partition)
        if (entries.length === 0) continue
        const handled = handle(group, member, partition, entries).then(() => {
          member.handling.delete(partition)
          share(group)
          serve(group)
        })
        member.handling.set(partition, handled)
      }
    }
  }

  async function leave(group: Group, member: Member): Promise<void> {
    member.isStopped = true
    member.handing.wake()
    share(group)
    serve(group)
    // Each of them shares again when it ends, and so takes away the partition that it was handling.
    await Promise.all(member.handling.values())
    group.members = group.members.filter((one) => one !== member)
    if (group.members.length > 0) return
    for (const { resolve } of group.waiting) resolve()
    group.waiting = []
  }

  return {
    partitionCount,
    async append(records) {
      if (isClosed) throw new Error('the log is closed')
      for (const { userId, text } of records) {
        const partition = partitions[shardOf(userId, partitionCount)]!
        partition.entries.push({ userId, text, offset: String(endOf(partition)) })
        // In steps of a quarter, because removing from the front moves all that is left.
        if (partition.entries.length < entriesMax * 1.25) continue
        const gone = partition.entries.length - entriesMax
        partition.entries.splice(0, gone)
        partition.first += gone
      }
      for (const group of groups.values()) serve(group)
    },
    async consume(name, start, consumer): Promise<Consumption> {
      if (isClosed) throw new Error('the log is closed')
      checkGroupName(name)
      const group = groupOf(name, start)
      const member: Member = {
        consumer,
        handing: createHanding({ group: name, consumer, pauseMs, clock, logger }),
        owned: new Set(),
        handling: new Map(),
        isStopped: false,
      }
      group.members.push(member)
      share(group)
      serve(group)
      return {
        partitions: () => [...member.owned].sort((a, b) => a - b),
        stop: () => leave(group, member),
      }
    },
    async rewind(name, partition, offset) {
      if (partitions[partition] === undefined) throw new RangeError(`no partition ${partition}`)
      const group = groupOf(name, 'oldest')
      if (group.members.some(({ owned }) => owned.has(partition)))
        throw new Error(`${name} is reading ${partition}`)
      group.next[partition] = offset === null ? 0 : Number(offset) + 1
    },
    async lag(name) {
      const group = groups.get(name)
      let lag = 0
      for (const [index, partition] of partitions.entries()) {
        lag += endOf(partition) - Math.max(partition.first, group?.next[index] ?? 0)
      }
      return lag
    },
    whenHandled(name) {
      const group = groups.get(name)
      if (group === undefined || group.members.length === 0) return null
      const unread = partitions.flatMap((partition, number) =>
        endOf(partition) > group.next[number]! ? [{ partition: number, end: endOf(partition) }] : [],
      )
      if (unread.length === 0) return null
      return Promise.all(
        unread.map((one) => new Promise<void>((resolve) => group.waiting.push({ ...one, resolve }))),
      )
    },
    async close() {
      isClosed = true
      for (const group of groups.values()) {
        await Promise.all([...group.members].map((member) => leave(group, member)))
      }
    },
  }
}
