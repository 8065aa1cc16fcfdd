// The only place of the page that reads the clock or sets timers. Everything else gets the time as an argument.

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

/** Runs while the page is visible, and at once when it becomes visible. */
export function everyWhileVisible(intervalMs: number, run: () => void): Timer {
  let timer: Timer | null = null
  function toggle(): void {
    timer?.stop()
    timer = null
    if (document.hidden) return
    run()
    timer = every(intervalMs, run)
  }
  document.addEventListener('visibilitychange', toggle)
  toggle()
  return {
    stop() {
      timer?.stop()
      document.removeEventListener('visibilitychange', toggle)
    },
  }
}
