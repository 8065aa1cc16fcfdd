// The users of the demo. Guests are played by visitors, one for each window; neighbours are simulated, and
// marked as such.

export const GUESTS = ['alice', 'bob', 'carol', 'dave', 'erin', 'frank'] as const
export const NEIGHBOURS = ['grace', 'heidi', 'ivan', 'judy', 'kim', 'leo'] as const

/** The order of the houses: guests and neighbours are mixed. */
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

/** The next guest, for the link that opens another window. */
export function nextGuest(userId: string): string {
  const index = (GUESTS as readonly string[]).indexOf(userId)
  return GUESTS[(index + 1) % GUESTS.length]!
}
