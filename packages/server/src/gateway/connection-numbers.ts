// Numbers of connections: sessions and streams share them, because both have a place in the watch edges and
// in the outbox. Free numbers are used again before new ones, so tables by number stay short.

export interface ConnectionNumbers {
  take(): number
  giveBack(connection: number): void
}

export function createConnectionNumbers(): ConnectionNumbers {
  const free: number[] = []
  let end = 0
  return {
    take: () => free.pop() ?? end++,
    giveBack: (connection) => void free.push(connection),
  }
}
