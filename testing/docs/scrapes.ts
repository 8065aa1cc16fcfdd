// A scrape as its reader knows it: the type of every family and the labels of its samples with their values; and the
// metrics, labels and values that an expression of Prometheus names.

export interface ScrapedFamily {
  type: string
  labels: Set<string>
  /** As `label=value`. */
  pairs: Set<string>
}

export function familiesIn(text: string): Map<string, ScrapedFamily> {
  const families = new Map<string, ScrapedFamily>()
  for (const [, name, type] of text.matchAll(/^# TYPE (\w+) (\w+)$/gm))
    families.set(name!, { type: type!, labels: new Set(), pairs: new Set() })
  for (const [, name, labels = ''] of text.matchAll(/^(\w+?)(?:\{(.*)\})? \S+$/gm)) {
    const family = families.get(name!) ?? families.get(name!.replace(/_(bucket|sum|count)$/, ''))
    if (family === undefined) throw new Error(`${name} has no TYPE`)
    for (const [, label, value] of labels.matchAll(/(\w+)="([^"]*)"/g)) {
      family.labels.add(label!)
      family.pairs.add(`${label}=${value}`)
    }
  }
  return families
}

/** Names of our metrics, as the expression has them. */
export const metricsIn = (expression: string): string[] =>
  Array.from(expression.matchAll(/\bgreendot_\w+/g), ([name]) => name)

/** Labels that the expression groups by, or compares. */
export function labelsIn(expression: string): string[] {
  const grouped = Array.from(expression.matchAll(/\bby \(([^)]*)\)/g), ([, list]) =>
    list!.split(/, */),
  ).flat()
  const compared = Array.from(expression.matchAll(/[{,](\w+)(?:=~|!~|!=|=)"/g), ([, label]) => label!)
  return [...new Set([...grouped, ...compared])]
}

export interface Compared {
  metric: string
  label: string
  value: string
}

/** The values that the labels of our metrics are compared with; each alternative of a pattern by itself. */
export function comparedIn(expression: string): Compared[] {
  return Array.from(expression.matchAll(/\b(greendot_\w+)\{([^}]*)\}/g)).flatMap(([, metric, matchers]) =>
    Array.from(matchers!.matchAll(/(\w+)(?:=~|!~|!=|=)"([^"]*)"/g)).flatMap(([, label, pattern]) =>
      pattern!.split('|').map((value) => ({ metric: metric!, label: label!, value })),
    ),
  )
}
