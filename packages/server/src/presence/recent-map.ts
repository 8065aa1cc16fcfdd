// A map with a limit that drops its older half at a time. Dropping the oldest entries one by one would be
// exact and slow: the runtime's maps walk over every deleted entry before the oldest one.

export interface RecentMap<V> {
  get(key: string): V | undefined
  /** The entry set last is dropped last. */
  set(key: string, value: V): void
  delete(key: string): void
}

export function createRecentMap<V>(max: number): RecentMap<V> {
  let young = new Map<string, V>()
  let old = new Map<string, V>()

  return {
    get: (key) => young.get(key) ?? old.get(key),
    set(key, value) {
      old.delete(key)
      young.set(key, value)
      if (young.size < max / 2) return
      old = young
      young = new Map()
    },
    delete(key) {
      young.delete(key)
      old.delete(key)
    },
  }
}
