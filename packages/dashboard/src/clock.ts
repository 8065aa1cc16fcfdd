// The only place of the page that reads the clock. Everything else is told what time it is, or asks here
// to be called later.

export interface Timer {
  stop(): void
}

export const now = (): number => Date.now()

export function after(delayMs: number, run: () => void): Timer {
  const timer = setTimeout(run, delayMs)
  return { stop: () => clearTimeout(timer) }
}

export function every(intervalMs: number, run: () => void): Timer {
  const timer = setInterval(run, intervalMs)
  return { stop: () => clearInterval(timer) }
}

/** Calls back while the page can be seen, and at once when it can be seen again. */
export function everyWhileVisible(intervalMs: number, run: () => void): Timer {
  let timer: Timer | null = null
  function look(): void {
    timer?.stop()
    timer = null
    if (document.hidden) return
    run()
    timer = every(intervalMs, run)
  }
  document.addEventListener('visibilitychange', look)
  look()
  return {
    stop() {
      timer?.stop()
      document.removeEventListener('visibilitychange', look)
    },
  }
}
