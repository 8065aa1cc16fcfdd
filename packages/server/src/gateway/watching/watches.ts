// Watching without a gap: interest is registered first, the present state is read after, and only then, in
// one turn, the edges are added and the snapshot is made from the newest state known here. A change that
// arrives in between is already in that state; one that arrives later finds the edges.

import type { Failure } from '@greendot/protocol'
import type { Clock } from '../../platform/clock.ts'
import { grown, NIL } from '../../platform/typed-arrays.ts'
import type { PrivacyRules } from '../../presence/core/privacy.ts'
import { freshVersion } from '../../presence/core/version.ts'
import { unknownPresence } from '../../presence/core/view.ts'
import {
  type Delivery,
  encoded,
  FOLLOWED,
  isNothingKnown,
  NAMED,
  unpushed,
  type WatchReason,
} from '../delivery/delivery.ts'
import type { Interner } from '../interner.ts'
import type { Decision, LevelDecisions } from './level-decisions.ts'
import type { LevelReviews } from './level-reviews.ts'
import type { MemoryTrust } from './memory-trust.ts'
import { watchLimitFailure } from './state-frames.ts'
import type { TargetReading } from './target-reading.ts'
import type { Viewers } from './viewers.ts'
import type { InputTable } from './visibility-inputs.ts'
import type { WatchedTargets } from './watched-targets.ts'

/** Privacy that changes while contact lists are asked makes a decision outdated; then it is made again. */
const DECIDE_ATTEMPTS_MAX = 4

/** Versions that the client knows, by user id. */
export type KnownVersions = Readonly<Record<string, number>>

export interface WatchOptions {
  known: KnownVersions
  /** Whether the client named the users, or they are in the contact list it follows. */
  reason: WatchReason
  /** False once the connection has ended. */
  isOpen(): boolean
}

export interface Watches {
  /** Why the connection may not watch these as well; null when it may. */
  limitFailure(connection: number, userIds: readonly string[]): Failure | null
  /**
   * Starts watching and returns the states of the users named, in the connection's encoding and as far as the viewer may
   * see them, without those whose version the client knows. Null when the connection ended meanwhile.
   */
  watch(connection: number, userIds: readonly string[], options: WatchOptions): Promise<string[] | null>
  unwatch(connection: number, userIds: readonly string[]): void
  /** Users that the connection watches by name. */
  named(connection: number): string[]
  /** Users that the connection watches because they are in the list it follows. */
  followed(connection: number): string[]
  /** These are not in that list any more; returns those that the connection does not watch any more. */
  unfollow(connection: number, userIds: readonly string[]): string[]
  /** The versions of these as the connection sees them; 0 where it does not watch. */
  versionsSeen(connection: number, userIds: readonly string[]): number[]
  /** Whether no look-up is under way for an edge of the connection. */
  hasNoHolds(connection: number): boolean
  /** The connection ended. */
  clear(connection: number): void
}

export interface WatchesParts {
  interner: Interner
  delivery: Delivery
  viewers: Viewers
  inputs: InputTable
  decisions: LevelDecisions
  reviews: LevelReviews
  watched: WatchedTargets
  reading: TargetReading
  memory: MemoryTrust
  rules: Pick<PrivacyRules, 'hiddenAs'>
  watchLimit: number
  clock: Clock
}

