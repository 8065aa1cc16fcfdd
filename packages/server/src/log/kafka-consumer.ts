// One consumer of a group on a Kafka topic. It is a member of the group as long as Kafka answers; when the membership
// ends it becomes a new member after a pause. A partition is read and handled apart from the others. Its offset is
// committed soon after each batch, and before it is handed to another member.
import type { Consumer } from '@platformatic/kafka'
import type { Clock } from '../platform/clock.ts'
import { within } from '../platform/within.ts'
import type { Handing } from './handing.ts'
import {
  createMember,
  type KafkaLibrary,
  type MemberOptions,
  type Outage,
  reasonOf,
} from './kafka-clients.ts'
import { createKafkaCommits } from './kafka-commits.ts'
import { type Fetched, fetchRecords, isOutOfRange } from './kafka-fetching.ts'
import type { KafkaOffsets } from './kafka-offsets.ts'
import type { Consumption, LogConsumer } from './port.ts'

const RETRY_FIRST_MS = 100
const RETRY_MS_MAX = 2_000
/** After a fetch, batches that are handled this soon are part of the next one. */
const GATHER_MS = 20
/** How long Kafka waits for a record. */
const WAIT_MS_MAX = 200
const LEAVE_MS_MAX = 2_000

export interface KafkaConsumerParts {
  kafka: KafkaLibrary
  membership: Omit<MemberOptions, 'beforeJoin'>
  /** A client that is no member, for reading. */
  reader: Consumer
  offsets: KafkaOffsets
  consumer: LogConsumer
  handing: Handing
  outage: Outage
  clock: Clock
}

interface Held {
  member: Consumer
  /** The generation of the group when the partition was assigned. */
  generation: number
  next: bigint
}

