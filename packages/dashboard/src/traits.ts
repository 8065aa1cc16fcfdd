// Features of a drawing (face, house), derived from a name.

/** Pseudo-random choices that are always the same for a name, by a small hash. */
export function traitsOf(name: string): (count: number) => number {
  let hash = 2166136261
  for (const character of name) hash = Math.imul(hash ^ character.codePointAt(0)!, 16777619)
  return (count) => {
    hash = Math.imul(hash ^ (hash >>> 15), 2246822519)
    hash ^= hash >>> 13
    return (hash >>> 0) % count
  }
}
