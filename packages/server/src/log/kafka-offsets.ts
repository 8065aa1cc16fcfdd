// What Kafka remembers of groups: the offset of the next record for each partition. Offsets of a group without members
// can be set from outside; while it has members Kafka refuses.
import type { Admin } from '@platformatic/kafka'
import type { Clock } from '../platform/clock.ts'
import type { GroupStart } from './port.ts'

const EARLIEST = -2n
const LATEST = -1n
/** Longer than a member that died stays in its group, and than a broker that has just started takes to coordinate one. */
const BEGIN_ATTEMPTS_MAX = 60
const BEGIN_AGAIN_MS = 250

export interface KafkaOffsets {
  /** Says where a group begins that never read the topic. */
  begin(group: string, start: GroupStart): Promise<void>
  /** By partition; null where the group has none. */
  committed(group: string): Promise<(bigint | null)[]>
  set(group: string, offsets: ReadonlyMap<number, bigint>): Promise<void>
  /** By partition: the oldest record that is kept, and the one that comes next. */
  bounds(): Promise<{ oldest: bigint[]; next: bigint[] }>
}

export function createKafkaOffsets(
  admin: Admin,
  topic: string,
  partitionCount: number,
  clock: Pick<Clock, 'sleep'>,
): KafkaOffsets {
  const partitions = Array.from({ length: partitionCount }, (_, partition) => partition)

  async function listed(timestamp: bigint): Promise<bigint[]> {
    const asked = partitions.map((partitionIndex) => ({ partitionIndex, timestamp }))
    const [found] = await admin.listOffsets({ topics: [{ name: topic, partitions: asked }] })
    const offsets: bigint[] = partitions.map(() => 0n)
    for (const { partitionIndex, offset } of found?.partitions ?? []) offsets[partitionIndex] = offset
    return offsets
  }

  async function committed(group: string): Promise<(bigint | null)[]> {
    const topics = [{ name: topic, partitionIndexes: partitions }]
    const [found] = await admin.listConsumerGroupOffsets({ groups: [{ groupId: group, topics }] })
    const offsets: (bigint | null)[] = partitions.map(() => null)
    for (const { partitionIndex, committedOffset } of found?.topics[0]?.partitions ?? []) {
      if (committedOffset >= 0n) offsets[partitionIndex] = committedOffset
    }
    return offsets
  }

  async function set(group: string, offsets: ReadonlyMap<number, bigint>): Promise<void> {
    const partitionOffsets = Array.from(offsets, ([partition, offset]) => ({ partition, offset }))
    await admin.alterConsumerGroupOffsets({ groupId: group, topics: [{ name: topic, partitionOffsets }] })
  }

  return {
    committed,
    set,
    async begin(group, start) {
      for (let attempt = 1; ; attempt++) {
        try {
          const known = await committed(group)
          const missing = partitions.filter((partition) => known[partition] === null)
          if (missing.length === 0) return
          const offsets = await listed(start === 'oldest' ? EARLIEST : LATEST)
          return await set(group, new Map(missing.map((partition) => [partition, offsets[partition]!])))
        } catch (error) {
          // Another consumer of the group may have begun meanwhile, or no broker coordinates the group yet.
          if (attempt === BEGIN_ATTEMPTS_MAX) throw error
          await clock.sleep(BEGIN_AGAIN_MS)
        }
      }
    },
    async bounds() {
      const [oldest, next] = await Promise.all([listed(EARLIEST), listed(LATEST)])
      return { oldest, next }
    },
  }
}
