// Watching, without a gap: interest is registered first, the present state is read after, and only
// then, in one turn, the edges are added and the snapshot is made from the newest state known here.
// A change that arrives in between is already in that state; one that arrives later finds the edges.

import type { ChangeMessage, ErasedMessage } from '../../bus/port.ts'
import { grown } from '../../platform/typed-arrays.ts'
import { type Discretion, type PrivacyRules, UNGUARDED } from '../../presence/core/privacy.ts'
import { isBare, type UserRecord } from '../../presence/core/record.ts'
import { wins } from '../../presence/core/setting-events.ts'
import { toPresence, unknownPresence } from '../../presence/core/view.ts'
import type { Tracker } from '../../presence/pipeline/tracker.ts'
import type { Answer, Reader } from '../../presence/reading/reader.ts'
import type { PresenceStore } from '../../store/port.ts'
import { FOLLOWED, HELD_BACK, isInDoubt, NAMED, sightOf } from '../delivery/edge-flags.ts'
import type { Outbox } from '../delivery/outbox.ts'
import { unpushed } from '../delivery/plans.ts'
import { isNothingKnown, type TargetTable } from '../delivery/target-table.ts'
import { NIL } from '../delivery/watch-index.ts'
import type { Interner } from '../interner.ts'
import type { Decision, Sights } from './view-levels.ts'
import type { Discretions } from './visibility-inputs.ts'
import type { Openness } from './watcher-exposure.ts'

export interface Watches {
  /** How many users the connection watches. */
  degree(connection: number): number
  /** How many of these the connection does not watch yet. Ids are taken without repeats. */
  countNew(connection: number, userIds: readonly string[]): number
  /**
   * Starts watching and returns the state of everybody named, as JSON and as far as the viewer may see
   * it, without those whose version the client knows. Null when the connection ended meanwhile.
   */
  watch(connection: number, userIds: readonly string[], options: WatchOptions): Promise<string[] | null>
  unwatch(connection: number, userIds: readonly string[]): void
  /** Whom the connection watches by name. */
  named(connection: number): string[]
  /** Whom the connection watches because they are in the list it follows. */
  followed(connection: number): string[]
  /** These are not in that list any more; returns those it does not watch any more either. */
  unfollow(connection: number, userIds: readonly string[]): string[]
  /** Keeps what is known of a user up to date though nobody watches them; ends with `disregard`. */
  attend(userId: string): Promise<number>
  disregard(user: number): void
  /** Whether it is known of everybody watched what the connection may see. */
  isSettled(connection: number): boolean
  /** The versions of these as the connection sees them; 0 where it does not watch. */
  versionsSeen(connection: number, userIds: readonly string[]): number[]
  /** The connection ended. */
  clear(connection: number): void
  /** A change arrived from the bus. */
  receive(message: ChangeMessage): void
  /** Nothing is known of this user any more. */
  erase(message: ErasedMessage): void
  /** Registers the interest in everybody watched here again, under the gateway's present name. */
  registerAgain(): Promise<void>
  /** Reads everybody watched here again, and sends what was missed. */
  refresh(): Promise<void>
  /** Users somebody here watches. */
  targets(): number
}

export interface WatchOptions {
  known: Readonly<Record<string, number>>
  /** Whether the client named them, or they are in the contact list it follows. */
  why: typeof NAMED | typeof FOLLOWED
  /** False once the connection has ended. */
  isOpen(): boolean
}

export interface WatchesParts {
  interner: Interner
  targets: TargetTable
  outbox: Outbox
  store: PresenceStore
  reader: Reader
  tracker: Tracker
  discretions: Discretions
  sights: Sights
  openness: Openness
  rules: PrivacyRules
  gatewayId: () => string
  /** Resolves when what was done in this turn of the loop is known here; at once where that takes longer. */
  settle(): Promise<void>
  /** Interest could not be registered: changes may be missed until it is. */
  onTrouble(): void
  now(): number
}

const BATCH_USERS = 500

function* inBatches(userIds: readonly string[]): Generator<readonly string[]> {
  for (let from = 0; from < userIds.length; from += BATCH_USERS) yield userIds.slice(from, from + BATCH_USERS)
}

