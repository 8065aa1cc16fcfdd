// Holds a weakened server against histories until one of them notices it.
import fc from 'fast-check'
import { compare } from '../compare.ts'
import { KINDS } from '../kinds.ts'
import { LEAKS } from '../leaks.ts'
import type { Weakening } from './weakening.ts'

export interface Catch {
  /** The title of what noticed it. */
  by: string
  /** How many histories were played until then. */
  histories: number
}

/** By the small histories; null when none notices it. */
export async function caughtBySmall(weakening: Weakening): Promise<Catch | null> {
  for (const [position, { title, history }] of LEAKS.entries()) {
    const { difference } = await compare(history, weakening)
    if (difference !== null) return { by: title, histories: position + 1 }
  }
  return null
}

/** By random histories of all kinds in turn, at most so many of each; null when none notices it. */
export async function caughtByRandom(
  weakening: Weakening,
  { runs, seed }: { runs: number; seed: number },
): Promise<Catch | null> {
  const samples = KINDS.map(({ title, histories }) => ({
    title,
    histories: fc.sample(histories, { numRuns: runs, seed }),
  }))
  for (let run = 0; run < runs; run++) {
    for (const [position, { title, histories }] of samples.entries()) {
      const { difference } = await compare(histories[run]!, weakening)
      if (difference !== null) return { by: title, histories: run * samples.length + position + 1 }
    }
  }
  return null
}
