// Typed arrays that grow. Tables of connections and watch edges use them instead of objects: a few bytes per
// field, and nothing for the garbage collector to trace.

/** Stands for no row, no edge and no user in these tables. */
export const NIL = -1

type Growable = Uint8Array | Uint16Array | Int32Array | Float64Array

/** A copy with at least `length` elements, doubled so that growing stays rare. */
export function grown<T extends Growable>(array: T, length: number, fill = 0): T {
  if (array.length >= length) return array
  let capacity = Math.max(16, array.length)
  while (capacity < length) capacity *= 2
  const larger = new (array.constructor as new (length: number) => T)(capacity)
  if (fill !== 0) larger.fill(fill)
  larger.set(array)
  return larger
}
