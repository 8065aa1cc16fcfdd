// A change of a target with a large audience goes round as a wave: a cursor on its list of watchers, moved
// a little at every tick. New watchers join the list before the cursor, and an edge that leaves takes the
// cursor along, so no watcher is skipped. Every change has a number, and an edge that was told carries it: a
// change during a wave makes the wave go round once more, as far as it had come, and only watchers that have
// not heard the newest change are told again.
import type { Clock } from '../../platform/clock.ts'
import { NIL } from '../../platform/typed-arrays.ts'
import type { Outbox } from './outbox.ts'
import { type Plans, planFor } from './plans.ts'
import type { Cursor, WatchEdges } from './watch-edges.ts'

const TICK_MS = 10
/** Time that passed while the loop was busy is not made up for in one burst. */
const TICK_MS_MAX = 50
/** A tick that takes longer than this leaves the other waves to the next one. */
const TURN_BUDGET_MS = 4
/** Edges looked at in one go. */
const VISITS_MAX = 2_000
/** Waves aim at this share of the time they have; the rest is for ticks that come late. */
const AIM = 0.9
/** Numbers of changes take 31 bits on an edge, and then begin again. */
const CHANGE_MAX = 2 ** 31 - 4

export interface Pace {
  /** Watchers told in a millisecond by one wave of its own: at 80 µs each, 10,000 hear within a second. */
  pacedPerMs: number
  /** By one wave from the queue: at 200 µs each, 15,000 take three seconds and 50,000 ten. */
  queuedPerMs: number
  /** By all waves from the queue together when they are short of time: half of what one core can send. */
  queuedPerMsMax: number
  /** Waves from the queue that walk at the same time. */
  walkers: number
}

export const USUAL_PACE: Pace = { pacedPerMs: 12.5, queuedPerMs: 5, queuedPerMsMax: 64, walkers: 4 }

export interface Waves {
  /** A target with a large audience changed. Takes no longer for more watchers. */
  changed(target: number): void
  /** The change is marked for all watchers without a wave, or the target has no watchers any more. */
  cancel(target: number): void
  /** What a wave owes to this edge is told now, by what its viewer sees now (S6, decision 23: content). */
  payOff(edge: number): void
  walking(): number
  waiting(): number
  stop(): void
}

export interface WavesParts {
  edges: WatchEdges
  outbox: Outbox
  plans: Plans
  pace: Pace
  flushMs: number
  clock: Clock
}

interface Wave {
  target: number
  /** Since when watchers may be waiting for what it brings. */
  owedSince: number
  /** Edges it has yet to pass, about. */
  left: number
  /** Where this round may end, because all from there on have heard; null for the end of the list. */
  end: Cursor | null
  /** Null while it waits in the queue. */
  walk: Walk | null
}

interface Walk {
  isQueued: boolean
  /** The next edge to look at. */
  cursor: Cursor
  passed: number
  /** Parts of an edge that may be passed by now. */
  credit: number
  creditedAt: number
  /** Another round after a change during this one: for the watchers that the cursor had passed by then. */
  again: { owedSince: number; left: number; end: Cursor } | null
}

