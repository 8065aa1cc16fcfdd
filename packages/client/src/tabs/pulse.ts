// A steady beat. Browsers slow the timers of hidden pages down, to once a second and after five minutes
// (Chrome) to once a minute, which is longer than servers bear silence. Timers of workers keep their pace,
// so while a page is hidden a tiny worker ticks for it. Where a security policy forbids that, the server
// closes the connection for want of a heartbeat; that event is not slowed down, the link comes back on it
// at once, and within the server's grace nobody sees anything. In workers and outside of browsers timers
// are honest, and this is an ordinary interval.
import type { Runtime, Timer } from '../platform.ts'

export function startPulse(runtime: Runtime, intervalMs: number, run: () => void): Timer {
  const interval = runtime.every(intervalMs, run)
  const { window } = runtime
  if (!window?.Worker) return interval
  const { document, Worker, URL, Blob } = window
  const address = URL.createObjectURL(new Blob([`setInterval(postMessage,${intervalMs},0)`]))
  let worker: Worker | undefined

  function look(): void {
    // Hiding and showing are moments at which to be on time, too.
    run()
    worker?.terminate()
    worker = undefined
    if (!document.hidden) return
    try {
      worker = new Worker(address)
      worker.onmessage = run
    } catch {
      // Forbidden here; see above for why that is bearable.
    }
  }

  document.addEventListener('visibilitychange', look)
  look()
  return {
    stop() {
      interval.stop()
      worker?.terminate()
      URL.revokeObjectURL(address)
      document.removeEventListener('visibilitychange', look)
    },
  }
}
