// Virtual time: what is to happen, in order. Between two events all promises that can go on have gone on, so a whole
// deployment runs in one thread, as fast as the machine can, and the same seed gives the same run. Everything that
// happens is mixed into a hash, by which two runs are compared.
import { drainMicrotasks } from 'bun:jsc'

/** Events at one instant. More are a chain that never lets time move on: a bug in the code under test. */
const EVENTS_PER_INSTANT_MAX = 100_000

interface Event {
  at: number
  order: number
  run: () => void
  isStopped: boolean
}

export interface Timeline {
  now(): number
  /** Runs at this instant, after everything that was set for it before. */
  at(at: number, run: () => void): { stop(): void }
  /** Lets time pass until this instant. */
  runUntil(at: number): void
  /** Lets time pass until this is true, at most until an instant; returns whether it is. */
  runUntilTrue(isTrue: () => boolean, until: number): boolean
  /** Mixes something that happened into the hash of the run. */
  note(text: string): void
  hash(): number
  events(): number
}

export function createTimeline(startAt: number): Timeline {
  const heap: Event[] = []
  let now = startAt
  let order = 0
  let events = 0
  let atThisInstant = 0
  let hash = 0x811c9dc5

  const isBefore = (a: Event, b: Event): boolean => a.at < b.at || (a.at === b.at && a.order < b.order)

  function push(event: Event): void {
    let place = heap.push(event) - 1
    while (place > 0) {
      const parent = (place - 1) >> 1
      if (!isBefore(event, heap[parent]!)) break
      heap[place] = heap[parent]!
      place = parent
    }
    heap[place] = event
  }

  function pop(): Event {
    const first = heap[0]!
    const last = heap.pop()!
    if (heap.length === 0) return first
    let place = 0
    for (;;) {
      let child = place * 2 + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++
      if (!isBefore(heap[child]!, last)) break
      heap[place] = heap[child]!
      place = child
    }
    heap[place] = last
    return first
  }

  function next(): void {
    const event = pop()
    if (event.isStopped) return
    atThisInstant = event.at > now ? 0 : atThisInstant + 1
    if (atThisInstant > EVENTS_PER_INSTANT_MAX) throw new Error(`events without end at ${now}`)
    now = event.at
    events++
    hash = Math.imul(hash ^ (event.order & 0xffff), 0x01000193)
    hash = Math.imul(hash ^ Math.floor(now * 1_000), 0x01000193)
    event.run()
    drainMicrotasks()
  }

  return {
    now: () => now,
    at(at, run) {
      const event = { at: Math.max(at, now), order: order++, run, isStopped: false }
      push(event)
      return {
        stop() {
          event.isStopped = true
        },
      }
    },
    runUntil(at) {
      drainMicrotasks()
      while (heap.length > 0 && heap[0]!.at <= at) next()
      now = at
    },
    runUntilTrue(isTrue, until) {
      drainMicrotasks()
      while (!isTrue() && heap.length > 0 && heap[0]!.at <= until) next()
      return isTrue()
    },
    note(text) {
      for (let index = 0; index < text.length; index++)
        hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
    },
    hash: () => hash >>> 0,
    events: () => events,
  }
}
