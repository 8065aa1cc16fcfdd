// What happens to the page a dot lives in. A page that is put away lets go of everything, which keeps it
// fit for the back-forward cache and hands the connection to another tab at once; should it come back, it
// goes on from what it knew. No goodbye is sent: most pages that go away are being reloaded.

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
  // Other pages are shown for the first time, perhaps to nobody yet.
  window.addEventListener('pageshow', ({ persisted }) => persisted && resume(), options)
  document.addEventListener('freeze', suspend, options)
  document.addEventListener('resume', resume, options)
  // The network went or came, or the machine has slept: what looks connected may be dead.
  window.addEventListener('online', poke, options)
  window.addEventListener('offline', poke, options)
  document.addEventListener('visibilitychange', () => document.hidden || poke(), options)
  // A page that is rendered ahead is one nobody looks at yet, and perhaps nobody ever will.
  if ('prerendering' in document && document.prerendering)
    document.addEventListener('prerenderingchange', resume, options)
  else resume()
  return { stop: () => ending.abort() }
}
