// Reports that events or messages may have been lost. Any part reports, and membership listens: made before
// both, so that no part needs a reference to one that is built later.

export interface Doubts {
  /** With shards: only what is in these shards may be lost. */
  report(why: string, shards?: readonly number[]): void
  /** There is one listener; reports before it are dropped, because nothing was announced yet. */
  listen(listener: Listener): void
}

type Listener = (why: string, shards?: readonly number[]) => void

export function createDoubts(): Doubts {
  let listener: Listener = () => {}
  return {
    report: (why, shards) => listener(why, shards),
    listen(next) {
      listener = next
    },
  }
}
