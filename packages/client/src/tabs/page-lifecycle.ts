// Page events. A page that is hidden for good or frozen closes its uplink: this allows the back-forward cache
// and passes the connection to another tab at once. If the page returns, it continues from what it knew.
// No `leave` is sent, because most pages that go away are being reloaded.

import type { OpenUplink } from '../connection/messages.ts'
import type { InnerDot } from '../dot/dot.ts'
import type { Page, Timer } from '../platform.ts'

export function followPage(window: Page, dot: InnerDot, open: OpenUplink): Timer {
  const { document } = window
  const ending = new window.AbortController()
  const options = { signal: ending.signal }
  const suspend = () => dot.suspend()
  const resume = () => dot.resume(open)
  const poke = () => dot.poke()
  window.addEventListener('pagehide', suspend, options)
  // Without `persisted` the page is shown for the first time, which is handled below.
  window.addEventListener('pageshow', ({ persisted }) => persisted && resume(), options)
  document.addEventListener('freeze', suspend, options)
  document.addEventListener('resume', resume, options)
  // The network changed or the machine has slept: the connection may be dead.
  window.addEventListener('online', poke, options)
  window.addEventListener('offline', poke, options)
  document.addEventListener('visibilitychange', () => document.hidden || poke(), options)
  // A prerendered page may never be shown.
  if ('prerendering' in document && document.prerendering)
    document.addEventListener('prerenderingchange', resume, options)
  else resume()
  return { stop: () => ending.abort() }
}
