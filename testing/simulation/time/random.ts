// The chance of a run, from its seed. Each part draws from a stream of its own, so that a run without one fault is as
// similar to the run with it as it can be: that is what shrinking needs.
import { createRandom } from '../../../packages/bench/src/platform/random.ts'

export interface Random {
  /** From 0 up to 1. */
  fraction(): number
  /** From 0 up to below the count. */
  below(count: number): number
  between(from: number, to: number): number
  isTrue(share: number): boolean
  pick<T>(from: readonly T[]): T
  bytes(count: number): Buffer
}

export function randomOf(seed: number, part: string): Random {
  let mixed = (seed ^ 0x9e3779b9) >>> 0
  for (let index = 0; index < part.length; index++)
    mixed = Math.imul(mixed ^ part.charCodeAt(index), 0x85ebca6b) >>> 0
  const fraction = createRandom(mixed)
  const below = (count: number) => Math.floor(fraction() * count)
  return {
    fraction,
    below,
    between: (from, to) => from + fraction() * (to - from),
    isTrue: (share) => fraction() < share,
    pick: (from) => from[below(from.length)]!,
    bytes: (count) => Buffer.from(Array.from({ length: count }, () => below(256))),
  }
}
