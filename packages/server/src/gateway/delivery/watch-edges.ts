// Who watches whom, as a pool of edges in integer arrays: 25 bytes an edge for both directions, its mark and
// its flags. This file is the only one that writes them. An edge is on two lists: the watchers of its target
// (doubly linked, because it leaves from the middle) and the targets of its connection (singly linked). While
// an edge is marked, it is on its connection's list of changes to send; otherwise the same slot holds the
// number of the wave that last told it.
import { grown, NIL } from '../../platform/typed-arrays.ts'
import { VIEW_LEVELS, type ViewLevel } from '../../presence/privacy/visibility.ts'

/** Value of the mark slot of an edge that is not marked; below it, the number of the wave that told it. */
const UNMARKED = -2

const LEVEL_MASK = 0b11
const NOTHING = VIEW_LEVELS.indexOf('nothing')
/** What the viewer may see is being looked up. Until then the viewer is told nothing. */
const HELD = 1 << 2
/** Something was to be told while the edge was held; it is told when the hold ends. */
const OWED = 1 << 3
/** The client named the target. */
export const NAMED = 1 << 4
/** The target is in the contact list that the connection follows. */
export const FOLLOWED = 1 << 5
/** Why an edge exists; both may hold. */
export type WatchReason = typeof NAMED | typeof FOLLOWED
const REASONS = NAMED | FOLLOWED
/** The viewer hides from others, so the edge must not count where a size of the audience shows. */
const UNCOUNTED = 1 << 6
/** What is to be told is no change of the target: the viewer may see something else of it, or asked again. */
const SHOWN_ANEW = 1 << 7
const KEPT = REASONS | UNCOUNTED | SHOWN_ANEW

/** A place in a target's list of watchers. When its edge leaves the list, it moves on to the next one. */
export interface Cursor {
  readonly edge: number
}

type OwnCursor = { -readonly [Key in keyof Cursor]: Cursor[Key] }

export type WatchEdges = ReturnType<typeof createWatchEdges>

