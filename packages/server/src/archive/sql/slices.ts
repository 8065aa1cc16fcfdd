// Long work in slices. Work that grows with the length of a list (statements, sorting, filling a set) is
// done one slice at a time with a pause in between, so that other work on the event loop waits for one
// slice at most.
import { chunksOf } from '../../platform/chunks.ts'

/** The size of one slice: a number of items, or fewer where items are large. */
export interface SliceLimits<Item> {
  itemsMax: number
  /** A larger item is a slice of its own. */
  size?: { max: number; of: (item: Item) => number }
}

export type Pause = () => Promise<void>

/** A thousand items in memory take a millisecond or two. */
const ITEMS_PER_TURN = 1000

const UNSIZED = { max: 0, of: () => 0 }

export function* slicesOf<Item>(items: readonly Item[], limits: SliceLimits<Item>): Generator<Item[]> {
  const { itemsMax, size: { max: sizeMax, of: sizeOf } = UNSIZED } = limits
  let start = 0
  let size = 0
  for (const [at, item] of items.entries()) {
    const itemSize = sizeOf(item)
    if (at > start && (at - start === itemsMax || size + itemSize > sizeMax)) {
      yield items.slice(start, at)
      start = at
      size = 0
    }
    size += itemSize
  }
  if (start < items.length) yield items.slice(start)
}

/** Pauses between two slices, never before the first or after the last. */
export async function inSlices<Item>(
  items: readonly Item[],
  limits: SliceLimits<Item>,
  pause: Pause,
  run: (slice: readonly Item[]) => Promise<unknown>,
): Promise<void> {
  let isFirst = true
  for (const slice of slicesOf(items, limits)) {
    if (!isFirst) await pause()
    isFirst = false
    await run(slice)
  }
}

/** The distinct texts, sorted. */
export async function sortedSet(texts: readonly string[], pause: Pause): Promise<Set<string>> {
  const distinct = new Set<string>()
  let left = ITEMS_PER_TURN
  for (const text of await sorted(texts, pause)) {
    if (left-- === 0) {
      await pause()
      left = ITEMS_PER_TURN
    }
    distinct.add(text)
  }
  return distinct
}

/** Sorts short runs, then merges pairs of them until one is left. */
export async function sorted(texts: readonly string[], pause: Pause): Promise<readonly string[]> {
  let runs: string[][] = []
  for (const chunk of chunksOf(texts, ITEMS_PER_TURN)) {
    if (runs.length > 0) await pause()
    runs.push(chunk.sort())
  }
  while (runs.length > 1) {
    const merged: string[][] = []
    for (let at = 0; at < runs.length; at += 2) merged.push(await merge(runs[at]!, runs[at + 1] ?? [], pause))
    runs = merged
  }
  return runs[0] ?? []
}

async function merge(one: readonly string[], other: readonly string[], pause: Pause): Promise<string[]> {
  const merged: string[] = []
  let at = 0
  let otherAt = 0
  while (at < one.length || otherAt < other.length) {
    if (merged.length % ITEMS_PER_TURN === 0) await pause()
    const isNext = otherAt === other.length || (at < one.length && one[at]! <= other[otherAt]!)
    merged.push(isNext ? one[at++]! : other[otherAt++]!)
  }
  return merged
}
