// A map with a limit that drops its older half at a time: when it is full, and when that half is past its time,
// so that users who are gone leave nothing behind. Dropping the oldest entries one by one would be exact and
// slow: the runtime's maps walk over every deleted entry before the oldest one.

export interface RecentMap<V, K = string> {
  get(key: K): V | undefined
  /** The entry set last is dropped last. */
  set(key: K, value: V, now?: number): void
  delete(key: K): void
}

/** Entries stay for `keptMs` at least, unless there are too many. Without it the time does not matter. */
export function createRecentMap<V, K = string>(
  max: number,
  keptMs = Number.POSITIVE_INFINITY,
): RecentMap<V, K> {
  let young = new Map<K, V>()
  let old = new Map<K, V>()
  let youngSince = 0

  function makeRoom(now: number): void {
    // The clock was set back.
    if (now < youngSince) youngSince = now
    const ageMs = now - youngSince
    if (young.size < max / 2 && ageMs < keptMs) return
    old = ageMs < 2 * keptMs ? young : new Map()
    young = new Map()
    youngSince = now
  }

  return {
    get: (key) => young.get(key) ?? old.get(key),
    set(key, value, now = 0) {
      makeRoom(now)
      old.delete(key)
      young.set(key, value)
    },
    delete(key) {
      young.delete(key)
      old.delete(key)
    },
  }
}