export function createWatchEdges() {
  let target = new Int32Array(0)
  let connection = new Int32Array(0)
  let nextOfTarget = new Int32Array(0)
  let previousOfTarget = new Int32Array(0)
  let nextOfConnection = new Int32Array(0)
  let mark = new Int32Array(0)
  let flags = new Uint8Array(0)
  let headOfTarget = new Int32Array(0)
  let sizeOfTarget = new Int32Array(0)
  let headOfConnection = new Int32Array(0)
  let degrees = new Int32Array(0)
  let firstMark = new Int32Array(0)
  let free = NIL
  let used = 0
  let live = 0
  const cursors = new Map<number, Set<OwnCursor>>()
  /** By target, how many of its watchers do not count. */
  const uncounted = new Map<number, number>()
  /** By target, the number of the wave that is under way. */
  const waves = new Map<number, number>()

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
      mark = grown(mark, used)
      flags = grown(flags, used)
    }
    return edge
  }

  const waveOf = (ofTarget: number) => (waves.size === 0 ? 0 : (waves.get(ofTarget) ?? 0))
  const isMarked = (edge: number) => mark[edge]! > UNMARKED
  const watchers = (ofTarget: number) => (ofTarget < sizeOfTarget.length ? sizeOfTarget[ofTarget]! : 0)
  const firstTarget = (ofConnection: number) =>
    ofConnection < headOfConnection.length ? headOfConnection[ofConnection]! : NIL

  function find(ofConnection: number, ofTarget: number): number {
    let edge = firstTarget(ofConnection)
    while (edge !== NIL && target[edge] !== ofTarget) edge = nextOfConnection[edge]!
    return edge
  }

  function linkToTarget(edge: number): void {
    const ofTarget = target[edge]!
    headOfTarget = grown(headOfTarget, ofTarget + 1, NIL)
    sizeOfTarget = grown(sizeOfTarget, ofTarget + 1)
    const head = headOfTarget[ofTarget]!
    nextOfTarget[edge] = head
    previousOfTarget[edge] = NIL
    if (head !== NIL) previousOfTarget[head] = edge
    headOfTarget[ofTarget] = edge
    sizeOfTarget[ofTarget]!++
  }

  function unlinkFromTarget(edge: number): void {
    const ofTarget = target[edge]!
    const next = nextOfTarget[edge]!
    const previous = previousOfTarget[edge]!
    if (next !== NIL) previousOfTarget[next] = previous
    if (previous !== NIL) nextOfTarget[previous] = next
    else headOfTarget[ofTarget] = next
    sizeOfTarget[ofTarget]!--
    if (cursors.size === 0) return
    for (const cursor of cursors.get(ofTarget) ?? []) if (cursor.edge === edge) cursor.edge = next
  }

  function unlinkMark(edge: number): void {
    const ofConnection = connection[edge]!
    if (firstMark[ofConnection] === edge) {
      firstMark[ofConnection] = mark[edge]!
      return
    }
    let before = firstMark[ofConnection]!
    while (mark[before] !== edge) before = mark[before]!
    mark[before] = mark[edge]!
  }

  function setCounted(edge: number, isCounted: boolean): void {
    if (((flags[edge]! & UNCOUNTED) === 0) === isCounted) return
    flags[edge]! ^= UNCOUNTED
    const left = (uncounted.get(target[edge]!) ?? 0) + (isCounted ? -1 : 1)
    if (left === 0) uncounted.delete(target[edge]!)
    else uncounted.set(target[edge]!, left)
  }

  /** Takes an edge off its target's list and returns it to the pool. */
  function retire(edge: number): void {
    if (isMarked(edge)) unlinkMark(edge)
    setCounted(edge, true)
    unlinkFromTarget(edge)
    // A free edge has no target, so a part that kept its number notices.
    target[edge] = NIL
    nextOfConnection[edge] = free
    free = edge
    live--
  }

  /** Takes every edge of a connection for which `isOver` holds, in one walk. */
  function removeWhere(ofConnection: number, isOver: (edge: number) => boolean): void {
    let before = NIL
    for (let edge = firstTarget(ofConnection); edge !== NIL; ) {
      const next = nextOfConnection[edge]!
      if (!isOver(edge)) before = edge
      else {
        if (before === NIL) headOfConnection[ofConnection] = next
        else nextOfConnection[before] = next
        degrees[ofConnection]!--
        retire(edge)
      }
      edge = next
    }
  }

  return {
    /** A new edge of a connection that does not watch the target yet. It sees everything and is told all. */
    add(ofConnection: number, ofTarget: number): number {
      headOfConnection = grown(headOfConnection, ofConnection + 1, NIL)
      degrees = grown(degrees, ofConnection + 1)
      firstMark = grown(firstMark, ofConnection + 1, NIL)
      const edge = allocate()
      target[edge] = ofTarget
      connection[edge] = ofConnection
      flags[edge] = 0
      // The snapshot it begins with has the change that a wave may be bringing.
      mark[edge] = UNMARKED - waveOf(ofTarget)
      linkToTarget(edge)
      nextOfConnection[edge] = headOfConnection[ofConnection]!
      headOfConnection[ofConnection] = edge
      degrees[ofConnection]!++
      live++
      return edge
    },
    /** False when the connection did not watch the target. */
    remove(ofConnection: number, ofTarget: number): boolean {
      const edge = find(ofConnection, ofTarget)
      if (edge === NIL) return false
      removeWhere(ofConnection, (one) => one === edge)
      return true
    },
    removeAll: (ofConnection: number, targets: ReadonlySet<number>) =>
      removeWhere(ofConnection, (edge) => targets.has(target[edge]!)),
    /** Drops every edge of a connection; `dropped` is called with each target. */
    clear(ofConnection: number, dropped: (target: number) => void): void {
      let edge = firstTarget(ofConnection)
      if (edge === NIL) return
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

    find,
    degree: (ofConnection: number) => (ofConnection < degrees.length ? degrees[ofConnection]! : 0),
    count: () => live,
    watchers,
    /** Watchers that count for `polled_above`. */
    countedWatchers: (ofTarget: number) => watchers(ofTarget) - (uncounted.get(ofTarget) ?? 0),
    setCounted,
    firstWatcher: (ofTarget: number) => (ofTarget < headOfTarget.length ? headOfTarget[ofTarget]! : NIL),
    nextWatcher: (edge: number) => nextOfTarget[edge]!,
    firstTarget,
    nextTarget: (edge: number) => nextOfConnection[edge]!,
    connectionOf: (edge: number) => connection[edge]!,
    /** NIL for an edge that is not in use. */
    targetOf: (edge: number) => target[edge]!,

    levelOf: (edge: number): ViewLevel => VIEW_LEVELS[flags[edge]! & LEVEL_MASK]!,
    /** The viewer sees everything, nothing is being looked up, and only changes of the target are to be told. */
    isWhole: (edge: number) => (flags[edge]! & (LEVEL_MASK | HELD | SHOWN_ANEW)) === 0,
    isHidden: (edge: number) => (flags[edge]! & LEVEL_MASK) === NOTHING,
    isHeld: (edge: number) => (flags[edge]! & HELD) !== 0,
    /** Until `reveal` the viewer is told nothing. */
    hold(edge: number): void {
      flags[edge]! |= HELD
    },
    /** Something is to be told when the hold ends. */
    oweWhileHeld(edge: number): void {
      flags[edge]! |= OWED
    },
    /** The client asked again during a hold: it is told when that ends. */
    oweAnew(edge: number): void {
      if ((flags[edge]! & OWED) === 0) flags[edge]! |= OWED | SHOWN_ANEW
    },
    /** Its viewer is to be told without a change of the target. A change that is to be told already stays one. */
    showAnew(edge: number): void {
      if (!isMarked(edge)) flags[edge]! |= SHOWN_ANEW
    },
    /** Whether what is told now is no change. What comes next is one. */
    takeShownAnew(edge: number): boolean {
      const isAnew = (flags[edge]! & SHOWN_ANEW) !== 0
      flags[edge]! &= ~SHOWN_ANEW
      return isAnew
    },
    /** Ends a hold and sets what the viewer may see; true when something is owed from the hold. */
    reveal(edge: number, level: ViewLevel): boolean {
      const wasOwed = (flags[edge]! & OWED) !== 0
      flags[edge] = (flags[edge]! & KEPT) | VIEW_LEVELS.indexOf(level)
      return wasOwed
    },
    reasons: (edge: number) => flags[edge]! & REASONS,
    addReason(edge: number, reason: WatchReason): void {
      flags[edge]! |= reason
    },
    dropReason(edge: number, reason: WatchReason): void {
      flags[edge]! &= ~reason
    },

    isMarked,
    /** Puts the edge on its connection's list of changes to send; false when it is there already. */
    mark(edge: number): boolean {
      if (isMarked(edge)) return false
      mark[edge] = firstMark[connection[edge]!]!
      firstMark[connection[edge]!] = edge
      return true
    },
    firstMarked: (ofConnection: number) => (ofConnection < firstMark.length ? firstMark[ofConnection]! : NIL),
    /** Takes the first edge off the list, because it is being told; returns the one that is first now. */
    unmarkFirst(edge: number): number {
      const next = mark[edge]!
      firstMark[connection[edge]!] = next
      mark[edge] = UNMARKED - waveOf(target[edge]!)
      return next
    },

    /** A change of the target goes round as a wave with this number; an earlier one is overtaken. */
    beginWave: (ofTarget: number, wave: number) => void waves.set(ofTarget, wave),
    endWave: (ofTarget: number) => void waves.delete(ofTarget),
    /** Whether the wave of its target has yet to tell this edge. */
    isOwedByWave(edge: number): boolean {
      const wave = waveOf(target[edge]!)
      return wave !== 0 && !isMarked(edge) && UNMARKED - mark[edge]! !== wave
    },
    /** The wave came by; an edge that is marked is told when it is sent. */
    passByWave(edge: number): void {
      if (!isMarked(edge)) mark[edge] = UNMARKED - waveOf(target[edge]!)
    },
    openCursor(ofTarget: number, edge: number): Cursor {
      const cursor = { edge }
      const open = cursors.get(ofTarget)
      if (open === undefined) cursors.set(ofTarget, new Set([cursor]))
      else open.add(cursor)
      return cursor
    },
    /** Moves a cursor that is not at the end on to the next edge; returns the edge it was at. */
    advance(cursor: Cursor): number {
      const { edge } = cursor
      const own: OwnCursor = cursor
      own.edge = nextOfTarget[edge]!
      return edge
    },
    closeCursor(ofTarget: number, cursor: Cursor): void {
      const open = cursors.get(ofTarget)
      if (open?.delete(cursor) && open.size === 0) cursors.delete(ofTarget)
    },
  }
}
