// People who have to be read from the archive before anything is done to them. A person's works leave in
// the order they came, and while one is here none of theirs is done elsewhere. Each work has a reading that
// began when it came: it is not ready any sooner because something else of theirs was waiting already, which
// may be a secret. Nobody waits for another person, unless the archive is asked too much at once.

import type { UserRecord } from '../core/record.ts'
import type { Recall, Recalled } from '../reading/recall.ts'
import { join, type Work } from './work.ts'

/** Past it what happens to a person joins the last that waits. */
const WORKS_PER_PERSON_MAX = 8
/** Questions to the archive at a time; past it people gather for the next one. */
const READINGS_MAX = 16
const READ_TOGETHER_MAX = 1_000

type Works = Map<string, Work>

export interface WaitingRoom {
  isWaiting(userId: string): boolean
  /** Reads these people. */
  admit(works: ReadonlyMap<string, Work>): void
  /** Some of those who were read, with one work of each person; null when there are none. */
  take(): Works | null
  /** What became of a person by something that left: what was read of them before is not true any more. */
  outdate(userId: string, record: UserRecord): void
  /** People here. */
  size(): number
  /** The lowest number of a work here. */
  oldest(): number
}

export function createWaitingRoom(recall: Recall, onReady: () => void): WaitingRoom {
  /** Of each person here, their works in order. */
  const seats = new Map<string, Work[]>()
  const gathering: Works = new Map()
  let readings = 0
  const ready: Works[] = []

  function admit(works: ReadonlyMap<string, Work>): void {
    const isCrowded = readings >= READINGS_MAX
    const group: Works = isCrowded ? gathering : new Map()
    for (const [userId, work] of works) {
      const seated = seats.get(userId)
      const last = seated?.at(-1)
      if (last !== undefined && (seated!.length >= WORKS_PER_PERSON_MAX || group.get(userId) === last)) {
        join(last, work)
        continue
      }
      if (seated === undefined) seats.set(userId, [work])
      else seated.push(work)
      group.set(userId, work)
    }
    if (!isCrowded && group.size > 0) void read(group)
  }

  async function read(group: Works): Promise<void> {
    readings++
    const recalled = await recall.orAfresh([...group.keys()])
    readings--
    seat(group, recalled)
    if (gathering.size > 0) void read(takeGathered())
    onReady()
  }

  function takeGathered(): Works {
    const group: Works = new Map()
    for (const [userId, work] of gathering) {
      if (group.size === READ_TOGETHER_MAX) break
      group.set(userId, work)
      gathering.delete(userId)
    }
    return group
  }

  /** Whoever is not the first of theirs stays until those before have left. */
  function seat(group: Works, recalled: readonly Recalled[]): void {
    let next = 0
    for (const [userId, work] of group) {
      work.recalled = recalled[next++]!
      if (seats.get(userId)![0] !== work) group.delete(userId)
    }
    if (group.size > 0) ready.push(group)
  }

  function leave(userId: string): Work | null {
    const seated = seats.get(userId)!
    seated.shift()
    const [following] = seated
    if (following === undefined) seats.delete(userId)
    return following !== undefined && following.recalled !== null ? following : null
  }

  return {
    admit,
    isWaiting: (userId) => seats.has(userId),
    take() {
      const group = ready.shift()
      if (group === undefined) return null
      const followers: Works = new Map()
      for (const userId of group.keys()) {
        const following = leave(userId)
        if (following !== null) followers.set(userId, following)
      }
      if (followers.size > 0) ready.push(followers)
      return group
    },
    outdate(userId, record) {
      for (const work of seats.get(userId) ?? []) work.since = record
    },
    size: () => seats.size,
    oldest() {
      let oldest = Number.POSITIVE_INFINITY
      for (const [first] of seats.values()) oldest = Math.min(oldest, first!.number)
      return oldest
    },
  }
}
