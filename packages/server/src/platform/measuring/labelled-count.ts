// A counter with one label, whose values are few and known: never an id or a text of a user. What is announced
// beforehand is exposed with 0, so that the first increase is seen as one.

/** Further values are counted as `other`, so that no mistake makes the number of series grow. */
const VALUES_MAX = 64
const OTHER = 'other'

export interface LabelledCount {
  /** These values will be counted. */
  announce(values: readonly string[]): void
  add(value: string): void
  entries(): [value: string, count: number][]
}

export function createLabelledCount(): LabelledCount {
  const counts = new Map<string, number>()
  return {
    announce(values) {
      for (const value of values) counts.set(value, counts.get(value) ?? 0)
    },
    add(value) {
      const known = counts.get(value)
      if (known !== undefined) counts.set(value, known + 1)
      else if (counts.size < VALUES_MAX) counts.set(value, 1)
      else counts.set(OTHER, (counts.get(OTHER) ?? 0) + 1)
    },
    entries: () => [...counts],
  }
}
