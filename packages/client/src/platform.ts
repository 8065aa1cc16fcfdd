// The outermost edge: time, chance and whatever the runtime offers, in one object that is handed down.
// Nothing else in this package reads a global, and this file reads them only when it is called, so that
// importing the package on a server renders nothing and breaks nothing.

/** As good as unique: 36 to the power of 20. */
const NAME_CHARACTERS = 20

export interface Timer {
  stop(): void
}

export type Page = Window & typeof globalThis

export interface Runtime {
  now(): number
  after(delayMs: number, run: () => void): Timer
  every(intervalMs: number, run: () => void): Timer
  /** From 0 up to 1. */
  random(): number
  /** A name nobody else has; not a secret. */
  newName(): string
  fetch(url: string, init: RequestInit): Promise<Response>
  WebSocket: typeof WebSocket | undefined
  /** Null outside of pages: in Node, Bun, Deno and in workers. */
  window: Page | null
  locks: LockManager | undefined
  BroadcastChannel: typeof BroadcastChannel | undefined
}

export function ambientRuntime(): Runtime {
  const scope = globalThis
  return {
    now: () => Date.now(),
    after(delayMs, run) {
      const timer = setTimeout(run, delayMs)
      return { stop: () => clearTimeout(timer) }
    },
    every(intervalMs, run) {
      const timer = setInterval(run, intervalMs)
      return { stop: () => clearInterval(timer) }
    },
    random: () => Math.random(),
    newName() {
      let name = ''
      while (name.length < NAME_CHARACTERS) name += Math.random().toString(36).slice(2)
      return name.slice(0, NAME_CHARACTERS)
    },
    fetch: (url, init) => scope.fetch(url, init),
    WebSocket: scope.WebSocket,
    window: typeof document === 'undefined' ? null : window,
    // Both are there in every runtime that has tabs; Bun and Node have some of it too, and no use for it.
    locks: scope.navigator?.locks,
    BroadcastChannel: scope.BroadcastChannel,
  }
}
