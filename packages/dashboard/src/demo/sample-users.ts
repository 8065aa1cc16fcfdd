// Who lives in the street of the demo. The first half of the houses is for whoever opens a window; the
// second half is lived in by simulated neighbours, and says so.

export const GUESTS = ['alice', 'bob', 'carol', 'dave', 'erin', 'frank'] as const
export const NEIGHBOURS = ['grace', 'heidi', 'ivan', 'judy', 'kim', 'leo'] as const

/** On both sides of the street, as people live: not all guests on one of them. */
export const STREET: readonly string[] = [
  'alice',
  'grace',
  'bob',
  'heidi',
  'carol',
  'ivan',
  'judy',
  'dave',
  'kim',
  'erin',
  'leo',
  'frank',
]

export const isNeighbour = (userId: string): boolean => (NEIGHBOURS as readonly string[]).includes(userId)

/** The next guest after somebody, to open another window as. */
export function nextGuest(userId: string): string {
  const index = (GUESTS as readonly string[]).indexOf(userId)
  return GUESTS[(index + 1) % GUESTS.length]!
}

/** The same for a name wherever it is drawn; a small hash is enough to spread looks. */
export function traitsOf(name: string): (count: number) => number {
  let hash = 2166136261
  for (const character of name) hash = Math.imul(hash ^ character.codePointAt(0)!, 16777619)
  return (count) => {
    hash = Math.imul(hash ^ (hash >>> 15), 2246822519)
    hash ^= hash >>> 13
    return (hash >>> 0) % count
  }
}