export function createWatches(parts: WatchesParts): Watches {
  const { interner, targets, outbox, store, reader, tracker, gatewayId, settle, onTrouble, now } = parts
  const { discretions, sights, openness, rules } = parts
  const { index } = outbox
  /** Per target, the edges that lead to it and the watches still under way. */
  let holders = new Int32Array(0)
  let heldTargets = 0
  /** By target, for the one walk that is under way. */
  let edgeOf = new Int32Array(0)

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

  const presenceOf = (userId: string, record: UserRecord | null) =>
    record === null ? unknownPresence(userId, rules.hiddenAs) : toPresence(userId, record, rules.hiddenAs)

  type Read = (userIds: readonly string[]) => Promise<Answer>
  const readOwn: Read = ([userId]) => reader.readOwn(userId!)

  async function learn(userIds: readonly string[], read: Read): Promise<void> {
    if (userIds.length === 0) return
    await store.addInterest(gatewayId(), userIds).catch(onTrouble)
    const { records } = await read(userIds)
    for (const [position, userId] of userIds.entries()) {
      const record = records[position] ?? null
      const presence = presenceOf(userId, record)
      const target = interner.find(userId)
      // Read before they were erased, or changed otherwise: what is known here is newer, who may see it as well.
      if (targets.isKnown(target) && (record?.version ?? 0) < targets.version(target)) continue
      // Before anything else is said about them: it must not go to those who may not hear it.
      const { privacy, contactsAt } = record ?? UNGUARDED
      if (discretions.learn(target, { privacy, contactsAt })) sights.review(target)
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

  function knowledgeOf(userId: string): { version: number | null; discretion: Discretion } {
    const target = interner.find(userId)
    const isKnown = target !== -1 && targets.isKnown(target)
    return { version: isKnown ? targets.version(target) : null, discretion: discretions.of(target) }
  }

  /** What the store says of who may see them, unless it has lost what people already went by. */
  function reconcileDiscretion(userId: string, target: number, record: UserRecord | null): void {
    const { privacy, contactsAt } = record ?? UNGUARDED
    const known = discretions.of(target).privacy
    if (record !== null && !isBare(record) && known !== null && known !== privacy && wins(known, privacy))
      tracker.report(userId, { type: 'set_privacy', at: known.setAt, change: known })
    else if (discretions.replace(target, { privacy, contactsAt })) sights.review(target)
  }

  /** Brings what is shown here to what the store says, in a version above the one people know. */
  function reconcile(userId: string, record: UserRecord | null): void {
    const target = interner.find(userId)
    if (target === -1 || !targets.isKnown(target)) return
    const presence = presenceOf(userId, record)
    const json = JSON.stringify(presence)
    reconcileDiscretion(userId, target, record)
    if (json === targets.json(target)) return
    if (presence.version > 0 && presence.version <= targets.version(target)) {
      // The store lost what people were shown, and clients keep the higher version.
      tracker.report(userId, { type: 'outrun', version: targets.version(target) })
    } else if (targets.update(target, presence.version, json, now())) outbox.markTarget(target)
  }

  /** Whether a client that knows this version need not be told what it is about to be told. */
  function isKnown(target: number, json: string, known: Readonly<Record<string, number>>): boolean {
    const userId = interner.name(target)
    if (!Object.hasOwn(known, userId)) return false
    // Whoever is hidden, or has nothing to show, is told as version 0, whatever version they have here.
    if (isNothingKnown(json)) return known[userId] === 0
    // With privacy of their own, what is seen of one version need not be what was seen of it before.
    return known[userId] === targets.version(target) && discretions.of(target).privacy === null
  }

  /** The edges from a connection to these, NIL where there is none, in one walk. */
  function edgesTo(connection: number, searched: readonly number[]): number[] {
    edgeOf = grown(edgeOf, holders.length)
    for (const target of searched) edgeOf[target] = NIL
    for (let edge = index.firstTarget(connection); edge !== NIL; edge = index.nextTarget(edge))
      edgeOf[index.targetOf(edge)] = edge
    return searched.map((target) => edgeOf[target] ?? NIL)
  }

  function edgeTo(connection: number, target: number, decision: Decision): number {
    const edge = index.add(connection, target, !openness.isOpen(sights.viewerOf(connection)))
    interner.retain(target)
    holders[target]!++
    sights.place(edge, decision)
    return edge
  }

  /**
   * Where the audience is full whoever comes new is told the state, and that nothing follows it. Not of
   * those of whom nothing is known: nothing may tell them from people who are hidden.
   */
  function turnAway(edge: number): string | null {
    const flags = index.flags(edge)
    if (!outbox.isFull(edge) || (flags & (NAMED | FOLLOWED)) !== 0) return null
    const [connection, target] = [index.connectionOf(edge), index.targetOf(edge)]
    const json = targets.seen(target, sightOf(flags))
    if (isNothingKnown(json)) return null
    index.unwatch(connection, target)
    letGo(target)
    return unpushed(json)
  }

  function watchedFor(connection: number, why: number): string[] {
    const userIds: string[] = []
    for (let edge = index.firstTarget(connection); edge !== NIL; edge = index.nextTarget(edge)) {
      if ((index.flags(edge) & why) !== 0) userIds.push(interner.name(index.targetOf(edge)))
    }
    return userIds
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

    async watch(connection, userIds, { known: versions, why, isOpen }) {
      const distinct = [...new Set(userIds)]
      const held = distinct.map(hold)
      try {
        // Whoever is watched here already is kept up to date by pushes and need not be read. That they
        // watch somebody themselves, or that somebody hidden watches them, must not make the answer come sooner.
        const isNew = (target: number) => !targets.isKnown(target) || !openness.isOpenlyWatched(target)
        const viewerId = interner.name(sights.viewerOf(connection))
        await learn(
          distinct.filter((_, position) => isNew(held[position]!)),
          (userIds) => reader.read(userIds, viewerId),
        )
        if (!isOpen()) return null
        const decisions = await sights.decide(connection, held)
        await settle()
        if (!isOpen()) return null
        const states: string[] = []
        const edges = edgesTo(connection, held)
        for (const [position, target] of held.entries()) {
          const isNew = edges[position] === NIL
          const edge = isNew ? edgeTo(connection, target, decisions[position]!) : edges[position]!
          const answer = turnAway(edge)
          if (answer !== null) {
            states.push(answer)
            continue
          }
          const flags = index.flags(edge) | why
          // Asked for again while it is in doubt what they may see: told when that is settled.
          index.setFlags(edge, isInDoubt(flags) ? flags | HELD_BACK : flags)
          if (isInDoubt(flags)) continue
          const json = targets.seen(target, sightOf(flags))
          if (!isKnown(target, json, versions)) states.push(json)
        }
        return states
      } finally {
        for (const target of held) letGo(target)
      }
    },

    named: (connection) => watchedFor(connection, NAMED),
    followed: (connection) => watchedFor(connection, FOLLOWED),

    unfollow(connection, userIds) {
      const dropped = new Set<number>()
      for (const edge of edgesTo(connection, userIds.map(interner.find))) {
        if (edge === NIL) continue
        const flags = index.flags(edge) & ~FOLLOWED
        index.setFlags(edge, flags)
        if ((flags & NAMED) === 0) dropped.add(index.targetOf(edge))
      }
      const names = [...dropped].map((target) => interner.name(target))
      index.unwatchAll(connection, dropped)
      for (const target of dropped) letGo(target)
      return names
    },

    unwatch(connection, userIds) {
      for (const userId of userIds) {
        const target = interner.find(userId)
        if (target !== -1 && index.unwatch(connection, target)) letGo(target)
      }
    },

    async attend(userId) {
      const user = hold(userId)
      try {
        // Whoever watches them may have read them already; that must not make it any sooner.
        await learn([userId], readOwn)
        return user
      } catch (error) {
        letGo(user)
        throw error
      }
    },

    disregard: letGo,

    isSettled(connection) {
      for (let edge = index.firstTarget(connection); edge !== NIL; edge = index.nextTarget(edge)) {
        if (isInDoubt(index.flags(edge))) return false
      }
      return true
    },

    versionsSeen(connection, userIds) {
      return edgesTo(connection, userIds.map(interner.find)).map((edge) => {
        if (edge === NIL) return 0
        const target = index.targetOf(edge)
        const json = targets.seen(target, sightOf(index.flags(edge)))
        return isNothingKnown(json) ? 0 : targets.version(target)
      })
    },

    clear(connection) {
      outbox.forget(connection)
      index.clear(connection, letGo)
    },

    receive({ userId, version, json, at, discretion }) {
      const target = interner.find(userId)
      if (target === -1 || target >= holders.length || holders[target] === 0) return
      // First who may see it, then what there is to see.
      if (discretion !== null && discretions.learn(target, discretion)) sights.review(target)
      if (targets.update(target, version, json, at)) outbox.markTarget(target)
    },

    erase({ userId, version, at }) {
      const target = interner.find(userId)
      if (target === -1) return
      const isHeld = target < holders.length && holders[target]! > 0
      const wasKnown = targets.isKnown(target)
      const json = JSON.stringify(unknownPresence(userId, rules.hiddenAs))
      // It goes out by the sights of before: whoever saw nothing hears nothing now either. Whoever is still to
      // be read is known by this already, so that what was read before it comes too late.
      if (isHeld && targets.update(target, version, json, at) && wasKnown) outbox.markTarget(target)
      if (discretions.replace(target, UNGUARDED)) sights.review(target)
    },

    async registerAgain() {
      for (const userIds of inBatches(watchedIds())) await store.addInterest(gatewayId(), userIds)
    },

    async refresh() {
      for (const userIds of inBatches(watchedIds())) {
        const before = userIds.map((userId) => knowledgeOf(userId))
        const { records, isDegraded } = await reader.readAnew(userIds)
        if (isDegraded) throw new Error('the store went away while watched users were read again')
        for (const [position, userId] of userIds.entries()) {
          // A push that came while we read is newer than what we read.
          const { version, discretion } = knowledgeOf(userId)
          if (version === before[position]!.version && discretion === before[position]!.discretion)
            reconcile(userId, records[position] ?? null)
        }
      }
    },

    targets: () => heldTargets,
  }
}
