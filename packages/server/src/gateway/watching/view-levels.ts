// What every viewer here may see of everybody they watch, kept on the watch edges. Decided when an edge
// is made and again when a privacy or a contact list changes, by the one evaluator. While an answer has
// to be fetched the edge is in doubt and its viewer is told nothing; when it is settled they are told
// once, and only if what they see is different.
import type { Clock } from '../../platform/clock.ts'
import { type Discretion, type PrivacyRules, UNGUARDED } from '../../presence/core/privacy.ts'
import type { Party, Relations } from '../../presence/privacy/relations.ts'
import {
  isOpenToAll,
  type Relation,
  relevantRelation,
  type Sight,
  visibleTo,
} from '../../presence/privacy/visibility.ts'
import { HELD_BACK, IN_DOUBT, isInDoubt, isNothingSeen, sightOf, withSight } from '../delivery/edge-flags.ts'
import type { Outbox } from '../delivery/outbox.ts'
import { isNothingKnown, type TargetTable } from '../delivery/target-table.ts'
import {
  type Crowd,
  discreetCrowd,
  NIL,
  openCrowd,
  targetOfCrowd,
  UNMARKED,
} from '../delivery/watch-index.ts'
import type { Interner } from '../interner.ts'
import type { Discretions } from './visibility-inputs.ts'
import type { Openness } from './watcher-exposure.ts'

/** When the archive does not answer, how often we ask again. */
const ASK_AGAIN_MS = 1_000
/** Of each crowd of watchers, how many are looked at in one turn of the loop. */
const REVIEWED_PER_TURN = 1_000

/** What one viewer may see of one target, by what was known when it was decided. */
export interface Decision {
  sight: Sight
  of: Discretion
  by: Discretion
  /** Contacts could not be asked for: it is taken for a no until they can. */
  isGuess: boolean
}

export interface Sights {
  /**
   * Decides for a connection that is about to watch these; in their order. At once where there is nothing
   * to find out and something to see of each: whoever shows nothing takes as long as whoever hides.
   */
  decide(connection: number, targets: readonly number[]): Decision[] | Promise<Decision[]>
  viewerOf(connection: number): number
  /** Puts a decision on an edge, now that there is one. */
  place(edge: number, decision: Decision): void
  /** Who may see this user, or what this user shows in return, has changed. */
  review(user: number): void
}

export interface SightsParts {
  interner: Interner
  discretions: Discretions
  outbox: Outbox
  targets: TargetTable
  relations: Relations
  openness: Openness
  rules: PrivacyRules
  clock: Clock
  /** The interned user behind a connection. */
  viewerOf(connection: number): number
  /** Every connection of a user that is here. */
  connectionsOf(user: number): readonly number[]
}

/** The usual case, shared by all. */
const OPEN: Decision = { sight: 'everything', of: UNGUARDED, by: UNGUARDED, isGuess: false }

/** An edge on its way to a decision. Its number may belong to another edge by then. */
interface Pending {
  edge: number
  connection: number
  viewerId: string
  targetId: string
}

