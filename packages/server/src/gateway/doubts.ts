// Reports that events or messages may have been lost. Any part reports, and membership listens: made before
// both, so that no part needs a reference to one that is built later.

export interface Doubts {
  report(why: string): void
  /** There is one listener; reports before it are dropped, because nothing was announced yet. */
  listen(listener: (why: string) => void): void
}

export function createDoubts(): Doubts {
  let listener: (why: string) => void = () => {}
  return {
    report: (why) => listener(why),
    listen(next) {
      listener = next
    },
  }
}
