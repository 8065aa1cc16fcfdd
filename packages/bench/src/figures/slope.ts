// The slope of the straight line that fits values over time best (least squares), and of their floor: memory goes
// up and down with every collection of garbage, and what grows is what is left after one.

/** Change an hour, leaving out the first share of the time. Without enough values it is 0. */
export function slopePerHour(
  timeS: readonly number[],
  values: readonly (number | null)[],
  skippedShare: number,
): number {
  const from = (timeS.at(-1) ?? 0) * skippedShare
  const points = timeS
    .map((x, index) => ({ x, y: values[index] ?? null }))
    .filter((point): point is { x: number; y: number } => point.x >= from && point.y !== null)
  if (points.length < 2) return 0
  const mean = (pick: (point: { x: number; y: number }) => number) =>
    points.reduce((sum, point) => sum + pick(point), 0) / points.length
  const meanX = mean(({ x }) => x)
  const meanY = mean(({ y }) => y)
  const spread = mean(({ x }) => (x - meanX) ** 2)
  return spread === 0 ? 0 : (mean(({ x, y }) => (x - meanX) * (y - meanY)) / spread) * 3600
}

/** The lowest value of each stretch of so many; null where a value is not the lowest of its stretch. */
export function floorOf(values: readonly (number | null)[], stretch: number): (number | null)[] {
  return values.map((value, index) => {
    const from = index - (index % stretch)
    const present = values.slice(from, from + stretch).filter((one) => one !== null)
    return value !== null && value === Math.min(...present) ? value : null
  })
}
