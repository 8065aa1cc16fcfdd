// The door of this room: the bytes of each watched target, the edges that lead to its watchers, and when
// each connection is sent what changed. It knows connections as numbers with a sink and is handed everything
// it sends; it asks no other part of the gateway anything.
import type { Clock } from '../../platform/clock.ts'
import type { Tally } from '../../platform/measuring/tally.ts'
import type { Span } from '../../platform/measuring/tracing.ts'
import { NIL } from '../../platform/typed-arrays.ts'
import type { Evaluator } from '../../presence/privacy/evaluator.ts'
import type { ViewLevel } from '../../presence/privacy/visibility.ts'
import type { Interner } from '../interner.ts'
import { createFollowedChanges } from './followed-changes.ts'
import { createOutbox, type Outbox } from './outbox.ts'
import { type Plans, planFor } from './plans.ts'
import { createTargetTable, isNothingKnown, type TargetTable } from './target-table.ts'
import { createWatchEdges, type WatchEdges, type WatchReason } from './watch-edges.ts'
import { createWaves, type Pace, USUAL_PACE } from './waves.ts'

export { changeFrame, type Encoding, encoded, stateFrame } from './encodings.ts'
export type { Sink } from './outbox.ts'
export { unpushed } from './plans.ts'
export { isNothingKnown } from './target-table.ts'
export { FOLLOWED, NAMED, type WatchReason } from './watch-edges.ts'

/** Edges are changed by the verbs below; every part may read them. */
type EdgeReads = Pick<
  WatchEdges,
  | 'find'
  | 'degree'
  | 'count'
  | 'watchers'
  | 'firstWatcher'
  | 'nextWatcher'
  | 'firstTarget'
  | 'nextTarget'
  | 'connectionOf'
  | 'targetOf'
  | 'levelOf'
  | 'isHidden'
  | 'isHeld'
  | 'isMarked'
  | 'reasons'
>
type TargetReads = Pick<TargetTable, 'isKnown' | 'version' | 'json' | 'objectVersion' | 'jsonFor' | 'textFor'>
type OutboxVerbs = Pick<
  Outbox,
  'attach' | 'encodingOf' | 'detach' | 'send' | 'own' | 'unblock' | 'isBlocked' | 'blocked'
>

export interface Delivery extends OutboxVerbs {
  edges: EdgeReads
  targets: TargetReads

  /** The newest state of a target; false when what is known is newer or the same. Its watchers are told. */
  change(target: number, version: number, json: string, at: number): boolean
  /** The span of the newest change of a target: it ends with the first frame that has the change. */
  follow(target: number, span: Span): void
  /** Takes the state in without telling watchers; false as above. */
  learn(target: number, version: number, json: string, at: number): boolean
  /** The target has no watchers any more. */
  forget(target: number): void

  /** A new edge from a connection that does not watch the target yet. */
  watch(connection: number, target: number): number
  unwatch(connection: number, target: number): boolean
  unwatchAll(connection: number, targets: ReadonlySet<number>): void
  /** Drops every edge of a connection; `dropped` is called with each target. */
  clear(connection: number, dropped: (target: number) => void): void
  addReason(edge: number, reason: WatchReason): void
  dropReason(edge: number, reason: WatchReason): void

  /** Whether the edge counts where the size of the audience shows. */
  setCounted(edge: number, isCounted: boolean): void
  /** Sets what the viewer of a new edge sees, before the snapshot is made. */
  place(edge: number, level: ViewLevel): void
  /** What the viewer may see is being looked up: until `reveal` nothing is told. */
  hold(edge: number): void
  /** The client asked again during a hold: the state is told when it ends. */
  oweWhileHeld(edge: number): void
  /** What the viewer may see is known. The viewer is told once, and only if it looks different. */
  reveal(edge: number, level: ViewLevel): void

