// What the demo can do in dev mode, where every token is known: be anybody, and play those who are nobody.

export interface DevParts {
  hasNeighbours: boolean
  onBe(name: string): void
  onNeighbours(isWanted: boolean): void
}
