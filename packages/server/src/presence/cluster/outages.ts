// When updates did not get through: a part of the store was away, or Kafka was, or no owner answered. A shard that lost
// its memory settles until gateways had time to announce their sessions, and announcements are updates. So a shard that
// settles during an outage settles again after it. Otherwise connected users would be shown offline until it is over.
import type { Clock } from '../../platform/clock.ts'
import type { PresenceStore } from '../../store/port.ts'

export interface Outages {
  /** From now on updates do not get through. */
  begin(): void
  /** Updates get through again. */
  end(): void
  /** One update did not get through: an outage that ends at once. */
  notice(): void
  /** The same store, whose shards settle after outages. */
  settling(store: PresenceStore): PresenceStore
}

/** `settleMs`: the time that gateways have. An outage that begins earlier after another one continues it. */
export function createOutages(clock: Clock, settleMs: number): Outages {
  let startedAt = Number.POSITIVE_INFINITY
  let endedAt = Number.NEGATIVE_INFINITY
  let isOut = false

  function begin(): void {
    if (isOut) return
    isOut = true
    if (clock.now() > endedAt + settleMs) startedAt = clock.now()
  }

  function end(): void {
    if (!isOut) return
    isOut = false
    endedAt = clock.now()
  }

  function settlesAt(at: number): number {
    if (at < startedAt) return at
    return Math.max(at, (isOut ? clock.now() : endedAt) + settleMs)
  }

  return {
    begin,
    end,
    notice() {
      if (isOut) return
      begin()
      end()
    },
    settling: (store) => ({ ...store, settlesAt: (shard) => settlesAt(store.settlesAt(shard)) }),
  }
}