export function createWatches(parts: WatchesParts): Watches {
  const { interner, delivery, viewers, inputs, decisions, reviews, watched, reading, memory, rules } = parts
  const { watchLimit, clock } = parts
  const { edges, targets } = delivery
  /** By target, for the one walk that is under way. */
  let edgeOf = new Int32Array(0)

  /** The edges from a connection to these, NIL where there is none, in one walk. */
  function edgesTo(connection: number, searched: readonly number[]): number[] {
    for (const target of searched) {
      edgeOf = grown(edgeOf, target + 1, NIL)
      if (target !== NIL) edgeOf[target] = NIL
    }
    for (let edge = edges.firstTarget(connection); edge !== NIL; edge = edges.nextTarget(edge)) {
      const target = edges.targetOf(edge)
      if (target < edgeOf.length) edgeOf[target] = edge
    }
    return searched.map((target) => (target === NIL ? NIL : edgeOf[target]!))
  }

  /**
   * Whether the client was shown a newer version than is known here: this gateway missed a message, or goes by what the
   * archive knew. A version from the future is no version of ours.
   */
  function isBehind(target: number, known: KnownVersions): boolean {
    const userId = interner.name(target)
    if (!Object.hasOwn(known, userId)) return false
    const shown = targets.objectVersion(target)
    return shown > 0 && known[userId]! > shown && known[userId]! <= freshVersion(clock.now())
  }

  /** Whether a client that knows this version need not be told this state. */
  function isKnown(target: number, json: string, known: KnownVersions): boolean {
    const userId = interner.name(target)
    if (!Object.hasOwn(known, userId)) return false
    // A hidden user, or one with nothing to show, is told as version 0, whatever version it has here.
    if (isNothingKnown(json)) return known[userId] === 0
    // With privacy settings, what is seen of one version need not be what was seen of it before.
    return known[userId] === targets.version(target) && inputs.of(target).privacy === null
  }

  /**
   * Targets that are watched here already are kept up to date by pushes, as long as these arrive. One of which the client
   * was shown a newer version is read again. Resolves with those of which the store said what is true now.
   */
  function load(
    userIds: readonly string[],
    retained: readonly number[],
    { known }: WatchOptions,
  ): Promise<ReadonlySet<string>> {
    const isTrusted = memory.isTrusted()
    const isUpToDate = (target: number) => targets.isKnown(target) && isTrusted && !isBehind(target, known)
    // Where neither store nor archive answers the watch fails: a target may be hidden by now.
    return reading.load(userIds.filter((_, position) => !isUpToDate(retained[position]!)))
  }

  /** What the viewer may see of each, by inputs that are still true; null when the connection ended meanwhile. */
  async function decide(
    connection: number,
    retained: readonly number[],
    isOpen: () => boolean,
  ): Promise<Decision[] | null> {
    const viewer = viewers.userOf(connection)
    for (let attempt = 1; ; attempt++) {
      const decided = await decisions.decideMany(viewer, retained)
      if (!isOpen()) return null
      // Edges that exist have their own reviews.
      const isNew = (target: number) => edges.find(connection, target) === NIL
      const isOutdated = (decision: Decision, position: number) =>
        decisions.isOutdated(decision, viewer, retained[position]!) && isNew(retained[position]!)
      // Later changes are told by a review, as a change after a snapshot without the target.
      if (attempt === DECIDE_ATTEMPTS_MAX || !decided.some(isOutdated)) return decided
    }
  }

  /**
   * Where the audience is full, a new watcher gets the state and no changes. Not of a target that shows the
   * viewer nothing: a hidden user must look like an unknown one.
   */
  function turnAway(edge: number): string | null {
    const target = edges.targetOf(edge)
    if (!delivery.isFull(target) || edges.reasons(edge) !== 0) return null
    const json = targets.jsonFor(target, edges.levelOf(edge))
    if (isNothingKnown(json)) return null
    const connection = edges.connectionOf(edge)
    delivery.unwatch(connection, target)
    watched.release(target)
    return encoded(unpushed(json), delivery.encodingOf(connection))
  }

  /** The states for the answer to a watch; none when the client knows it or is told later. */
  function snapshot(edge: number, { known, reason }: WatchOptions, certain: ReadonlySet<string>): string[] {
    const answer = turnAway(edge)
    if (answer !== null) return [answer]
    const target = edges.targetOf(edge)
    delivery.addReason(edge, reason)
    if (edges.isHeld(edge)) {
      delivery.oweWhileHeld(edge)
      return []
    }
    const level = edges.levelOf(edge)
    const json = targets.jsonFor(target, level)
    const encoding = delivery.encodingOf(edges.connectionOf(edge))
    const text = () => targets.textFor(target, level, encoding)
    const userId = interner.name(target)
    if (!isNothingKnown(json) && isBehind(target, known)) {
      // The store has lost the version that the client was shown. Only version 0 takes it back.
      if (certain.has(userId))
        return [encoded(JSON.stringify(unknownPresence(userId, rules.hiddenAs)), encoding), text()]
      // Perhaps the store has lost it. Taken as known here, so that a refresh shows what the store has above it (P27).
      delivery.learn(target, known[userId]!, targets.json(target), clock.now())
      return []
    }
    return isKnown(target, json, known) ? [] : [text()]
  }

  function watchedFor(connection: number, reason: WatchReason): string[] {
    const userIds: string[] = []
    for (let edge = edges.firstTarget(connection); edge !== NIL; edge = edges.nextTarget(edge))
      if ((edges.reasons(edge) & reason) !== 0) userIds.push(interner.name(edges.targetOf(edge)))
    return userIds
  }

  return {
    limitFailure(connection, userIds) {
      const degree = edges.degree(connection)
      if (degree + userIds.length <= watchLimit) return null
      const isNew = (userId: string) => edges.find(connection, interner.find(userId)) === NIL
      const total = degree + [...new Set(userIds)].filter(isNew).length
      return total > watchLimit ? watchLimitFailure(total, watchLimit) : null
    },

    async watch(connection, userIds, options) {
      const { isOpen } = options
      const distinct = [...new Set(userIds)]
      const retained = distinct.map(watched.retain)
      try {
        const certain = await load(distinct, retained, options)
        if (!isOpen()) return null
        const decided = await decide(connection, retained, isOpen)
        if (decided === null) return null
        const states: string[] = []
        const existing = edgesTo(connection, retained)
        for (const [position, target] of retained.entries()) {
          let edge = existing[position]!
          if (edge === NIL) {
            edge = delivery.watch(connection, target)
            watched.retainAgain(target)
            reviews.place(edge, decided[position]!)
          }
          states.push(...snapshot(edge, options, certain))
        }
        return states
      } finally {
        for (const target of retained) watched.release(target)
      }
    },

    unwatch(connection, userIds) {
      for (const userId of userIds) {
        const target = interner.find(userId)
        if (target !== NIL && delivery.unwatch(connection, target)) watched.release(target)
      }
    },

    named: (connection) => watchedFor(connection, NAMED),
    followed: (connection) => watchedFor(connection, FOLLOWED),

    unfollow(connection, userIds) {
      const dropped = new Set<number>()
      for (const edge of edgesTo(connection, userIds.map(interner.find))) {
        if (edge === NIL) continue
        delivery.dropReason(edge, FOLLOWED)
        if (edges.reasons(edge) === 0) dropped.add(edges.targetOf(edge))
      }
      const names = [...dropped].map((target) => interner.name(target))
      delivery.unwatchAll(connection, dropped)
      for (const target of dropped) watched.release(target)
      return names
    },

    versionsSeen(connection, userIds) {
      return edgesTo(connection, userIds.map(interner.find)).map((edge) => {
        if (edge === NIL) return 0
        const target = edges.targetOf(edge)
        return isNothingKnown(targets.jsonFor(target, edges.levelOf(edge))) ? 0 : targets.version(target)
      })
    },

    hasNoHolds(connection) {
      for (let edge = edges.firstTarget(connection); edge !== NIL; edge = edges.nextTarget(edge))
        if (edges.isHeld(edge)) return false
      return true
    },

    clear: (connection) => delivery.clear(connection, watched.release),
  }
}
