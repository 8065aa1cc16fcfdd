// An interval for heartbeats. Browsers slow down timers of hidden pages to once a second, and Chrome after
// five minutes to once a minute, which is longer than the heartbeat TTL. Timers of workers are not slowed
// down, so while a page is hidden a tiny worker ticks for it. If a security policy forbids the worker, the
// server closes the connection for want of a heartbeat; the page gets that event at once and reconnects within
// the offline delay, so the user does not appear offline.
import type { Runtime, Timer } from '../platform.ts'

export function startPulse(runtime: Runtime, intervalMs: number, run: () => void): Timer {
  const interval = runtime.every(intervalMs, run)
  const { window } = runtime
  if (!window?.Worker) return interval
  const { document, Worker, URL, Blob } = window
  const address = URL.createObjectURL(new Blob([`setInterval(postMessage,${intervalMs},0)`]))
  let worker: Worker | undefined

  function look(): void {
    // A change of visibility is also a chance to send a late heartbeat.
    run()
    worker?.terminate()
    worker = undefined
    if (!document.hidden) return
    try {
      worker = new Worker(address)
      worker.onmessage = run
    } catch {
      // Forbidden by a security policy; see above.
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
