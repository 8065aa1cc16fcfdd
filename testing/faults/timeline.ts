// The true values of one property of one user over time, appended in order. A state that a watcher saw is
// compared with the stretch of time that it may be late by.

export interface Timeline<T> {
  current(): T
  /** Since when the current value is true. */
  since(): number
  /** Whether this value was the true one at any instant of the stretch. */
  wasWithin(value: T, from: number, to: number): boolean
  set(value: T, at: number): void
  /** All values in order, each with the stretch in which it was the true one. */
  stretches(): { value: T; from: number; to: number }[]
}

export function createTimeline<T>(initial: T): Timeline<T> {
  const values: T[] = [initial]
  const starts: number[] = [Number.NEGATIVE_INFINITY]
  const last = () => values.length - 1
  return {
    current: () => values[last()]!,
    since: () => starts[last()]!,
    wasWithin(value, from, to) {
      for (let index = last(); index >= 0; index--) {
        const isAfter = starts[index]! > to
        if (!isAfter && values[index] === value) return true
        // Everything before this one ended before the stretch began.
        if (starts[index]! <= from) return false
      }
      return false
    },
    set(value, at) {
      if (values[last()] === value) return
      values.push(value)
      starts.push(at)
    },
    stretches: () =>
      values.map((value, index) => ({
        value,
        from: starts[index]!,
        to: starts[index + 1] ?? Number.POSITIVE_INFINITY,
      })),
  }
}
