// Watching, without a gap: interest is registered first, the present state is read after, and only
// then, in one turn, the edges are added and the snapshot is made from the newest state known here.
// A change that arrives in between is already in that state; one that arrives later finds the edges.

import type { ChangeMessage } from '../bus/port.ts'
import { grown } from '../platform/typed-arrays.ts'
import type { Tracker } from '../presence/tracker.ts'
import { toPresence, unknownPresence } from '../presence/view.ts'
import type { PresenceStore } from '../store/port.ts'
import type { Interner } from './interner.ts'
import type { Outbox } from './outbox.ts'
import type { TargetTable } from './target-table.ts'

export interface Watches {
  /** How many users the connection watches. */
  degree(connection: number): number
  /** How many of these the connection does not watch yet. Ids are taken without repeats. */
  countNew(connection: number, userIds: readonly string[]): number
  /**
   * Starts watching and returns the state of everybody named, as JSON, without those whose version
   * the client knows. Null when the connection ended meanwhile.
   */
  watch(
    connection: number,
    userIds: readonly string[],
    known: Readonly<Record<string, number>>,
    isOpen: () => boolean,
  ): Promise<string[] | null>
  unwatch(connection: number, userIds: readonly string[]): void
  /** The connection ended. */
  clear(connection: number): void
  /** A change arrived from the bus. */
  receive(message: ChangeMessage): void
  /** Users somebody here watches. */
  targets(): number
}

export interface WatchesParts {
  interner: Interner
  targets: TargetTable
  outbox: Outbox
  store: PresenceStore
  tracker: Tracker
  gatewayId: string
}

export function createWatches(parts: WatchesParts): Watches {
  const { interner, targets, outbox, store, tracker, gatewayId } = parts
  const { index } = outbox
  /** Per target, the edges that lead to it and the watches still under way. */
  let holders = new Int32Array(0)
  let heldTargets = 0

  function hold(userId: string): number {
    const target = interner.acquire(userId)
    holders = grown(holders, target + 1)
    if (holders[target]!++ === 0) heldTargets++
    return target
  }

  function letGo(target: number): void {
    if (--holders[target]! === 0) {
      heldTargets--
      targets.forget(target)
      void store.removeInterest(gatewayId, [interner.name(target)])
    }
    interner.release(target)
  }

  async function learn(userIds: readonly string[]): Promise<void> {
    if (userIds.length === 0) return
    await store.addInterest(gatewayId, userIds)
    const records = await tracker.read(userIds)
    for (const [position, userId] of userIds.entries()) {
      const record = records[position] ?? null
      const presence = record === null ? unknownPresence(userId) : toPresence(userId, record)
      const target = interner.find(userId)
      // Nothing was known when we read, and a push has come since: version 0 would win over it.
      if (presence.version === 0 && targets.isKnown(target)) continue
      targets.update(target, presence.version, JSON.stringify(presence), 0)
    }
  }

  function isKnown(userId: string, target: number, known: Readonly<Record<string, number>>): boolean {
    if (!Object.hasOwn(known, userId)) return false
    if (known[userId] === targets.version(target)) return true
    // Somebody with nothing left to show is shown as version 0, whatever version they have here.
    return known[userId] === 0 && targets.json(target) === JSON.stringify(unknownPresence(userId))
  }

  return {
    degree: (connection) => index.degree(connection),

    countNew(connection, userIds) {
      let count = 0
      for (const userId of new Set(userIds)) {
        const target = interner.find(userId)
        if (target === -1 || !index.isWatching(connection, target)) count++
      }
      return count
    },

    async watch(connection, userIds, known, isOpen) {
      const distinct = [...new Set(userIds)]
      const held = distinct.map(hold)
      try {
        // Whoever is watched here already is kept up to date by pushes and need not be read.
        await learn(distinct.filter((_, position) => !targets.isKnown(held[position]!)))
        if (!isOpen()) return null
        const states: string[] = []
        for (const [position, target] of held.entries()) {
          if (index.watch(connection, target)) hold(distinct[position]!)
          const userId = distinct[position]!
          if (!isKnown(userId, target, known)) states.push(targets.json(target))
        }
        return states
      } finally {
        for (const target of held) letGo(target)
      }
    },

    unwatch(connection, userIds) {
      for (const userId of userIds) {
        const target = interner.find(userId)
        if (target !== -1 && index.unwatch(connection, target)) letGo(target)
      }
    },

    clear(connection) {
      outbox.forget(connection)
      index.clear(connection, letGo)
    },

    receive({ userId, version, json, at }) {
      const target = interner.find(userId)
      if (target === -1 || target >= holders.length || holders[target] === 0) return
      if (targets.update(target, version, json, at)) outbox.markTarget(target)
    },

    targets: () => heldTargets,
  }
}
