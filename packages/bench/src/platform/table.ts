// Rows of text in columns: the first is aligned to the left, figures to the right, and text after them to the
// left again.

/** Columns from `textFrom` on are text. */
export function columns(rows: readonly (readonly string[])[], textFrom = Number.POSITIVE_INFINITY): string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  )
  return rows.map((row) =>
    row
      .map((cell, column) =>
        column === 0 || column >= textFrom ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!),
      )
      .join('  ')
      .trimEnd(),
  )
}

/** Three digits that count. */
export function amount(value: number): string {
  return value >= 1000
    ? Math.round(value).toLocaleString('en')
    : value.toLocaleString('en', { maximumSignificantDigits: 3 })
}

export const percent = (share: number): string => `${(share * 100).toFixed(1)} %`
