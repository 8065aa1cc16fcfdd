// Keeps what each viewer may see on the watch edges up to date. An edge is decided when it is made and again
// when privacy settings or a contact list change. While a contact list is looked up, the edge is held and its
// viewer is told nothing; after that the viewer is told once, and only if what they see is different.
import type { Clock } from '../../platform/clock.ts'
import { NIL } from '../../platform/typed-arrays.ts'
import type { VisibilityInputs } from '../../presence/core/privacy.ts'
import type { Delivery } from '../delivery/delivery.ts'
import type { Interner } from '../interner.ts'
import type { Decision, LevelDecisions } from './level-decisions.ts'
import type { Viewers } from './viewers.ts'
import type { InputTable } from './visibility-inputs.ts'
import type { WatcherExposure } from './watcher-exposure.ts'

/** When the archive does not answer, how often it is asked again. */
const ASK_AGAIN_MS = 1_000
/** Edges reviewed in one turn of the loop. */
const REVIEWED_PER_TURN = 1_000

export interface LevelReviews {
  /** Privacy facts come in here and by `replace` only. Takes what is newer and reviews the edges it concerns. */
  learn(user: number, inputs: VisibilityInputs): void
  /** The same with inputs that are taken as they are, older or not. */
  replace(user: number, inputs: VisibilityInputs): void
  /** Puts a decision on a new edge. */
  place(edge: number, decision: Decision): void
}

export interface LevelReviewsParts {
  interner: Interner
  inputs: InputTable
  decisions: LevelDecisions
  viewers: Viewers
  exposure: WatcherExposure
  delivery: Delivery
  clock: Clock
}

/** An edge that waits for a look-up. Its number may belong to another edge by then. */
interface Waiting {
  edge: number
  connection: number
  viewerId: string
  targetId: string
}

export function createLevelReviews(parts: LevelReviewsParts): LevelReviews {
  const { interner, inputs, decisions, viewers, exposure, delivery, clock } = parts
  const { edges } = delivery
  let guessed: Waiting[] = []

  const viewerOf = (edge: number) => viewers.userOf(edges.connectionOf(edge))

  function waitingOf(edge: number): Waiting {
    const connection = edges.connectionOf(edge)
    const targetId = interner.name(edges.targetOf(edge))
    return { edge, connection, viewerId: viewers.userIdOf(connection), targetId }
  }

  function isStill({ edge, connection, viewerId, targetId }: Waiting): boolean {
    const target = edges.targetOf(edge)
    if (target === NIL || edges.connectionOf(edge) !== connection) return false
    return viewers.userIdOf(connection) === viewerId && interner.name(target) === targetId
  }

  function review(edge: number): void {
    const [viewer, target] = [viewerOf(edge), edges.targetOf(edge)]
    const decision = decisions.decideAtOnce(viewer, target)
    if (decision !== null) delivery.reveal(edge, decision.level)
    else {
      delivery.hold(edge)
      void reviewAfterLookUp(waitingOf(edge), viewer, target)
    }
  }

  async function reviewAfterLookUp(waiting: Waiting, viewer: number, target: number): Promise<void> {
    const decision = await decisions.decide(viewer, target)
    if (!isStill(waiting)) return
    const { edge } = waiting
    // The inputs changed meanwhile; their review may be under way, or may not concern this edge.
    if (decisions.isOutdated(decision, viewer, target)) return review(edge)
    // A guess does not take back what another look-up has found.
    if (decision.isGuess && !edges.isHeld(edge) && !edges.isHidden(edge)) return
    delivery.reveal(edge, decision.level)
    if (decision.isGuess) askAgain(waiting)
  }

  function askAgain(waiting: Waiting): void {
    guessed.push(waiting)
    if (guessed.length > 1) return
    clock.after(ASK_AGAIN_MS, () => {
      const asked = guessed
      guessed = []
      for (const one of asked) reviewIfStill(one)
    })
  }

  function reviewIfStill(waiting: Waiting): void {
    if (isStill(waiting)) review(waiting.edge)
  }

  function reviewWatchersOf(target: number): void {
    const all = new Int32Array(edges.watchers(target))
    // All are held at once, so that nothing goes out by the old level while the last wait for their turn.
    const areMany = all.length > REVIEWED_PER_TURN
    let count = 0
    for (let edge = edges.firstWatcher(target); edge !== NIL; edge = edges.nextWatcher(edge)) {
      if (areMany) delivery.hold(edge)
      all[count++] = edge
    }
    reviewFrom(all, 0, target)
  }

  function reviewFrom(all: Int32Array, from: number, target: number): void {
    const until = Math.min(all.length, from + REVIEWED_PER_TURN)
    for (let at = from; at < until; at++) if (edges.targetOf(all[at]!) === target) review(all[at]!)
    if (until < all.length) clock.soon(() => reviewFrom(all, until, target))
  }

  /** The user's own edges that go by what the user shows in return. */
  function reviewReciprocal(user: number): void {
    for (const connection of viewers.connectionsOf(user)) {
      for (let edge = edges.firstTarget(connection); edge !== NIL; edge = edges.nextTarget(edge))
        if (inputs.of(edges.targetOf(edge)).privacy?.reciprocal === true) review(edge)
    }
  }

  function reviewUser(user: number): void {
    exposure.review(user)
    reviewWatchersOf(user)
    reviewReciprocal(user)
  }

  return {
    learn(user, heard) {
      if (inputs.learn(user, heard)) reviewUser(user)
    },
    replace(user, found) {
      if (inputs.replace(user, found)) reviewUser(user)
    },
    place(edge, decision) {
      exposure.place(edge)
      if (decisions.isOutdated(decision, viewerOf(edge), edges.targetOf(edge))) {
        // The snapshot must not show what may be hidden by now; the review tells what is missing (S6, decision 23:
        // content).
        delivery.place(edge, 'nothing')
        const waiting = waitingOf(edge)
        clock.soon(() => reviewIfStill(waiting))
      } else {
        delivery.place(edge, decision.level)
        if (decision.isGuess) askAgain(waitingOf(edge))
      }
    },
  }
}
