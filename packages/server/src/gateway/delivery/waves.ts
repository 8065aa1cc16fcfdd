// A change of somebody with a large audience goes round as a wave: a cursor on the list of a crowd of
// watchers, moved a little at every tick. Newcomers join the list before the cursor, and an edge that
// leaves takes the cursor along, so nobody is skipped and no freed edge is touched. Every change has a
// number, and an edge that was told carries it: a change during a wave makes the wave go round once
// more, as far as it had come, and only those are told again who have not heard the newest. Everybody on its way
// takes up their time, told or not: what somebody heard before, maybe unnoticed, makes nobody else's turn come sooner.
import type { Clock } from '../../platform/clock.ts'
import { type Plans, planFor } from './plans.ts'
import { type Crowd, MARKED, NIL, type WatchIndex } from './watch-index.ts'

const TICK_MS = 10
/** Time that passed while the loop was busy is not made up for in one burst. */
const TICK_MS_MAX = 50
/** A tick that takes longer than this leaves the other waves to the next one. */
const TURN_BUDGET_MS = 4
/** Edges looked at in one go. */
const VISITS_MAX = 2_000
/** Waves aim at this share of the time they have; the rest is for ticks that come late. */
const AIM = 0.9
/** Change numbers go with an edge in 31 bits. After two thousand million they begin again. */
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
  /** The target of a large crowd changed. Takes no longer for more watchers. */
  changed(crowd: Crowd): void
  /** Everybody is told otherwise. */
  cancel(crowd: Crowd): void
  /** The number of the change that a wave brings to this crowd; 0 when there is none under way. */
  changeOf(crowd: Crowd): number
  /** The same for the crowd of an edge. */
  changeFor(edge: number): number
  /** Whether a wave is still to tell this edge. */
  isOwed(edge: number): boolean
  /** An edge was taken off the list of its crowd. */
  moveOff(crowd: Crowd, edge: number, next: number): void
  walking(): number
  waiting(): number
  stop(): void
}

export interface WavesParts {
  index: WatchIndex
  plans: Plans
  pace: Pace
  flushMs: number
  clock: Clock
  /** Waves are about to move. */
  onTick(): void
  /** Marks the edge if its viewer has something to hear, and notes that it was told this change. */
  tell(edge: number, change: number): void
}

interface Wave {
  crowd: Crowd
  change: number
  /** Since when somebody may be waiting for what it brings. */
  owedSince: number
  /** Edges it has yet to come by, about. */
  left: number
  /** Where this round may end, because all from there on have heard; NIL for the end of the list. */
  end: number
  /** Null while it waits in the queue. */
  walk: Walk | null
}

interface Walk {
  isQueued: boolean
  /** The next edge to look at. */
  cursor: number
  passed: number
  /** Parts of an edge that may be passed by now. */
  credit: number
  creditedAt: number
  /** What changed since it set out, and those it had passed by then, who have to hear of it. */
  again: { owedSince: number; left: number; end: number } | null
}

