// What only dev mode allows, where every token is known: to switch the user, and to simulate neighbours.

export interface DevParts {
  hasNeighbours: boolean
  onBe(name: string): void
  onNeighbours(isWanted: boolean): void
}
