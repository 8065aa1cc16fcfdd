// The hash of the URL: the view, the user and the question. A reload changes nothing. It contains no secrets.

export interface Route {
  view: 'demo' | 'dashboard'
  /** The user of the demo. */
  as: string | null
  hasNeighbours: boolean
  /** The user to look up on the dashboard, and the viewer. */
  user: string | null
  viewer: string | null
}

const DEFAULT_ROUTE: Route = { view: 'demo', as: null, hasNeighbours: true, user: null, viewer: null }

export function routeOf(hash: string): Route {
  const named = new URLSearchParams(hash.replace(/^#/, ''))
  return {
    view: named.has('dashboard') ? 'dashboard' : 'demo',
    as: named.get('as') || null,
    hasNeighbours: named.get('neighbours') !== 'off',
    user: named.get('user') || null,
    viewer: named.get('viewer') || null,
  }
}

export function hashOf(given: Partial<Route>): string {
  const { view, as, hasNeighbours, user, viewer } = { ...DEFAULT_ROUTE, ...given }
  const named = new URLSearchParams()
  if (as !== null) named.set('as', as)
  if (!hasNeighbours) named.set('neighbours', 'off')
  if (user !== null) named.set('user', user)
  if (viewer !== null) named.set('viewer', viewer)
  return `#${[view === 'dashboard' ? 'dashboard' : '', named.toString()].filter((part) => part !== '').join('&')}`
}
