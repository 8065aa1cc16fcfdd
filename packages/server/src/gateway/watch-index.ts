// Who watches whom, as a pool of edges in integer arrays: 25 bytes an edge for both directions, the
// outbox's mark and a few flags. An edge is on two lists, the watchers of its target (doubly linked, because it
// leaves from the middle) and the targets of its connection (singly linked, walked when it closes). New
// edges come first on both. While an edge has no mark, the place of the mark holds the change it was told.
// Watchers who are not to be noticed have a list of their own behind that of the others, so that who comes
// when, and how many they are, is the same for the others whether they are there or not.
import { grown } from '../platform/typed-arrays.ts'

export const NIL = -1
/** Value of `nextMarked` for an edge whose target has not changed since the last frame. */
export const UNMARKED = -2
/** Value of `told` for an edge that is marked: whatever is newest will be told. */
export const MARKED = -1

/** The one flag of an edge that is the index's own: its viewer is not to be noticed. */
const DISCREET = 1 << 7

export interface WatchIndex {
  /** False when the connection watches the target already. */
  watch(connection: number, target: number, isDiscreet?: boolean): boolean
  /** False when it was not watching. */
  unwatch(connection: number, target: number): boolean
  /** Drops every edge of a connection; `dropped` is called with each target. */
  clear(connection: number, dropped: (target: number) => void): void
  isWatching(connection: number, target: number): boolean
  degree(connection: number): number
  edges(): number
  /** How many watch the target. */
  watchers(target: number): number
  /** How many of them are not to be noticed. */
  discreetWatchers(target: number): number
  isDiscreet(edge: number): boolean
  /** Puts the edge among those who are not to be noticed or among the others, as if it were new there. */
  setDiscreet(edge: number, isDiscreet: boolean): void

  /** Those who are not to be noticed come after all others. */
  firstWatcher(target: number): number
  firstDiscreet(target: number): number
  nextWatcher(edge: number): number
  firstTarget(connection: number): number
  nextTarget(edge: number): number
  connectionOf(edge: number): number
  targetOf(edge: number): number
  /** The outbox's list of changed edges of a connection runs through these. */
  nextMarked(edge: number): number
  setNextMarked(edge: number, next: number): void
  /** Takes the mark off, because this change was told; 0 for any that has no number. */
  unmark(edge: number, change: number): void
  /** The number of the change that was told last, or MARKED. */
  told(edge: number): number
  /** What the viewer may see of the target, and why the edge is there; 0 for a new edge. */
  flags(edge: number): number
  setFlags(edge: number, flags: number): void
  /** The edge between the two, or NIL. */
  find(connection: number, target: number): number
}

/** What those who walk a list of watchers bit by bit have to know. */
export interface WalkHooks {
  /** An edge is off the list of its target, where `next` came after it. */
  onLeave(target: number, edge: number, next: number): void
  /** The change that is in the state with which a new edge begins. */
  changeOf(target: number): number
}

const NOBODY_WALKS: WalkHooks = { onLeave: () => {}, changeOf: () => 0 }

