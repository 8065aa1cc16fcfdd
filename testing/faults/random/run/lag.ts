// How late the timers of the harness are at worst. On a loaded machine the servers are late too.

const EVERY_MS = 50

export function measureLag(): { worstMs(): number; stop(): void } {
  let worstMs = 0
  let dueAt = performance.now() + EVERY_MS
  const timer = setInterval(() => {
    const now = performance.now()
    worstMs = Math.max(worstMs, now - dueAt)
    dueAt = now + EVERY_MS
  }, EVERY_MS)
  return { worstMs: () => worstMs, stop: () => clearInterval(timer) }
}
