// Where in the page somebody is, as the part of the address after the #: links lead to a view, a person or
// a question, and a reload changes nothing. Secrets never are in it.

export interface Place {
  view: 'demo' | 'dashboard'
  /** Who to be in the demo. */
  as: string | null
  hasNeighbours: boolean
  /** Whom to look up on the dashboard, and through whose eyes. */
  user: string | null
  viewer: string | null
}

const NOWHERE: Place = { view: 'demo', as: null, hasNeighbours: true, user: null, viewer: null }

export function placeOf(hash: string): Place {
  const named = new URLSearchParams(hash.replace(/^#/, ''))
  return {
    view: named.has('dashboard') ? 'dashboard' : 'demo',
    as: named.get('as') || null,
    hasNeighbours: named.get('neighbours') !== 'off',
    user: named.get('user') || null,
    viewer: named.get('viewer') || null,
  }
}

export function hashOf(given: Partial<Place>): string {
  const { view, as, hasNeighbours, user, viewer } = { ...NOWHERE, ...given }
  const named = new URLSearchParams()
  if (as !== null) named.set('as', as)
  if (!hasNeighbours) named.set('neighbours', 'off')
  if (user !== null) named.set('user', user)
  if (viewer !== null) named.set('viewer', viewer)
  return `#${[view === 'dashboard' ? 'dashboard' : '', named.toString()].filter((part) => part !== '').join('&')}`
}