export function createWaves({ index, plans, pace, flushMs, clock, onTick, tell }: WavesParts): Waves {
  const waves = new Map<Crowd, Wave>()
  /** Whoever had its turn goes to the end, so that a short tick is not always short for the same. */
  const walking = new Set<Wave>()
  /** First come, first served. One entry a target, so it is never longer than there are such people. */
  const waiting = new Set<Wave>()
  const limitMs = Math.max(1, (plans.paceMsMax - flushMs) * AIM)
  let lastChange = 0
  let queuedWalkers = 0
  let isTicking = false
  let isStopped = false

  function setOut(wave: Wave, isQueued: boolean): void {
    wave.walk = {
      isQueued,
      cursor: index.firstWatcher(wave.crowd),
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
    wave.walk = null
  }

  function enter(wave: Wave): void {
    if (planFor(wave.crowd, index.watchers(wave.crowd), plans) === 'queued') waiting.add(wave)
    else setOut(wave, false)
    letNextSetOut()
    if (!isTicking) tickLater()
  }

  function letNextSetOut(): void {
    for (const wave of waiting) {
      if (queuedWalkers >= pace.walkers) return
      waiting.delete(wave)
      setOut(wave, true)
    }
  }

  function tickLater(): void {
    if (isStopped) return
    isTicking = true
    // By the clock, not from the first wave on: whose that was, and that there was one, is not to be told.
    clock.after(TICK_MS - (clock.now() % TICK_MS), tick)
  }

  function tick(): void {
    onTick()
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
    isTicking = false
    if (waves.size > 0) tickLater()
  }

  const timeLeft = ({ owedSince }: Wave, now: number) => Math.max(TICK_MS, owedSince + limitMs - now)

  /** What each walker from the queue tells in a millisecond, so that the last in the queue is in time. */
  function queuedPace(now: number): number {
    let ahead = 0
    let needed = pace.queuedPerMs * queuedWalkers
    const look = (wave: Wave) => {
      ahead += Math.max(0, wave.left)
      needed = Math.max(needed, ahead / timeLeft(wave, now))
    }
    for (const wave of walking) if (wave.walk?.isQueued) look(wave)
    for (const wave of waiting) look(wave)
    return Math.min(needed, pace.queuedPerMsMax) / Math.max(1, queuedWalkers)
  }

  function move(wave: Wave, walk: Walk, perMs: number, now: number): void {
    walk.credit = Math.min(walk.credit, 1) + perMs * Math.min(now - walk.creditedAt, TICK_MS_MAX)
    walk.creditedAt = now
    const isDone = () => walk.cursor === NIL || walk.cursor === wave.end
    for (let visits = 0; !isDone() && walk.credit >= 1 && visits < VISITS_MAX; visits++) {
      const edge = walk.cursor
      walk.cursor = index.nextWatcher(edge)
      walk.credit--
      walk.passed++
      wave.left--
      if (isOwedBy(wave, edge)) tell(edge, wave.change)
    }
    if (isDone()) arrive(wave, walk)
  }

  function arrive(wave: Wave, { again }: Walk): void {
    halt(wave)
    if (again === null) waves.delete(wave.crowd)
    else {
      wave.owedSince = again.owedSince
      wave.left = again.left
      wave.end = again.end
      enter(wave)
    }
    letNextSetOut()
  }

  function isOwedBy(wave: Wave, edge: number): boolean {
    const told = index.told(edge)
    return told !== wave.change && told !== MARKED
  }

  /** Those ahead of the cursor get the newest anyway; those behind it, with the next round. */
  function goRoundOnceMore(wave: Wave, walk: Walk): void {
    wave.left = Math.max(wave.left, index.watchers(wave.crowd) - walk.passed)
    if (walk.cursor === index.firstWatcher(wave.crowd)) return
    const owedSince = walk.again?.owedSince ?? clock.elapsed()
    walk.again = { owedSince, left: walk.passed, end: walk.cursor }
  }

  function cancel(crowd: Crowd): void {
    const wave = waves.get(crowd)
    if (wave === undefined) return
    waves.delete(crowd)
    halt(wave)
    letNextSetOut()
  }

  return {
    changed(crowd) {
      lastChange = lastChange >= CHANGE_MAX ? 1 : lastChange + 1
      const wave = waves.get(crowd)
      if (wave === undefined) {
        const left = index.watchers(crowd)
        const owedSince = clock.elapsed()
        const fresh = { crowd, change: lastChange, owedSince, left, end: NIL, walk: null }
        waves.set(crowd, fresh)
        enter(fresh)
        return
      }
      wave.change = lastChange
      // Nobody has heard this one.
      wave.end = NIL
      if (wave.walk !== null) goRoundOnceMore(wave, wave.walk)
    },
    cancel,
    changeOf: (crowd) => (waves.size === 0 ? 0 : (waves.get(crowd)?.change ?? 0)),
    changeFor: (edge) => (waves.size === 0 ? 0 : (waves.get(index.crowdOf(edge))?.change ?? 0)),
    isOwed(edge) {
      const wave = waves.size === 0 ? undefined : waves.get(index.crowdOf(edge))
      return wave !== undefined && isOwedBy(wave, edge)
    },
    moveOff(crowd, edge, next) {
      const wave = waves.size === 0 ? undefined : waves.get(crowd)
      if (wave === undefined) return
      const { walk } = wave
      if (walk?.cursor === edge) walk.cursor = next
      if (walk?.again?.end === edge) walk.again.end = next
      if (wave.end === edge) wave.end = next
      // The number of a target that nobody watches may soon be somebody else's.
      if (index.watchers(crowd) === 0) cancel(crowd)
    },
    walking: () => walking.size,
    waiting: () => waiting.size,
    stop() {
      isStopped = true
    },
  }
}
