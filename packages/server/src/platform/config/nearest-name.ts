// Finds the known name nearest to a misspelt one, for messages about unknown settings and commands.

/** The closest of `names`, or null when none is close. */
export function nearestName(wrong: string, names: readonly string[]): string | null {
  const distances = names.map((name) => ({ name, distance: editDistance(wrong, name) }))
  const nearest = distances.sort((a, b) => a.distance - b.distance)[0]
  return nearest && nearest.distance <= Math.max(2, wrong.length / 3) ? nearest.name : null
}

/** Levenshtein distance, one row at a time. */
function editDistance(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const replaced = previous[column - 1]! + (from[row - 1] === to[column - 1] ? 0 : 1)
      current.push(Math.min(replaced, previous[column]! + 1, current[column - 1]! + 1))
    }
    previous = current
  }
  return previous[to.length]!
}
