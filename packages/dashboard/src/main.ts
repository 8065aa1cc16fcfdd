// Starts the page: the address decides the view, and each view begins when it is first shown. Links lead
// everywhere, so there is nothing to click that cannot be bookmarked.
import type { DotState } from '@greendot/client'
import type { Laptop } from './demo/own-connection.ts'
import { createDemo } from './demo/view.ts'
import { byId, setAttribute, setText } from './dom.ts'
import { createDashboard } from './ops/view.ts'
import { hashOf, type Place, placeOf } from './route.ts'
import { startTheme } from './theme.ts'

const LINKS: Record<DotState | Laptop | 'refused', string> = {
  connecting: 'Connecting …',
  live: 'Live',
  stale: 'Connection lost',
  left: 'Said goodbye',
  closed: 'Lid closed',
  refused: 'Not signed in',
  in_use: 'Live',
  idle: 'Live',
}

function navigate(hash: string, isQuiet = false): void {
  if (!isQuiet) {
    location.hash = hash
    return
  }
  history.replaceState(null, '', hash)
  showFrame(placeOf(hash))
}

const main = byId('view')
const demo = createDemo({
  navigate,
  onLink(state) {
    document.body.dataset.link = state
    setText(byId('link'), LINKS[state])
  },
})
const dashboard = createDashboard({ navigate })
main.append(demo.element, dashboard.element)

/** Views of the same person: whoever looks at the dashboard for a moment comes back as who they were. */
function showFrame({ view, as, hasNeighbours }: Place): void {
  document.body.dataset.view = view
  document.title = `${view === 'dashboard' ? 'Dashboard' : (as ?? 'Demo')} · Greendot`
  const toDemo = byId<HTMLAnchorElement>('to-demo')
  const toDashboard = byId<HTMLAnchorElement>('to-dashboard')
  toDemo.href = hashOf({ as, hasNeighbours })
  toDashboard.href = hashOf({ view: 'dashboard', as, hasNeighbours })
  setAttribute(toDemo, 'aria-current', view === 'demo' && 'page')
  setAttribute(toDashboard, 'aria-current', view === 'dashboard' && 'page')
}

function showPlace(): void {
  const place = placeOf(location.hash)
  showFrame(place)
  demo.element.hidden = place.view !== 'demo'
  dashboard.element.hidden = place.view !== 'dashboard'
  dashboard.show(place.view === 'dashboard' ? place : null)
  if (place.view === 'demo') void demo.go(place)
}

// Not by its address: that part of it is ours.
byId('skip').addEventListener('click', (event) => {
  event.preventDefault()
  main.focus()
})
startTheme()
addEventListener('hashchange', showPlace)
showPlace()
