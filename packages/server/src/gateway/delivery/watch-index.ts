// Who watches whom, as a pool of edges in integer arrays: 25 bytes an edge for both directions, the
// outbox's mark and a few flags. An edge is on two lists, the watchers of its target (doubly linked, because it
// leaves from the middle) and the targets of its connection (singly linked, walked when it closes). New
// edges come first on both. While an edge has no mark, the place of the mark holds the change it was told.
// The watchers of a target are two crowds with a list each: those who may be known to watch, and those who are
// not to be noticed. What goes by the size or the order of the first is the same whoever is in the second.
import { grown } from '../../platform/typed-arrays.ts'

export const NIL = -1
/** Value of `nextMarked` for an edge whose target has not changed since the last frame. */
export const UNMARKED = -2
/** Value of `told` for an edge that is marked: whatever is newest will be told. */
export const MARKED = -1

/** The one flag of an edge that is the index's own: its viewer is not to be noticed. */
const DISCREET = 1 << 7

/** Some of the watchers of a target, by number: the target's, twice, and one more for the discreet. */
export type Crowd = number
export const openCrowd = (target: number): Crowd => target * 2
export const discreetCrowd = (target: number): Crowd => target * 2 + 1
export const targetOfCrowd = (crowd: Crowd): number => crowd >> 1
export const isDiscreetCrowd = (crowd: Crowd): boolean => (crowd & 1) === 1

export interface WatchIndex {
  /** False when the connection watches the target already. */
  watch(connection: number, target: number, isDiscreet?: boolean): boolean
  /** The same for one that it does not watch, which the caller knows; returns the edge. */
  add(connection: number, target: number, isDiscreet: boolean): number
  /** False when it was not watching. */
  unwatch(connection: number, target: number): boolean
  /** Takes these off the connection, in one walk. */
  unwatchAll(connection: number, targets: ReadonlySet<number>): void
  /** Drops every edge of a connection; `dropped` is called with each target. */
  clear(connection: number, dropped: (target: number) => void): void
  isWatching(connection: number, target: number): boolean
  degree(connection: number): number
  edges(): number
  /** How many are in the crowd. */
  watchers(crowd: Crowd): number
  crowdOf(edge: number): Crowd
  /** Puts the edge into the other crowd, as if it were new there and knew all there is to know. */
  setDiscreet(edge: number, isDiscreet: boolean): void

  firstWatcher(crowd: Crowd): number
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
  /** An edge is off the list of a crowd, where `next` came after it. */
  onLeave(crowd: Crowd, edge: number, next: number): void
  /** The change that is in the state with which a new edge begins. */
  changeOf(crowd: Crowd): number
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
  let headOfOpen = new Int32Array(0)
  let sizeOfOpen = new Int32Array(0)
  // Where nobody is discreet, they cost nothing.
  let headOfDiscreet = new Int32Array(0)
  let sizeOfDiscreet = new Int32Array(0)
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

  const crowdOf = (edge: number): Crowd =>
    flags[edge]! >= DISCREET ? discreetCrowd(target[edge]!) : openCrowd(target[edge]!)
  const headsOf = (crowd: Crowd) => (isDiscreetCrowd(crowd) ? headOfDiscreet : headOfOpen)
  const sizesOf = (crowd: Crowd) => (isDiscreetCrowd(crowd) ? sizeOfDiscreet : sizeOfOpen)

  function reserve(crowd: Crowd): void {
    const length = targetOfCrowd(crowd) + 1
    if (length <= headsOf(crowd).length) return
    if (isDiscreetCrowd(crowd)) {
      headOfDiscreet = grown(headOfDiscreet, length, NIL)
      sizeOfDiscreet = grown(sizeOfDiscreet, length)
    } else {
      headOfOpen = grown(headOfOpen, length, NIL)
      sizeOfOpen = grown(sizeOfOpen, length)
    }
  }

  /** Puts an edge first on the list of its crowd. */
  function link(edge: number): void {
    const crowd = crowdOf(edge)
    reserve(crowd)
    const heads = headsOf(crowd)
    const head = heads[targetOfCrowd(crowd)]!
    nextOfTarget[edge] = head
    previousOfTarget[edge] = NIL
    if (head !== NIL) previousOfTarget[head] = edge
    heads[targetOfCrowd(crowd)] = edge
    sizesOf(crowd)[targetOfCrowd(crowd)]!++
  }

  function unlink(edge: number): void {
    const crowd = crowdOf(edge)
    const next = nextOfTarget[edge]!
    const previous = previousOfTarget[edge]!
    if (next !== NIL) previousOfTarget[next] = previous
    if (previous !== NIL) nextOfTarget[previous] = next
    else headsOf(crowd)[targetOfCrowd(crowd)] = next
    sizesOf(crowd)[targetOfCrowd(crowd)]!--
  }

  /** Takes an edge off its target's list and returns it to the pool. */
  function retire(edge: number): void {
    if (nextMarked[edge]! > UNMARKED) onRemoveMarked(connection[edge]!, edge)
    const next = nextOfTarget[edge]!
    unlink(edge)
    nextOfConnection[edge] = free
    free = edge
    live--
    onLeave(crowdOf(edge), edge, next)
  }

  function add(ofConnection: number, ofTarget: number, isDiscreet: boolean): number {
    headOfConnection = grown(headOfConnection, ofConnection + 1, NIL)
    degrees = grown(degrees, ofConnection + 1)
    const edge = allocate()
    target[edge] = ofTarget
    connection[edge] = ofConnection
    flags[edge] = isDiscreet ? DISCREET : 0
    nextMarked[edge] = UNMARKED - changeOf(crowdOf(edge))
    link(edge)
    nextOfConnection[edge] = headOfConnection[ofConnection]!
    headOfConnection[ofConnection] = edge
    degrees[ofConnection]!++
    live++
    return edge
  }

  return {
    watch(ofConnection, ofTarget, isDiscreet = false) {
      if (find(ofConnection, ofTarget) !== NIL) return false
      add(ofConnection, ofTarget, isDiscreet)
      return true
    },
    add,
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
    unwatchAll(ofConnection, targets) {
      if (targets.size === 0 || ofConnection >= headOfConnection.length) return
      let before = NIL
      for (let edge = headOfConnection[ofConnection]!; edge !== NIL; ) {
        const next = nextOfConnection[edge]!
        if (!targets.has(target[edge]!)) before = edge
        else {
          if (before === NIL) headOfConnection[ofConnection] = next
          else nextOfConnection[before] = next
          degrees[ofConnection]!--
          retire(edge)
        }
        edge = next
      }
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
    watchers(crowd) {
      const sizes = sizesOf(crowd)
      return targetOfCrowd(crowd) < sizes.length ? sizes[targetOfCrowd(crowd)]! : 0
    },
    crowdOf,
    setDiscreet(edge, isDiscreet) {
      const crowd = crowdOf(edge)
      if (isDiscreetCrowd(crowd) === isDiscreet) return
      const next = nextOfTarget[edge]!
      unlink(edge)
      onLeave(crowd, edge, next)
      flags[edge]! ^= DISCREET
      if (nextMarked[edge]! <= UNMARKED) nextMarked[edge] = UNMARKED - changeOf(crowdOf(edge))
      link(edge)
    },
    firstWatcher(crowd) {
      const heads = headsOf(crowd)
      return targetOfCrowd(crowd) < heads.length ? heads[targetOfCrowd(crowd)]! : NIL
    },
    nextWatcher: (edge) => nextOfTarget[edge]!,
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
