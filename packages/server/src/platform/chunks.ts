// Splits a list into consecutive slices of a fixed size. Long work goes through it one slice at a time,
// so that no statement, message or turn of the event loop grows with the length of the list.

/** Every slice has `size` items, except the last, which may have fewer. An empty list has no slices. */
export function* chunksOf<Item>(list: readonly Item[], size: number): Generator<Item[]> {
  for (let from = 0; from < list.length; from += size) yield list.slice(from, from + size)
}
