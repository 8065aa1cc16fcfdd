// Waiting for what comes over a wire, instead of sleeping: whoever waits looks now and again whenever
// something came. A wait has an end, and one that ends in vain says what it was for.

export interface Lookout {
  /** Something came, and all who wait look again. */
  notify(): void
  /** `inVain` says, once the time is over, what did not come. */
  until<T>(withinMs: number, find: () => T | undefined, inVain: () => string): Promise<T>
}

export function createLookout(): Lookout {
  const looks = new Set<() => void>()
  return {
    notify() {
      for (const look of [...looks]) look()
    },
    until(withinMs, find, inVain) {
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          looks.delete(look)
          reject(new Error(inVain()))
        }, withinMs)
        function look(): void {
          const found = find()
          if (found === undefined) return
          looks.delete(look)
          clearTimeout(timer)
          resolve(found)
        }
        looks.add(look)
        look()
      })
    },
  }
}
