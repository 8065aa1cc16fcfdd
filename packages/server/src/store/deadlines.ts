// The deadline queue behind the sweeper: which key is due when. An indexed binary heap. Moving or removing
// a deadline changes its one entry, so a user whose deadline changes a thousand times costs one entry, and
// there are no stale entries.
//
// Keys have numbered slots. `heap` is always a permutation of all slots: the first `size` places are the
// heap, the rest are free. Sifting moves integers in typed arrays and never hashes a key.

export interface Deadline {
  key: string
  at: number
}

export interface Deadlines {
  readonly size: number
  /** Adds the key, or moves it when it is already there. */
  set(key: string, at: number): void
  delete(key: string): boolean
  has(key: string): boolean
  first(): Deadline | null
  /** Deadlines at or before `now`, earliest first, at most `limit`. Nothing is removed. */
  due(now: number, limit: number): Deadline[]
}

const CAPACITY_MIN = 64

export function createDeadlines(): Deadlines {
  const slotByKey = new Map<string, number>()
  const keyBySlot: string[] = []
  let atBySlot = new Float64Array(0)
  let positionBySlot = new Uint32Array(0)
  let heap = new Uint32Array(0)
  let size = 0

  function grow(): void {
    const capacity = Math.max(CAPACITY_MIN, heap.length * 2)
    const grownAt = new Float64Array(capacity)
    grownAt.set(atBySlot)
    const grownPosition = new Uint32Array(capacity)
    grownPosition.set(positionBySlot)
    const grownHeap = new Uint32Array(capacity)
    grownHeap.set(heap)
    for (let slot = heap.length; slot < capacity; slot++) grownHeap[slot] = slot
    atBySlot = grownAt
    positionBySlot = grownPosition
    heap = grownHeap
  }

  function place(slot: number, position: number): void {
    heap[position] = slot
    positionBySlot[slot] = position
  }

  const atOf = (position: number): number => atBySlot[heap[position]!]!

  function siftUp(from: number): void {
    const slot = heap[from]!
    const at = atBySlot[slot]!
    let position = from
    while (position > 0) {
      const parent = (position - 1) >> 1
      if (atOf(parent) <= at) break
      place(heap[parent]!, position)
      position = parent
    }
    place(slot, position)
  }

  function siftDown(from: number): void {
    const slot = heap[from]!
    const at = atBySlot[slot]!
    let position = from
    for (;;) {
      let child = position * 2 + 1
      if (child >= size) break
      if (child + 1 < size && atOf(child + 1) < atOf(child)) child += 1
      if (at <= atOf(child)) break
      place(heap[child]!, position)
      position = child
    }
    place(slot, position)
  }

  function set(key: string, at: number): void {
    // NaN compares false with everything and would silently break the order of the heap.
    if (Number.isNaN(at)) throw new Error(`deadline of ${key} is not a number`)
    const known = slotByKey.get(key)
    if (known !== undefined) {
      const before = atBySlot[known]!
      atBySlot[known] = at
      if (at < before) siftUp(positionBySlot[known]!)
      else if (at > before) siftDown(positionBySlot[known]!)
      return
    }
    if (size === heap.length) grow()
    const slot = heap[size]!
    slotByKey.set(key, slot)
    keyBySlot[slot] = key
    atBySlot[slot] = at
    size += 1
    siftUp(size - 1)
  }

  function remove(key: string): boolean {
    const slot = slotByKey.get(key)
    if (slot === undefined) return false
    slotByKey.delete(key)
    keyBySlot[slot] = ''
    size -= 1
    const position = positionBySlot[slot]!
    const moved = heap[size]!
    heap[size] = slot
    if (position < size) {
      place(moved, position)
      // The entry that fills the gap comes from elsewhere in the tree, so it may move up or down.
      siftUp(position)
      siftDown(positionBySlot[moved]!)
    }
    return true
  }

  const deadlineAt = (position: number): Deadline => ({
    key: keyBySlot[heap[position]!]!,
    at: atOf(position),
  })

  // Walks the heap from the root, always to the earliest position not yet visited. The cost depends on
  // the number of results, not on how many deadlines are due.
  function due(now: number, limit: number): Deadline[] {
    const found: Deadline[] = []
    const frontier: number[] = []
    if (size > 0 && atOf(0) <= now) frontier.push(0)
    while (frontier.length > 0 && found.length < limit) {
      const position = popEarliest(frontier, atOf)
      found.push(deadlineAt(position))
      const child = position * 2 + 1
      if (child < size && atOf(child) <= now) pushPosition(frontier, child, atOf)
      if (child + 1 < size && atOf(child + 1) <= now) pushPosition(frontier, child + 1, atOf)
    }
    return found
  }

  return {
    get size() {
      return size
    },
    set,
    delete: remove,
    has: (key) => slotByKey.has(key),
    first: () => (size === 0 ? null : deadlineAt(0)),
    due,
  }
}

// The frontier of `due` is a small heap of heap positions, never longer than `limit` plus one.

function pushPosition(frontier: number[], position: number, atOf: (position: number) => number): void {
  let index = frontier.length
  frontier.push(position)
  while (index > 0) {
    const parent = (index - 1) >> 1
    if (atOf(frontier[parent]!) <= atOf(position)) break
    frontier[index] = frontier[parent]!
    index = parent
  }
  frontier[index] = position
}

function popEarliest(frontier: number[], atOf: (position: number) => number): number {
  const earliest = frontier[0]!
  const last = frontier.pop()!
  if (frontier.length === 0) return earliest
  let index = 0
  for (;;) {
    let child = index * 2 + 1
    if (child >= frontier.length) break
    if (child + 1 < frontier.length && atOf(frontier[child + 1]!) < atOf(frontier[child]!)) child += 1
    if (atOf(last) <= atOf(frontier[child]!)) break
    frontier[index] = frontier[child]!
    index = child
  }
  frontier[index] = last
  return earliest
}