export function startKafkaConsumer(parts: KafkaConsumerParts): Consumption {
  const { kafka, membership, reader, offsets, consumer, handing, outage, clock } = parts
  const { group, topic, sessionMs } = membership
  const held = new Map<number, Held>()
  const handling = new Map<number, Promise<void>>()
  const rests = new Set<() => void>()
  const commits = createKafkaCommits(clock, commit)
  let isStopped = false

  /** Ends early when something changed. */
  function rest(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        timer.stop()
        rests.delete(end)
        resolve()
      }
      const timer = clock.after(ms, end)
      rests.add(end)
    })
  }

  function wake(): void {
    for (const end of rests) end()
  }

  /** Until the work has ended, well or not, or for this long. */
  const waitFor = (work: Promise<unknown>, msMax: number): Promise<unknown> =>
    within(
      clock,
      msMax,
      work.catch(() => undefined),
      () => undefined,
    )

  function revoke(): void {
    const revoked = [...held.keys()]
    held.clear()
    handing.wake()
    if (revoked.length > 0) consumer.onRevoked?.(revoked)
  }

  /** Not for longer than the session lasts, because a member that waits sends no heartbeats. */
  async function beforeJoin(): Promise<void> {
    revoke()
    await waitFor(finish(), sessionMs / 2)
  }

  async function finish(): Promise<void> {
    await Promise.all(handling.values())
    await commits.flush()
  }

  async function assign(member: Consumer, generation: number, assigned: readonly number[]): Promise<void> {
    const committed = await offsets.committed(group)
    if (isStopped || member.generationId !== generation) return
    // An offset that is missing or too old is corrected by the first fetch.
    for (const partition of assigned) {
      held.set(partition, { member, generation, next: committed[partition] ?? 0n })
    }
    if (assigned.length > 0) consumer.onAssigned?.(assigned)
    outage.back()
    wake()
  }

  /** Resolves with the reason when the membership has ended. */
  async function belong(): Promise<unknown> {
    const { promise: ended, resolve: end } = Promise.withResolvers<unknown>()
    const member = createMember(kafka, { ...membership, beforeJoin })
    let aliveAt = clock.elapsed()
    member.on('error', end)
    member.on('consumer:heartbeat:end', () => {
      aliveAt = clock.elapsed()
    })
    member.on('consumer:group:rebalance', revoke)
    member.on('consumer:group:join', ({ assignments = [], generationId = 0 }) => {
      aliveAt = clock.elapsed()
      const assigned = assignments
        .filter((one) => one.topic === topic)
        .flatMap(({ partitions }) => partitions)
      assign(member, generationId, assigned).catch(end)
    })
    // While it joins it sends no heartbeats, and may have to wait for other members.
    const silenceMsMax = (): number => (held.size > 0 ? sessionMs : sessionMs + membership.rebalanceMs)
    const watching = clock.every(sessionMs / 4, () => {
      if (clock.elapsed() - aliveAt > silenceMsMax()) end('no answer to heartbeats')
    })
    endMembership = () => end(null)
    try {
      member.joinGroup({}).catch(end)
      const why = await ended
      if (isStopped) await finish()
      return why
    } finally {
      watching.stop()
      revoke()
      // A member that cannot leave is dropped by Kafka when its session ends.
      await waitFor(closed(member), LEAVE_MS_MAX)
      if (!member.closed) void member.connections.close().catch(() => {})
    }
  }

  let endMembership = (): void => {}

  async function keepBelonging(): Promise<void> {
    for (let failures = 0; !isStopped; failures++) {
      const startedAt = clock.elapsed()
      const why = await belong()
      if (isStopped) return
      outage.away(why)
      if (clock.elapsed() - startedAt > RETRY_MS_MAX * 2) failures = 0
      const pauseMs = Math.min(RETRY_FIRST_MS * 2 ** failures, RETRY_MS_MAX)
      const until = clock.elapsed() + pauseMs
      while (!isStopped && clock.elapsed() < until) await rest(until - clock.elapsed())
    }
  }

  async function handle(partition: number, one: Held, { entries, next }: Fetched): Promise<void> {
    const isOver = (): boolean => isStopped || held.get(partition) !== one
    const isHandled = entries.length === 0 || (await handing.hand(partition, entries, isOver))
    if (isHandled) {
      one.next = next
      commits.put(partition, one)
    }
    handling.delete(partition)
    wake()
  }

  async function commit(handled: ReadonlyMap<number, Held>): Promise<void> {
    // In a later generation the partition may be another member's, which may have committed more.
    const valid = [...handled].filter(([, { member, generation }]) => member.generationId === generation)
    const [first] = valid
    if (first === undefined) return
    await first[1].member.commit({
      offsets: valid.map(([partition, { next }]) => ({ topic, partition, offset: next, leaderEpoch: -1 })),
    })
  }

  /** Records may have gone before they were read, or the topic may have been made anew. */
  async function correct(): Promise<void> {
    const { oldest, next } = await offsets.bounds()
    for (const [partition, one] of held) {
      if (handling.has(partition)) continue
      if (one.next < oldest[partition]! || one.next > next[partition]!) one.next = oldest[partition]!
    }
  }

  async function read(): Promise<void> {
    const ready = new Map([...held].filter(([partition]) => !handling.has(partition)))
    if (ready.size === 0) return rest(RETRY_MS_MAX)
    const from = new Map(Array.from(ready, ([partition, { next }]) => [partition, next]))
    // A fetch that waits keeps out the partitions that are being handled.
    const waitMs = ready.size < held.size ? GATHER_MS : WAIT_MS_MAX
    for (const [partition, fetched] of await fetchRecords(kafka, reader, topic, from, waitMs)) {
      const one = ready.get(partition)!
      if (isStopped || held.get(partition) !== one || handling.has(partition)) continue
      handling.set(partition, handle(partition, one, fetched))
    }
    const until = clock.elapsed() + GATHER_MS
    // The end of each batch wakes this. To wait for the promises would add to one that never settles, again and again.
    while (handling.size > 0 && !isStopped && clock.elapsed() < until) await rest(until - clock.elapsed())
  }

  async function keepReading(): Promise<void> {
    let failures = 0
    while (!isStopped) {
      try {
        await read()
        failures = 0
      } catch (error) {
        reader.clearMetadata()
        const isCorrected =
          isOutOfRange(error) &&
          (await correct().then(
            () => true,
            () => false,
          ))
        if (isCorrected) continue
        if (failures > 0) outage.away(reasonOf(error))
        await rest(Math.min(RETRY_FIRST_MS * 2 ** failures++, RETRY_MS_MAX))
      }
    }
  }

  const belonging = keepBelonging()
  const reading = keepReading()
  let stopping: Promise<void> | null = null

  async function stop(): Promise<void> {
    isStopped = true
    handing.wake()
    endMembership()
    wake()
    await belonging
    await reading
    await waitFor(closed(reader), LEAVE_MS_MAX)
  }

  return {
    partitions: () => [...held.keys()].sort((a, b) => a - b),
    stop() {
      stopping ??= stop()
      return stopping
    },
  }
}

/** Leaves the group, if it is a member. */
const closed = (client: Consumer): Promise<void> =>
  new Promise((resolve, reject) => {
    client.close(true, (error) => (error ? reject(error) : resolve()))
  })
