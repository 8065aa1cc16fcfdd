// A map that keeps recent entries takes no longer when it is full: the best later fill beside the first.
import { createRecentMap } from '../../../server/src/platform/recent-map.ts'
import type { BoundGroup } from './bounds.ts'

const ENTRIES = 20_000
const ROUNDS = 12
/** The first rounds are slow because the code is not compiled yet. */
const WARM_ROUNDS = 4

export const recentMap: BoundGroup = {
  name: 'recent-map',
  bounds: ['full recent map'],
  async run() {
    const map = createRecentMap<number>(ENTRIES)
    const fill = (from: number): number => {
      const startedAt = Bun.nanoseconds()
      for (let at = from; at < from + ENTRIES; at++) map.set(`user-${at}`, at)
      return Bun.nanoseconds() - startedAt
    }
    const rounds = Array.from({ length: ROUNDS }, (_, round) => fill(round * ENTRIES))
    return [{ name: 'full recent map', value: Math.min(...rounds.slice(WARM_ROUNDS)) / rounds[0]! }]
  },
}
