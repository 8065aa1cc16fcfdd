// Time, randomness and runtime features, in one object that is passed down. Nothing else in this package reads
// a global, and this file reads them only when called, so that the package can be imported on a server.

/** 36^20 names: unique in practice. */
const NAME_CHARACTERS = 20

export interface Timer {
  stop(): void
}

export type Page = Window & typeof globalThis

export interface Runtime {
  now(): number
  after(delayMs: number, run: () => void): Timer
  every(intervalMs: number, run: () => void): Timer
  /** From 0 up to, but not including, 1. */
  random(): number
  /** A unique name; not a secret. */
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
    // Present in every runtime that has tabs. Bun and Node have parts of them; they are not used there.
    locks: scope.navigator?.locks,
    BroadcastChannel: scope.BroadcastChannel,
  }
}
