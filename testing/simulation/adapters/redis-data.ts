// The keys of one simulated Redis node, with the primitives that commands and scripts are made of. As in Redis, values
// are texts, a collection without entries does not exist, and a key of one type is never read as another.

export interface StreamEntry {
  id: string
  fields: string[]
}

interface Stream {
  entries: StreamEntry[]
  lastMs: number
  lastNumber: number
}

type Value = string | Set<string> | Map<string, string> | SortedSet | Stream

/** Members by score. */
class SortedSet {
  readonly scores = new Map<string, number>()
}

export interface RangeOptions {
  /** Inclusive, unless the text begins with a bracket. */
  min: string
  max: string
  limit?: number
}

export class RedisData {
  private values = new Map<string, Value>()

  keys(): string[] {
    return [...this.values.keys()]
  }

  clear(): void {
    this.values.clear()
  }

  copy(): Map<string, Value> {
    const copied = new Map<string, Value>()
    for (const [key, value] of this.values) copied.set(key, copyOf(value))
    return copied
  }

  replace(values: Map<string, Value>): void {
    this.values = values
  }

  delete(key: string): boolean {
    return this.values.delete(key)
  }

  exists(key: string): boolean {
    return this.values.has(key)
  }

  get(key: string): string | null {
    return (this.values.get(key) as string | undefined) ?? null
  }

  set(key: string, value: string): void {
    this.values.set(key, value)
  }

  setAdd(key: string, member: string): boolean {
    const set = this.made(key, () => new Set<string>())
    const isNew = !set.has(member)
    set.add(member)
    return isNew
  }

  setRemove(key: string, member: string): boolean {
    const set = this.values.get(key) as Set<string> | undefined
    const wasThere = set?.delete(member) ?? false
    if (set?.size === 0) this.values.delete(key)
    return wasThere
  }

  setMembers(key: string): string[] {
    return [...((this.values.get(key) as Set<string> | undefined) ?? [])]
  }

  hashGet(key: string, field: string): string | null {
    return (this.values.get(key) as Map<string, string> | undefined)?.get(field) ?? null
  }

  hashSet(key: string, field: string, value: string): void {
    this.made(key, () => new Map<string, string>()).set(field, value)
  }

  hashRemove(key: string, field: string): void {
    const hash = this.values.get(key) as Map<string, string> | undefined
    hash?.delete(field)
    if (hash?.size === 0) this.values.delete(key)
  }

  hashAll(key: string): [string, string][] {
    return [...((this.values.get(key) as Map<string, string> | undefined) ?? [])]
  }

  sortedAdd(key: string, member: string, score: number): void {
    this.made(key, () => new SortedSet()).scores.set(member, score)
  }

  sortedRemove(key: string, member: string): void {
    const set = this.values.get(key) as SortedSet | undefined
    set?.scores.delete(member)
    if (set?.scores.size === 0) this.values.delete(key)
  }

  score(key: string, member: string): number | null {
    return (this.values.get(key) as SortedSet | undefined)?.scores.get(member) ?? null
  }

  /** Members and scores, lowest first; equal scores by member. */
  sortedRange(key: string, { min, max, limit }: RangeOptions): [string, number][] {
    const set = this.values.get(key) as SortedSet | undefined
    if (set === undefined) return []
    const [low, isLowOut] = bound(min)
    const [high, isHighOut] = bound(max)
    const found: [string, number][] = []
    for (const entry of set.scores) {
      const score = entry[1]
      if (score < low || score > high || (isLowOut && score === low) || (isHighOut && score === high))
        continue
      found.push(entry)
    }
    if (found.length > 1) found.sort((a, b) => a[1] - b[1] || (a[0] < b[0] ? -1 : 1))
    return limit === undefined ? found : found.slice(0, limit)
  }

  streamAdd(key: string, nowMs: number, fields: string[], lengthMax: number): void {
    const stream = this.made(key, (): Stream => ({ entries: [], lastMs: 0, lastNumber: 0 }))
    // Ids never go back, whatever the clock does.
    if (nowMs > stream.lastMs) [stream.lastMs, stream.lastNumber] = [nowMs, 0]
    else stream.lastNumber++
    stream.entries.push({ id: `${stream.lastMs}-${stream.lastNumber}`, fields })
    if (stream.entries.length > lengthMax) stream.entries.splice(0, stream.entries.length - lengthMax)
  }

  streamLastId(key: string): string {
    const stream = this.values.get(key) as Stream | undefined
    return stream === undefined ? '0-0' : `${stream.lastMs}-${stream.lastNumber}`
  }

  streamLength(key: string): number {
    return (this.values.get(key) as Stream | undefined)?.entries.length ?? 0
  }

  streamAfter(key: string, id: string, limit: number): StreamEntry[] {
    const entries = (this.values.get(key) as Stream | undefined)?.entries ?? []
    return entries.filter((entry) => isIdBefore(id, entry.id)).slice(0, limit)
  }

  private made<T extends Value>(key: string, make: () => T): T {
    let value = this.values.get(key) as T | undefined
    if (value === undefined) {
      value = make()
      this.values.set(key, value)
    }
    return value
  }
}

export function isIdBefore(a: string, b: string): boolean {
  const [aMs, aNumber] = a.split('-').map(Number) as [number, number]
  const [bMs, bNumber] = b.split('-').map(Number) as [number, number]
  return aMs < bMs || (aMs === bMs && aNumber < bNumber)
}

function bound(text: string): [value: number, isExcluded: boolean] {
  if (text === '-inf') return [Number.NEGATIVE_INFINITY, false]
  if (text === '+inf') return [Number.POSITIVE_INFINITY, false]
  return text.startsWith('(') ? [Number(text.slice(1)), true] : [Number(text), false]
}

function copyOf(value: Value): Value {
  if (typeof value === 'string') return value
  if (value instanceof Set) return new Set(value)
  if (value instanceof Map) return new Map(value)
  if (value instanceof SortedSet) {
    const copied = new SortedSet()
    for (const [member, score] of value.scores) copied.scores.set(member, score)
    return copied
  }
  return { ...value, entries: [...value.entries] }
}
