// Numbers for the rows of connections, lent and given back. Neighbouring numbers are a block, and a block has its
// turns of the outbox together, which is kind to the caches. Which block a new connection gets a place in is left
// to chance: by the order of coming, when it has its turn would tell how many others came, hidden ones too.

const BLOCK_BITS = 6
const BLOCK_ROWS = 1 << BLOCK_BITS
/** Blocks come in sets of so many, one for each lot. */
export const LOTS = 10

export const lotOf = (row: number): number => (row >> BLOCK_BITS) % LOTS

export interface RowNumbers {
  take(): number
  giveBack(row: number): void
  /** All numbers that were ever lent are below this one. */
  end(): number
}

/** `chance` gives a whole number from zero up to the one it is given. */
export function createRowNumbers(chance: (below: number) => number): RowNumbers {
  const free = Array.from({ length: LOTS }, (): number[] => [])
  let end = 0

  function addBlocks(): void {
    for (const rows of free) {
      end += BLOCK_ROWS
      // Taken from the end, and so in their order.
      for (let before = 1; before <= BLOCK_ROWS; before++) rows.push(end - before)
    }
  }

  return {
    take() {
      const rows = free[chance(LOTS)]!
      if (rows.length === 0) addBlocks()
      return rows.pop()!
    },
    giveBack: (row) => void free[lotOf(row)]!.push(row),
    end: () => end,
  }
}
