// Which user changes when. Changes are numbered from 0; the number determines the user, the serial among
// that user's changes, and the instant when it is due. All processes hold the same schedule, so a receiver
// knows when a change was due even if its sender was late: slow moments stay in the figures (no coordinated
// omission).
import { createRandom, shuffled } from '../platform/random.ts'

export interface ScheduleSpec {
  users: number
  /** How many of them change; they take turns. */
  changers: number
  /** `sequential` are neighbours one after the other, beginning with user 0. */
  order: 'shuffled' | 'sequential'
  seed: number
}

/** A stretch at one rate. Phases follow each other without a gap in the numbers. */
export interface Phase {
  startAt: number
  perSecond: number
  changes: number
}

export interface Schedule {
  changers: number
  /** Changes in all phases so far. */
  total(): number
  add(phase: Phase): void
  phases: readonly (Phase & { first: number })[]
  userOf(change: number): number
  /** 1 for the first change of a user. */
  serialOf(change: number): number
  /** How many changes of a user are in all phases so far; 0 for a user without changes. */
  serialsOf(user: number): number
  /** The number of a change; -1 if that user has no such change. */
  changeOf(user: number, serial: number): number
  /** Which phase a change belongs to; -1 if it is in none. */
  phaseOf(change: number): number
  dueAt(change: number): number
}

const SEED_SALT = 0x5eed

export function createSchedule({ users, changers, order, seed }: ScheduleSpec): Schedule {
  const userByTurn =
    order === 'shuffled'
      ? shuffled(users, createRandom(seed ^ SEED_SALT)).subarray(0, changers)
      : Int32Array.from({ length: changers }, (_, turn) => turn)
  const turnByUser = new Int32Array(users).fill(-1)
  for (const [turn, user] of userByTurn.entries()) turnByUser[user] = turn
  const phases: (Phase & { first: number })[] = []
  let total = 0

  function phaseOf(change: number): number {
    if (change < 0 || change >= total) return -1
    let phase = phases.length - 1
    while (phases[phase]!.first > change) phase--
    return phase
  }

  return {
    changers,
    phases,
    total: () => total,
    add(phase) {
      phases.push({ ...phase, first: total })
      total += phase.changes
    },
    userOf: (change) => userByTurn[change % changers]!,
    serialOf: (change) => Math.floor(change / changers) + 1,
    serialsOf(user) {
      const turn = turnByUser[user]!
      return turn < 0 || total <= turn ? 0 : Math.floor((total - 1 - turn) / changers) + 1
    },
    changeOf(user, serial) {
      const turn = turnByUser[user]!
      return turn < 0 || serial < 1 ? -1 : (serial - 1) * changers + turn
    },
    phaseOf,
    dueAt(change) {
      const phase = phases[phaseOf(change)]!
      return phase.startAt + ((change - phase.first) / phase.perSecond) * 1000
    },
  }
}