  /** Whether the connection has been told everything. */
  isCaughtUp(connection: number): boolean
  /** Whether watchers can be turned away, so that the size of an audience shows. */
  hasLimit: boolean
  /** Whether the target has more watchers than are told of changes. */
  isFull(target: number): boolean
  waves(): { walking: number; waiting: number }
  stop(): void
}

export interface DeliveryParts {
  interner: Pick<Interner, 'name'>
  evaluator: Pick<Evaluator, 'present'>
  clock: Clock
  flushMs: number
  plans: Plans
  pace?: Pace
  tally: Tally
}

export function createDelivery(parts: DeliveryParts): Delivery {
  const { interner, evaluator, clock, flushMs, plans, pace = USUAL_PACE, tally } = parts
  const edges = createWatchEdges()
  const targets = createTargetTable({
    nameOf: interner.name,
    mask: (json, level) => JSON.stringify(evaluator.present(JSON.parse(json), level, clock.now())),
    now: clock.now,
  })
  const followed = createFollowedChanges()
  const outbox = createOutbox({ edges, targets, clock, flushMs, tally, followed })
  const waves = createWaves({ edges, outbox, plans, pace, flushMs, clock })

  function announce(target: number): void {
    if (planFor(edges.watchers(target), plans) !== 'instant') waves.changed(target)
    else {
      waves.cancel(target)
      for (let edge = edges.firstWatcher(target); edge !== NIL; edge = edges.nextWatcher(edge))
        outbox.mark(edge)
    }
  }

  function isOwedByWave(connection: number): boolean {
    if (waves.walking() + waves.waiting() === 0) return false
    for (let edge = edges.firstTarget(connection); edge !== NIL; edge = edges.nextTarget(edge))
      if (edges.isOwedByWave(edge) && !edges.isHidden(edge)) return true
    return false
  }

  return {
    ...outbox,
    edges,
    targets,
    change(target, version, json, at) {
      const isNew = targets.update(target, version, json, at)
      if (isNew) announce(target)
      return isNew
    },
    follow: (target, span) => followed.follow(target, span, edges.watchers(target)),
    learn: targets.update,
    forget(target) {
      followed.drop(target)
      targets.forget(target)
      waves.cancel(target)
    },
    watch: edges.add,
    unwatch: edges.remove,
    unwatchAll: edges.removeAll,
    clear: edges.clear,
    addReason: edges.addReason,
    dropReason: edges.dropReason,
    setCounted: edges.setCounted,
    place: (edge, level) => void edges.reveal(edge, level),
    hold(edge) {
      // A wave that is still to come must find exactly the viewers that may be told of its change (S6, decision 23:
      // content).
      waves.payOff(edge)
      if (edges.isHeld(edge) || edges.isHidden(edge)) return
      // The viewer has been told of a blank target, which looks like a hidden one. What the target shows
      // later is for the look-up to decide: holding it back would tell a viewer who ends up with nothing (S6,
      // decision 23: content).
      const isBlank = isNothingKnown(targets.json(edges.targetOf(edge)))
      if (isBlank && !edges.isMarked(edge)) edges.reveal(edge, 'nothing')
      else edges.hold(edge)
    },
    oweWhileHeld: edges.oweAnew,
    reveal(edge, level) {
      waves.payOff(edge)
      const target = edges.targetOf(edge)
      const before = targets.jsonFor(target, edges.levelOf(edge))
      const isOwed = edges.reveal(edge, level)
      if (!isOwed && before === targets.jsonFor(target, level)) return
      if (!isOwed) edges.showAnew(edge)
      outbox.markAlways(edge)
    },
    isCaughtUp: (connection) => outbox.isFlushed(connection) && !isOwedByWave(connection),
    hasLimit: plans.polledAbove > 0,
    isFull: (target) => plans.polledAbove > 0 && edges.countedWatchers(target) > plans.polledAbove,
    waves: () => ({ walking: waves.walking(), waiting: waves.waiting() }),
    stop() {
      outbox.stop()
      waves.stop()
      followed.clear()
    },
  }
}
