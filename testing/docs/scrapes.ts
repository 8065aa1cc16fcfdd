// A scrape as its reader knows it: the type of every family and the labels of its samples; and the metrics and labels
// that an expression of Prometheus names.

export interface ScrapedFamily {
  type: string
  labels: Set<string>
}

export function familiesIn(text: string): Map<string, ScrapedFamily> {
  const families = new Map<string, ScrapedFamily>()
  for (const [, name, type] of text.matchAll(/^# TYPE (\w+) (\w+)$/gm))
    families.set(name!, { type: type!, labels: new Set() })
  for (const [, name, labels = ''] of text.matchAll(/^(\w+?)(?:\{(.*)\})? \S+$/gm)) {
    const family = families.get(name!) ?? families.get(name!.replace(/_(bucket|sum|count)$/, ''))
    if (family === undefined) throw new Error(`${name} has no TYPE`)
    for (const [, label] of labels.matchAll(/(\w+)="/g)) family.labels.add(label!)
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
