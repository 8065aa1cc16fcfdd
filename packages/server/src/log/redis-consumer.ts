// One consumer of a group on a change log in Redis. It says again and again that it is alive, holds as many partitions
// as its quota, gives away what is above it, and reads what it holds. An offset is kept only by the holder of the
// lease, so a consumer that was paused and replaced cannot take the group back.
import type { Clock } from '../platform/clock.ts'
import type { Handing } from './handing.ts'
import type { Consumption, LogConsumer, LogEntry } from './port.ts'
import type { RedisPartitions } from './redis-partitions.ts'
import { quotaOf } from './shares.ts'

const RENEW_EVERY_MS = 500
/** While it has fewer partitions than its quota: another consumer is about to release some. */
const TAKE_EVERY_MS = 100
const READ_EVERY_MS = 50
const READ_IDLE_EVERY_MS = 500
const RENEWALS_PER_LEASE = 3

export interface RedisConsumerParts {
  partitions: RedisPartitions
  partitionCount: number
  name: string
  leaseMs: number
  consumer: LogConsumer
  handing: Handing
  clock: Clock
}

interface Held {
  offset: string
  /** On the monotonic clock of this process: counted from before the call, so it is never later than in Redis. */
  leaseUntil: number
}

export async function startRedisConsumer(parts: RedisConsumerParts): Promise<Consumption> {
  const { partitions, partitionCount, name, leaseMs, consumer, handing, clock } = parts
  const held = new Map<number, Held>()
  const handling = new Map<number, Promise<void>>()
  const rests = new Set<() => void>()
  let renewedAt = Number.NEGATIVE_INFINITY
  let hasMore = false
  let isStopped = false

  const isHeld = (shard: number, one: Held): boolean =>
    held.get(shard) === one && clock.elapsed() < one.leaseUntil

  function drop(shards: readonly number[]): void {
    if (shards.length === 0) return
    for (const shard of shards) held.delete(shard)
    consumer.onRevoked?.(shards)
  }

  async function renew(): Promise<void> {
    const sentAt = clock.elapsed()
    if (sentAt - renewedAt < leaseMs / RENEWALS_PER_LEASE) return
    const asked = [...held]
    const offsets = await partitions.renew(asked.map(([shard]) => shard))
    renewedAt = sentAt
    for (const [shard, one] of asked) {
      const offset = offsets.get(shard)
      if (offset === undefined) continue
      one.leaseUntil = sentAt + leaseMs
      // What Redis has is right: it may have lost the end of the stream together with the offset.
      if (!handling.has(shard)) one.offset = offset
    }
    drop(
      asked.filter(([shard, one]) => !offsets.has(shard) && held.get(shard) === one).map(([shard]) => shard),
    )
  }

  /** Gives partitions away that are above the quota, but none that is being handled. */
  async function release(count: number): Promise<void> {
    const idle = [...held.keys()].filter((shard) => !handling.has(shard)).slice(0, count)
    drop(idle)
    if (idle.length > 0) await partitions.release(idle)
  }

  async function take(count: number): Promise<void> {
    const free = Array.from({ length: partitionCount }, (_, shard) => shard).filter(
      (shard) => !held.has(shard) && !handling.has(shard),
    )
    const sentAt = clock.elapsed()
    const taken = await partitions.take(free, count)
    if (isStopped) return
    for (const [shard, offset] of taken) held.set(shard, { offset, leaseUntil: sentAt + leaseMs })
    if (taken.size > 0) consumer.onAssigned?.([...taken.keys()])
    if (taken.size > 0) wake()
  }

  /** Returns how long to wait for the next time. */
  async function renewMembership(): Promise<number> {
    const names = await partitions.sayAlive()
    await renew()
    const quota = quotaOf(names.indexOf(name), names.length, partitionCount)
    if (held.size > quota) await release(held.size - quota)
    if (held.size < quota) await take(quota - held.size)
    return held.size === quota ? RENEW_EVERY_MS : TAKE_EVERY_MS
  }

  async function keepMembership(): Promise<void> {
    let waitMs = TAKE_EVERY_MS
    while (!isStopped) {
      await rest(waitMs, false)
      if (isStopped) return
      // While Redis is away nothing can be done but see which leases have run out.
      waitMs = await renewMembership().catch(() => RENEW_EVERY_MS)
      const at = clock.elapsed()
      drop([...held].filter(([, one]) => one.leaseUntil <= at).map(([shard]) => shard))
    }
  }

  async function handle(shard: number, one: Held, entries: readonly LogEntry[]): Promise<void> {
    const isHandled = await handing.hand(shard, entries, () => isStopped || !isHeld(shard, one))
    // When the offset cannot be kept, the same entries come again.
    if (isHandled) {
      const kept = await partitions.keep(shard, entries.at(-1)!.offset).catch(() => one.offset)
      if (kept !== null) one.offset = kept
      else if (held.get(shard) === one) drop([shard])
    }
    handling.delete(shard)
    wake()
  }

  async function read(): Promise<boolean> {
    const ready = new Map([...held].filter(([shard, one]) => !handling.has(shard) && isHeld(shard, one)))
    if (ready.size === 0) return false
    const read = await partitions.read(new Map(Array.from(ready, ([shard, { offset }]) => [shard, offset])))
    for (const [shard, entries] of read) {
      const one = ready.get(shard)!
      if (!isStopped && isHeld(shard, one)) handling.set(shard, handle(shard, one, entries))
    }
    return read.size > 0
  }

  async function keepReading(): Promise<void> {
    let waitMs = READ_EVERY_MS
    while (!isStopped) {
      hasMore = false
      const hasRead = await read().catch(() => false)
      waitMs = hasRead ? READ_EVERY_MS : Math.min(waitMs * 2, READ_IDLE_EVERY_MS)
      if (!hasMore) await rest(waitMs, true)
    }
  }

  /** Ends early when the consumer stops, and if asked for, when there may be something to read. */
  function rest(ms: number, isReading: boolean): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        timer.stop()
        rests.delete(end)
        if (isReading) wakeReader = () => {}
        resolve()
      }
      const timer = clock.after(ms, end)
      rests.add(end)
      if (isReading) wakeReader = end
    })
  }

  let wakeReader = (): void => {}
  function wake(): void {
    hasMore = true
    wakeReader()
  }

  async function stop(): Promise<void> {
    isStopped = true
    handing.wake()
    for (const end of rests) end()
    await partitions.leave().catch(() => {})
    await release(held.size).catch(() => {})
    await Promise.all([renewing, reading])
    await Promise.all(handling.values())
    // Also what a call took that was on its way. What cannot be released now is free when its lease ends.
    const all = Array.from({ length: partitionCount }, (_, shard) => shard)
    drop([...held.keys()])
    await partitions.release(all).catch(() => {})
    await partitions.leave().catch(() => {})
  }

  await renewMembership()
  const renewing = keepMembership()
  const reading = keepReading()
  let stopping: Promise<void> | null = null

  return {
    partitions: () => [...held.keys()].sort((a, b) => a - b),
    stop() {
      stopping ??= stop()
      return stopping
    },
  }
}
