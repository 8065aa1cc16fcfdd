// The text format of Prometheus: families of samples, which several processes can put together. Each process of a
// scrape adds a label, so that no two samples have the same name and labels.

export type Labels = Readonly<Record<string, string>>

export interface Sample {
  /** What follows the name of the family: empty, or `_bucket`, `_sum`, `_count`. */
  suffix: string
  labels: Labels
  value: number
}

export interface Family {
  name: string
  type: 'counter' | 'gauge' | 'histogram'
  help: string
  samples: readonly Sample[]
}

export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

export function expositionOf(families: readonly Family[]): string {
  return families.map(familyText).join('')
}

/** Families of several processes as one list: a family is in it once, with the samples of all. */
export function merged(lists: readonly (readonly Family[])[]): Family[] {
  const byName = new Map<string, Family>()
  for (const family of lists.flat()) {
    const known = byName.get(family.name)
    byName.set(family.name, known ? { ...known, samples: [...known.samples, ...family.samples] } : family)
  }
  return [...byName.values()]
}

/** The same families with these labels on every sample. */
export function labelled(families: readonly Family[], labels: Labels): Family[] {
  return families.map((family) => ({
    ...family,
    samples: family.samples.map((sample) => ({ ...sample, labels: { ...sample.labels, ...labels } })),
  }))
}

function familyText({ name, type, help, samples }: Family): string {
  let text = `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`
  for (const { suffix, labels, value } of samples) text += `${name}${suffix}${labelText(labels)} ${value}\n`
  return text
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${escaped(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

const escaped = (value: string): string =>
  value.replace(/["\\\n]/g, (letter) => (letter === '\n' ? '\\n' : `\\${letter}`))
