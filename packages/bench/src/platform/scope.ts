// Everything that was started is stopped, in reverse order, at the end of a scenario, after an error and
// after Ctrl-C.

export interface Scope {
  /** Remembers how to stop something that now runs. */
  add(stop: () => Promise<void> | void): void
  close(): Promise<void>
}

export function createScope(): Scope {
  const stops: (() => Promise<void> | void)[] = []
  return {
    add: (stop) => void stops.push(stop),
    async close() {
      const failures: unknown[] = []
      for (let stop = stops.pop(); stop !== undefined; stop = stops.pop()) {
        try {
          await stop()
        } catch (error) {
          failures.push(error)
        }
      }
      if (failures.length > 0) throw failures[0]
    },
  }
}
