// Waits for something to arrive, instead of sleeping: a wait checks its condition at once and after every
// arrival. A wait that times out says what it was for.

export interface Lookout {
  /** Something arrived: every wait checks again. */
  notify(): void
  /**
   * `inVain` makes the message for a wait that timed out. When nothing is found and `failure` is not null, the wait ends
   * at once with that error.
   */
  until<T>(
    withinMs: number,
    find: () => T | undefined,
    inVain: () => string,
    failure?: () => Error | null,
  ): Promise<T>
}

export function createLookout(): Lookout {
  const looks = new Set<() => void>()
  return {
    notify() {
      for (const look of [...looks]) look()
    },
    until(withinMs, find, inVain, failure = () => null) {
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          looks.delete(look)
          reject(new Error(inVain()))
        }, withinMs)
        function look(): void {
          const found = find()
          const failed = found === undefined ? failure() : null
          if (found === undefined && failed === null) return
          looks.delete(look)
          clearTimeout(timer)
          if (found === undefined) reject(failed)
          else resolve(found)
        }
        looks.add(look)
        look()
      })
    },
  }
}
