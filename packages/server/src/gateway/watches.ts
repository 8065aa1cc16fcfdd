// Watching, without a gap: interest is registered first, the present state is read after, and only
// then, in one turn, the edges are added and the snapshot is made from the newest state known here.
// A change that arrives in between is already in that state; one that arrives later finds the edges.

import type { ChangeMessage } from '../bus/port.ts'
import { grown } from '../platform/typed-arrays.ts'
import type { Reader } from '../presence/reader.ts'
import type { UserRecord } from '../presence/record.ts'
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
  /** Registers the interest in everybody watched here again, under the gateway's present name. */
  registerAgain(): Promise<void>
  /** Reads everybody watched here again, and sends what was missed. */
  refresh(): Promise<void>
  /** Users somebody here watches. */
  targets(): number
}

export interface WatchesParts {
  interner: Interner
  targets: TargetTable
  outbox: Outbox
  store: PresenceStore
  reader: Reader
  tracker: Tracker
  gatewayId: () => string
  /** Interest could not be registered: changes may be missed until it is. */
  onTrouble(): void
  now(): number
}

const BATCH_USERS = 500

function* inBatches(userIds: readonly string[]): Generator<readonly string[]> {
  for (let from = 0; from < userIds.length; from += BATCH_USERS) yield userIds.slice(from, from + BATCH_USERS)
}

export function createWatches(parts: WatchesParts): Watches {
  const { interner, targets, outbox, store, reader, tracker, gatewayId, onTrouble, now } = parts
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
      // What is not removed costs a message now and then, and goes with our name.
      store.removeInterest(gatewayId(), [interner.name(target)]).catch(onTrouble)
    }
    interner.release(target)
  }

  async function learn(userIds: readonly string[]): Promise<void> {
    if (userIds.length === 0) return
    await store.addInterest(gatewayId(), userIds).catch(onTrouble)
    const { records } = await reader.read(userIds)
    for (const [position, userId] of userIds.entries()) {
      const record = records[position] ?? null
      const presence = record === null ? unknownPresence(userId) : toPresence(userId, record)
      const target = interner.find(userId)
      // Nothing was known when we read, and a push has come since: version 0 would win over it.
      if (presence.version === 0 && targets.isKnown(target)) continue
      // Somebody who began to watch meanwhile, and read before us, was told less than this.
      if (targets.update(target, presence.version, JSON.stringify(presence), now())) outbox.markTarget(target)
    }
  }

  function watchedIds(): string[] {
    const userIds: string[] = []
    for (let target = 0; target < holders.length; target++) {
      if (holders[target]! > 0) userIds.push(interner.name(target))
    }
    return userIds
  }

  function versionOf(userId: string): number | null {
    const target = interner.find(userId)
    return target !== -1 && targets.isKnown(target) ? targets.version(target) : null
  }

  /** Brings what is shown here to what the store says, in a version above the one people know. */
  function reconcile(userId: string, record: UserRecord | null): void {
    const target = interner.find(userId)
    if (target === -1 || !targets.isKnown(target)) return
    const presence = record === null ? unknownPresence(userId) : toPresence(userId, record)
    const json = JSON.stringify(presence)
    if (json === targets.json(target)) return
    if (presence.version > 0 && presence.version <= targets.version(target)) {
      // The store lost what people were shown, and clients keep the higher version.
      tracker.report(userId, { type: 'outrun', version: targets.version(target) })
    } else if (targets.update(target, presence.version, json, now())) outbox.markTarget(target)
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

    async registerAgain() {
      for (const userIds of inBatches(watchedIds())) await store.addInterest(gatewayId(), userIds)
    },

    async refresh() {
      for (const userIds of inBatches(watchedIds())) {
        const versions = userIds.map((userId) => versionOf(userId))
        const { records, isDegraded } = await reader.read(userIds)
        if (isDegraded) throw new Error('the store went away while watched users were read again')
        for (const [position, userId] of userIds.entries()) {
          // A push that came while we read is newer than what we read.
          if (versionOf(userId) === versions[position]) reconcile(userId, records[position] ?? null)
        }
      }
    },

    targets: () => heldTargets,
  }
}