/** `onRemoveMarked` is told before a marked edge goes. */
export function createWatchIndex(
  onRemoveMarked: (connection: number, edge: number) => void,
  { onLeave, changeOf }: WalkHooks = NOBODY_WALKS,
): WatchIndex {
  let target = new Int32Array(0)
  let connection = new Int32Array(0)
  let nextOfTarget = new Int32Array(0)
  let previousOfTarget = new Int32Array(0)
  let nextOfConnection = new Int32Array(0)
  let nextMarked = new Int32Array(0)
  let flags = new Uint8Array(0)
  let headOfTarget = new Int32Array(0)
  let audiences = new Int32Array(0)
  // As long as somebody was discreet; where nobody is, they cost nothing.
  let headOfDiscreet = new Int32Array(0)
  let discreetAudiences = new Int32Array(0)
  let headOfConnection = new Int32Array(0)
  let degrees = new Int32Array(0)
  let free = NIL
  let used = 0
  let live = 0

  function allocate(): number {
    if (free !== NIL) {
      const edge = free
      free = nextOfConnection[edge]!
      return edge
    }
    const edge = used++
    if (edge >= target.length) {
      target = grown(target, used)
      connection = grown(connection, used)
      nextOfTarget = grown(nextOfTarget, used)
      previousOfTarget = grown(previousOfTarget, used)
      nextOfConnection = grown(nextOfConnection, used)
      nextMarked = grown(nextMarked, used)
      flags = grown(flags, used)
    }
    return edge
  }

  function find(ofConnection: number, ofTarget: number): number {
    let edge = ofConnection < headOfConnection.length ? headOfConnection[ofConnection]! : NIL
    while (edge !== NIL && target[edge] !== ofTarget) edge = nextOfConnection[edge]!
    return edge
  }

  const isDiscreet = (edge: number) => flags[edge]! >= DISCREET
  const firstDiscreet = (ofTarget: number) =>
    ofTarget < headOfDiscreet.length ? headOfDiscreet[ofTarget]! : NIL

  function nextWatcher(edge: number): number {
    const next = nextOfTarget[edge]!
    return next !== NIL || isDiscreet(edge) ? next : firstDiscreet(target[edge]!)
  }

  /** Puts an edge first on the list of its target that its flag says. */
  function link(edge: number): void {
    const ofTarget = target[edge]!
    if (isDiscreet(edge)) {
      headOfDiscreet = grown(headOfDiscreet, ofTarget + 1, NIL)
      discreetAudiences = grown(discreetAudiences, ofTarget + 1)
      discreetAudiences[ofTarget]!++
    }
    const heads = isDiscreet(edge) ? headOfDiscreet : headOfTarget
    const head = heads[ofTarget]!
    nextOfTarget[edge] = head
    previousOfTarget[edge] = NIL
    if (head !== NIL) previousOfTarget[head] = edge
    heads[ofTarget] = edge
    audiences[ofTarget]!++
  }

  function unlink(edge: number): void {
    const ofTarget = target[edge]!
    const next = nextOfTarget[edge]!
    const previous = previousOfTarget[edge]!
    const heads = isDiscreet(edge) ? headOfDiscreet : headOfTarget
    if (next !== NIL) previousOfTarget[next] = previous
    if (previous !== NIL) nextOfTarget[previous] = next
    else heads[ofTarget] = next
    audiences[ofTarget]!--
    if (isDiscreet(edge)) discreetAudiences[ofTarget]!--
  }

  /** Takes an edge off its target's list and returns it to the pool. */
  function retire(edge: number): void {
    if (nextMarked[edge]! > UNMARKED) onRemoveMarked(connection[edge]!, edge)
    const next = nextWatcher(edge)
    unlink(edge)
    nextOfConnection[edge] = free
    free = edge
    live--
    onLeave(target[edge]!, edge, next)
  }

  return {
    watch(ofConnection, ofTarget, isHidden = false) {
      if (find(ofConnection, ofTarget) !== NIL) return false
      headOfConnection = grown(headOfConnection, ofConnection + 1, NIL)
      degrees = grown(degrees, ofConnection + 1)
      headOfTarget = grown(headOfTarget, ofTarget + 1, NIL)
      audiences = grown(audiences, ofTarget + 1)
      const edge = allocate()
      target[edge] = ofTarget
      connection[edge] = ofConnection
      nextMarked[edge] = UNMARKED - changeOf(ofTarget)
      flags[edge] = isHidden ? DISCREET : 0
      link(edge)
      nextOfConnection[edge] = headOfConnection[ofConnection]!
      headOfConnection[ofConnection] = edge
      degrees[ofConnection]!++
      live++
      return true
    },
    unwatch(ofConnection, ofTarget) {
      const edge = find(ofConnection, ofTarget)
      if (edge === NIL) return false
      if (headOfConnection[ofConnection] === edge) headOfConnection[ofConnection] = nextOfConnection[edge]!
      else {
        let before = headOfConnection[ofConnection]!
        while (nextOfConnection[before] !== edge) before = nextOfConnection[before]!
        nextOfConnection[before] = nextOfConnection[edge]!
      }
      degrees[ofConnection]!--
      retire(edge)
      return true
    },
    clear(ofConnection, dropped) {
      if (ofConnection >= headOfConnection.length) return
      let edge = headOfConnection[ofConnection]!
      headOfConnection[ofConnection] = NIL
      degrees[ofConnection] = 0
      while (edge !== NIL) {
        const next = nextOfConnection[edge]!
        const ofTarget = target[edge]!
        retire(edge)
        dropped(ofTarget)
        edge = next
      }
    },
    isWatching: (ofConnection, ofTarget) => find(ofConnection, ofTarget) !== NIL,
    degree: (ofConnection) => (ofConnection < degrees.length ? degrees[ofConnection]! : 0),
    edges: () => live,
    watchers: (ofTarget) => (ofTarget < audiences.length ? audiences[ofTarget]! : 0),
    discreetWatchers: (ofTarget) => (ofTarget < discreetAudiences.length ? discreetAudiences[ofTarget]! : 0),
    isDiscreet,
    setDiscreet(edge, isHidden) {
      if (isDiscreet(edge) === isHidden) return
      const next = nextWatcher(edge)
      unlink(edge)
      flags[edge]! ^= DISCREET
      link(edge)
      onLeave(target[edge]!, edge, next)
    },
    firstWatcher(ofTarget) {
      const first = ofTarget < headOfTarget.length ? headOfTarget[ofTarget]! : NIL
      return first === NIL ? firstDiscreet(ofTarget) : first
    },
    firstDiscreet,
    nextWatcher,
    firstTarget: (ofConnection) =>
      ofConnection < headOfConnection.length ? headOfConnection[ofConnection]! : NIL,
    nextTarget: (edge) => nextOfConnection[edge]!,
    connectionOf: (edge) => connection[edge]!,
    targetOf: (edge) => target[edge]!,
    nextMarked: (edge) => Math.max(nextMarked[edge]!, UNMARKED),
    setNextMarked(edge, next) {
      nextMarked[edge] = next
    },
    unmark(edge, change) {
      nextMarked[edge] = UNMARKED - change
    },
    told: (edge) => (nextMarked[edge]! > UNMARKED ? MARKED : UNMARKED - nextMarked[edge]!),
    flags: (edge) => flags[edge]! & ~DISCREET,
    setFlags(edge, next) {
      flags[edge] = (flags[edge]! & DISCREET) | next
    },
    find,
  }
}
