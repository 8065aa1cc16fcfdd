// Splits lists, so that no frame and no call grows with the length of the list of the app.

/** Every chunk has `size` items, except the last, which may have fewer. An empty list has no chunks. */
export function chunksOf<One>(list: readonly One[], size: number): One[][] {
  const count = Math.ceil(list.length / size)
  return Array.from({ length: count }, (_, index) => list.slice(index * size, (index + 1) * size))
}
