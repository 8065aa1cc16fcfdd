// Reading what is under deploy/ as the tools there do: YAML documents by their keys, and the variables
// that Compose fills in.

export type Yaml = { [key: string]: Yaml } | Yaml[] | string | number | boolean | null
type Node = Yaml | undefined

/** Follows keys, with spaces between them, into a document; undefined where they lead nowhere. */
export const at = (node: Node, keys: string): Node =>
  keys.split(' ').reduce((inner, key) => (inner as Record<string, Yaml> | undefined)?.[key], node)
export const entries = (node: Node): [string, Yaml][] => (node instanceof Object ? Object.entries(node) : [])
export const list = (node: Node): Yaml[] => entries(node).map(([, value]) => value)
export const words = (node: Node): string[] => list(node).map(String)
export const parse = (text: string) => Bun.YAML.parse(text) as Yaml

export type Variables = Record<string, string>

/** What Compose makes of `${NAME:-default}` and `${NAME:?message}`; throws where Compose refuses. */
export function interpolate(template: string, env: Variables): string {
  // From the inside out; what is refused may yet turn out not to be needed.
  const innermost = /\$\{(\w+)(?::([-?])([^${}]*))?\}/
  let text = template
  for (let found = innermost.exec(text); found !== null; found = innermost.exec(text)) {
    const [whole, name = '', sign, other = ''] = found
    text = text.replace(whole, () => env[name] || (sign === '?' ? `<refused ${name}: ${other}>` : other))
  }
  const refused = /<refused (.*?)>/.exec(text)?.[1]
  if (refused !== undefined) throw new Error(refused)
  return text
}
