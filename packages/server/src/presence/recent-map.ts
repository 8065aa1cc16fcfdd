// A map that holds at most so many, and forgets its older half at a time. To take out the oldest one by one
// would be exact and slow: the runtime's maps walk over all that was taken out before it.

export interface RecentMap<V> {
  get(key: string): V | undefined
  /** What is set last is forgotten last. */
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
