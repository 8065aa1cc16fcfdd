// Starts the page. The hash of the URL decides the view, and each view starts when it is first shown.

import type { DotState } from '@greendot/client'
import type { Laptop } from './demo/own/own-connection.ts'
import { createDemo } from './demo/view.ts'
import { byId, setAttribute, setText } from './dom.ts'
import { createDashboard } from './ops/view.ts'
import { hashOf, type Route, routeOf } from './route.ts'
import { startTheme } from './theme.ts'

const LINKS: Record<DotState | Laptop | 'refused', string> = {
  connecting: 'Connecting …',
  live: 'Live',
  stale: 'Connection lost',
  left: 'Said goodbye',
  disconnected: 'Disconnected',
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
  showFrame(routeIn(hash))
}

/** The server may serve the dashboard only. */
const hasDemo = document.documentElement.dataset.pages !== 'dashboard'
byId('to-demo').hidden = !hasDemo

function routeIn(hash: string): Route {
  const route = routeOf(hash)
  return hasDemo ? route : { ...route, view: 'dashboard' }
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

/** Links between the views keep the user. */
function showFrame({ view, as, hasNeighbours }: Route): void {
  document.body.dataset.view = view
  document.title = `${view === 'dashboard' ? 'Dashboard' : (as ?? 'Demo')} · Greendot`
  const toDemo = byId<HTMLAnchorElement>('to-demo')
  const toDashboard = byId<HTMLAnchorElement>('to-dashboard')
  toDemo.href = hashOf({ as, hasNeighbours })
  toDashboard.href = hashOf({ view: 'dashboard', as, hasNeighbours })
  setAttribute(toDemo, 'aria-current', view === 'demo' && 'page')
  setAttribute(toDashboard, 'aria-current', view === 'dashboard' && 'page')
}

function showRoute(): void {
  const route = routeIn(location.hash)
  showFrame(route)
  demo.element.hidden = route.view !== 'demo'
  dashboard.element.hidden = route.view !== 'dashboard'
  dashboard.show(route.view === 'dashboard' ? route : null)
  if (route.view === 'demo') void demo.go(route)
}

// Not by its href, because the hash is the route.
byId('skip').addEventListener('click', (event) => {
  event.preventDefault()
  main.focus()
})
startTheme()
addEventListener('hashchange', showRoute)
showRoute()