export function createWaves({ edges, outbox, plans, pace, flushMs, clock }: WavesParts): Waves {
  const waves = new Map<number, Wave>()
  /** A wave that had its turn goes to the end, so that a short tick is not always short for the same. */
  const walking = new Set<Wave>()
  /** First come, first served. One entry a target. */
  const waiting = new Set<Wave>()
  const limitMs = Math.max(1, (plans.paceMsMax - flushMs) * AIM)
  let lastChange = 0
  let queuedWalkers = 0
  let isTicking = false
  let isStopped = false

  function setOut(wave: Wave, isQueued: boolean): void {
    wave.walk = {
      isQueued,
      cursor: edges.openCursor(wave.target, edges.firstWatcher(wave.target)),
      passed: 0,
      credit: 0,
      creditedAt: clock.elapsed(),
      again: null,
    }
    walking.add(wave)
    if (isQueued) queuedWalkers++
  }

  function halt(wave: Wave): void {
    waiting.delete(wave)
    if (walking.delete(wave) && wave.walk?.isQueued) queuedWalkers--
    close(wave.target, wave.walk?.cursor)
    wave.walk = null
  }

  function close(target: number, cursor: Cursor | null | undefined): void {
    if (cursor) edges.closeCursor(target, cursor)
  }

  function enter(wave: Wave): void {
    if (planFor(edges.watchers(wave.target), plans) === 'queued') waiting.add(wave)
    else setOut(wave, false)
    letNextSetOut()
    tickLater()
  }

  function letNextSetOut(): void {
    for (const wave of waiting) {
      if (queuedWalkers >= pace.walkers) return
      waiting.delete(wave)
      setOut(wave, true)
    }
  }

  function tickLater(): void {
    if (isTicking || isStopped) return
    isTicking = true
    clock.after(TICK_MS, tick)
  }

  function tick(): void {
    isTicking = false
    const now = clock.elapsed()
    const queuedPerMs = queuedPace(now)
    for (const wave of [...walking]) {
      const { walk } = wave
      if (walk === null) continue
      const perMs = walk.isQueued ? queuedPerMs : Math.max(pace.pacedPerMs, wave.left / timeLeft(wave, now))
      walking.delete(wave)
      walking.add(wave)
      move(wave, walk, perMs, now)
      if (clock.elapsed() - now > TURN_BUDGET_MS) break
    }
    if (waves.size > 0) tickLater()
  }

  const timeLeft = ({ owedSince }: Wave, now: number) => Math.max(TICK_MS, owedSince + limitMs - now)

  /** What each walker from the queue tells in a millisecond, so that the last in the queue is in time. */
  function queuedPace(now: number): number {
    let ahead = 0
    let needed = pace.queuedPerMs * queuedWalkers
    const count = (wave: Wave) => {
      ahead += Math.max(0, wave.left)
      needed = Math.max(needed, ahead / timeLeft(wave, now))
    }
    for (const wave of walking) if (wave.walk?.isQueued) count(wave)
    for (const wave of waiting) count(wave)
    return Math.min(needed, pace.queuedPerMsMax) / Math.max(1, queuedWalkers)
  }

  function move(wave: Wave, walk: Walk, perMs: number, now: number): void {
    walk.credit = Math.min(walk.credit, 1) + perMs * Math.min(now - walk.creditedAt, TICK_MS_MAX)
    walk.creditedAt = now
    const { cursor } = walk
    const isDone = () => cursor.edge === NIL || cursor.edge === wave.end?.edge
    for (let visits = 0; !isDone() && walk.credit >= 1 && visits < VISITS_MAX; visits++) {
      const edge = edges.advance(cursor)
      walk.credit--
      walk.passed++
      wave.left--
      payOff(edge)
    }
    if (isDone()) arrive(wave, walk)
  }

  function payOff(edge: number): void {
    if (!edges.isOwedByWave(edge)) return
    outbox.mark(edge)
    edges.passByWave(edge)
  }

  function arrive(wave: Wave, { again }: Walk): void {
    if (again === null) {
      cancel(wave.target)
      return
    }
    halt(wave)
    close(wave.target, wave.end)
    wave.owedSince = again.owedSince
    wave.left = again.left
    wave.end = again.end
    enter(wave)
  }

  /** Watchers ahead of the cursor get the newest anyway; those behind it, with the next round. */
  function goRoundOnceMore(wave: Wave, walk: Walk): void {
    const { target } = wave
    wave.left = Math.max(wave.left, edges.watchers(target) - walk.passed)
    if (walk.cursor.edge === edges.firstWatcher(target)) return
    const owedSince = walk.again?.owedSince ?? clock.elapsed()
    close(target, walk.again?.end)
    walk.again = { owedSince, left: walk.passed, end: edges.openCursor(target, walk.cursor.edge) }
  }

  function cancel(target: number): void {
    const wave = waves.get(target)
    if (wave === undefined) return
    waves.delete(target)
    edges.endWave(target)
    close(target, wave.walk?.again?.end)
    close(target, wave.end)
    halt(wave)
    letNextSetOut()
  }

  return {
    changed(target) {
      lastChange = lastChange >= CHANGE_MAX ? 1 : lastChange + 1
      edges.beginWave(target, lastChange)
      const wave = waves.get(target)
      if (wave === undefined) {
        const left = edges.watchers(target)
        const fresh: Wave = { target, owedSince: clock.elapsed(), left, end: null, walk: null }
        waves.set(target, fresh)
        return enter(fresh)
      }
      // No watcher has heard this one.
      close(target, wave.end)
      wave.end = null
      if (wave.walk !== null) goRoundOnceMore(wave, wave.walk)
    },
    cancel,
    payOff,
    walking: () => walking.size,
    waiting: () => waiting.size,
    stop() {
      isStopped = true
    },
  }
}
