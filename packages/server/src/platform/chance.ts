// The only source of chance. A simulation puts a seeded source in its place, so that the same seed gives the same
// names and the same waits.
import { randomBytes } from 'node:crypto'

export interface Chance {
  /** From 0 up to 1. */
  fraction(): number
  bytes(count: number): Buffer
}

const ofTheMachine: Chance = { fraction: () => Math.random(), bytes: (count) => randomBytes(count) }

let present = ofTheMachine

export const chance: Chance = {
  fraction: () => present.fraction(),
  bytes: (count) => present.bytes(count),
}

/** Null for the chance of the machine. */
export function useChance(source: Chance | null): void {
  present = source ?? ofTheMachine
}