export function createSights(parts: SightsParts): Sights {
  const {
    interner,
    discretions,
    outbox,
    targets,
    relations,
    rules,
    clock,
    openness,
    viewerOf,
    connectionsOf,
  } = parts
  const { index } = outbox
  let guesses: Pending[] = []

  const partyOf = (user: number): Party => ({ userId: interner.name(user), ...discretions.of(user) })

  /** The decision, when nothing has to be looked up for it. */
  function decideAtOnce(viewer: number, target: number): Decision | null {
    const of = discretions.of(target)
    const by = discretions.of(viewer)
    if (of === UNGUARDED && by === UNGUARDED && isOpenToAll(null, rules)) return OPEN
    if (isOpenToAll(of.privacy, rules)) return { sight: 'everything', of, by, isGuess: false }
    const [seen, seer] = [partyOf(target), partyOf(viewer)]
    const needed = relevantRelation(seen, seer, rules)
    if (needed.viewerIsContact || needed.targetIsContact) return null
    const nobody: Relation = { viewerIsContact: false, targetIsContact: false }
    return { sight: visibleTo(seen, seer, nobody, rules).sight, of, by, isGuess: false }
  }

  const isShowingNothing = (target: number) =>
    !targets.isKnown(target) || isNothingKnown(targets.json(target))

  async function decide(viewer: number, target: number): Promise<Decision> {
    const of = discretions.of(target)
    const by = discretions.of(viewer)
    const [seen, seer] = [partyOf(target), partyOf(viewer)]
    const { relation, isGuess } = await relations.between(seen, seer)
    return { sight: visibleTo(seen, seer, relation, rules).sight, of, by, isGuess }
  }

  /** One question stands for all of whom nothing is seen: they take as long as those who are asked about. */
  async function whileAsking<T>(
    viewer: number,
    unseen: number | undefined,
    run: () => Promise<T>,
  ): Promise<T> {
    const asked =
      unseen === undefined ? null : relations.pretend(interner.name(unseen), interner.name(viewer))
    const [result] = await Promise.all([run(), asked])
    return result
  }

  function settle(edge: number, sight: Sight): void {
    // A wave that has yet to come by must find neither more nor fewer than may hear of its change.
    outbox.settleDebt(edge)
    const flags = index.flags(edge)
    const before = sightOf(flags)
    const target = index.targetOf(edge)
    index.setFlags(edge, withSight(flags, sight))
    const wasHeldBack = (flags & HELD_BACK) !== 0
    const isDifferent = targets.seen(target, before) !== targets.seen(target, sight)
    if (wasHeldBack || isDifferent) outbox.markEdge(edge)
  }

  function isStill({ edge, connection, viewerId, targetId }: Pending): boolean {
    const isSame =
      index.connectionOf(edge) === connection && index.find(connection, index.targetOf(edge)) === edge
    if (!isSame) return false
    return (
      interner.name(viewerOf(connection)) === viewerId && interner.name(index.targetOf(edge)) === targetId
    )
  }

  function pendingOf(edge: number): Pending {
    const connection = index.connectionOf(edge)
    const viewerId = interner.name(viewerOf(connection))
    return { edge, connection, viewerId, targetId: interner.name(index.targetOf(edge)) }
  }

  function comeIntoDoubt(edge: number, isBlank: boolean): void {
    outbox.settleDebt(edge)
    const flags = index.flags(edge)
    // Whoever knows nothing goes on knowing nothing until it is decided: there is nothing to hold back,
    // and to notice that there is a doubt would be to learn something.
    if (isInDoubt(flags) || isNothingSeen(flags)) return
    const isInTheDark = isBlank && index.nextMarked(edge) === UNMARKED
    index.setFlags(edge, isInTheDark ? withSight(flags, 'nothing') : flags | IN_DOUBT)
  }

  function reviewEdge(edge: number): void {
    const viewer = viewerOf(index.connectionOf(edge))
    const target = index.targetOf(edge)
    const decision = decideAtOnce(viewer, target)
    if (decision !== null) settle(edge, decision.sight)
    else {
      comeIntoDoubt(edge, isShowingNothing(target))
      void decideLater(pendingOf(edge), viewer, target)
    }
  }

  function reviewWatchers(crowd: Crowd): void {
    const target = targetOfCrowd(crowd)
    const edges = new Int32Array(index.watchers(crowd))
    // All at once, so that nothing goes out by the old right while the others wait for their turn.
    const isMany = edges.length > REVIEWED_PER_TURN
    const isBlank = isMany && isShowingNothing(target)
    let count = 0
    for (let edge = index.firstWatcher(crowd); edge !== NIL; edge = index.nextWatcher(edge)) {
      if (isMany) comeIntoDoubt(edge, isBlank)
      edges[count++] = edge
    }
    reviewFrom(edges, 0, target)
  }

  function reviewFrom(edges: Int32Array, from: number, target: number): void {
    const until = Math.min(edges.length, from + REVIEWED_PER_TURN)
    for (let at = from; at < until; at++) {
      const edge = edges[at]!
      const isThere = index.targetOf(edge) === target && index.find(index.connectionOf(edge), target) === edge
      if (isThere) reviewEdge(edge)
    }
    if (until < edges.length) clock.soon(() => reviewFrom(edges, until, target))
  }

  async function decideLater(pending: Pending, viewer: number, target: number): Promise<void> {
    const decision = await decide(viewer, target)
    if (!isStill(pending)) return
    // What changed meanwhile may have its own review under way, or none that concerns this edge.
    if (isOutdated(decision, viewer, target)) return reviewEdge(pending.edge)
    const flags = index.flags(pending.edge)
    // Another answer was quicker, and it was one.
    if (decision.isGuess && !isInDoubt(flags) && !isNothingSeen(flags)) return
    settle(pending.edge, decision.sight)
    if (decision.isGuess) askAgain(pending)
  }

  const isOutdated = ({ of, by }: Decision, viewer: number, target: number) =>
    discretions.of(target) !== of || discretions.of(viewer) !== by

  function askAgain(pending: Pending): void {
    guesses.push(pending)
    if (guesses.length > 1) return
    // By the clock: whose guess was the first is not to be told.
    clock.after(ASK_AGAIN_MS - (clock.now() % ASK_AGAIN_MS), () => {
      const asked = guesses
      guesses = []
      for (const guess of asked) if (isStill(guess)) reviewEdge(guess.edge)
    })
  }

  return {
    decide(connection, userTargets) {
      const viewer = viewerOf(connection)
      const decisions = userTargets.map((target) => decideAtOnce(viewer, target))
      const unseen = userTargets.find(
        (target, at) => decisions[at]?.sight === 'nothing' || isShowingNothing(target),
      )
      if (unseen === undefined && decisions.every((decision) => decision !== null)) return decisions
      return whileAsking(viewer, unseen, () =>
        Promise.all(decisions.map((decision, at) => decision ?? decide(viewer, userTargets[at]!))),
      )
    },
    viewerOf,
    place(edge, decision) {
      index.setFlags(edge, withSight(index.flags(edge), decision.sight))
      const target = index.targetOf(edge)
      if (isOutdated(decision, viewerOf(index.connectionOf(edge)), target)) {
        // The snapshot must not show what may be hidden by now; the review tells what is missing.
        index.setFlags(edge, withSight(index.flags(edge), 'nothing'))
        clock.soon(reviewLater(pendingOf(edge)))
      } else if (decision.isGuess) askAgain(pendingOf(edge))
    },
    review(user) {
      openness.review(user)
      reviewWatchers(openCrowd(user))
      reviewWatchers(discreetCrowd(user))
      for (const connection of connectionsOf(user)) {
        for (let edge = index.firstTarget(connection); edge !== NIL; edge = index.nextTarget(edge)) {
          // Only these go by what their viewer shows.
          if (discretions.of(index.targetOf(edge)).privacy?.reciprocal === true) reviewEdge(edge)
        }
      }
    },
  }

  function reviewLater(pending: Pending): () => void {
    return () => {
      if (isStill(pending)) reviewEdge(pending.edge)
    }
  }
}
