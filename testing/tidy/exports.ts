// A tidy rule about exports: what a file exports is imported somewhere, by the program or by a test. A
// type also counts as used when its own file uses it, as the argument or the result of a function.
import { posix } from 'node:path'
import { isScript, lineAt, type Problem, type TreeFile } from './tree.ts'

const TEST_FILE = /\.(test|spec)\.tsx?$/
const EXPORT =
  /^export\s+(?:async\s+)?(?:(const|let|function|function\*|class)|(interface|type))\s+([\w$]+)/gm
/** The whole module under one name: every export of it counts as imported. */
const WHOLE = /\*(?:\s+as\s+\w+)?\s+from\s+['"](\.[^'"]+)['"]|import\(\s*['"](\.[^'"]+)['"]\s*\)/g
const STATEMENT = /\{([^{}]*)\}\s+from\s+['"](\.[^'"]+)['"]/g
const DESTRUCTURED = /\{([^{}]*)\}\s*=\s*await\s+import\(\s*['"](\.[^'"]+)['"]\s*\)/g

/** Exports of the files under `folder`, leaving out `entries`, that no other file imports. */
export function unusedExports(files: readonly TreeFile[], folder: string, entries: RegExp): Problem[] {
  const imported = new Set<string>()
  const whole = new Set<string>()
  for (const file of files.filter(isScript)) {
    const targetOf = (specifier: string) => posix.join(posix.dirname(file.path), specifier)
    const named = [...file.text.matchAll(STATEMENT), ...file.text.matchAll(DESTRUCTURED)]
    for (const [, names, specifier] of named) {
      for (const name of namesIn(names!)) imported.add(`${targetOf(specifier!)} ${name}`)
    }
    // A destructured dynamic import names what it takes.
    const rest = file.text.replace(DESTRUCTURED, '')
    for (const match of rest.matchAll(WHOLE)) whole.add(targetOf(match[1] ?? match[2]!))
  }

  const problems: Problem[] = []
  for (const file of files) {
    const { path, text } = file
    const isChecked = path.startsWith(folder) && isScript(file) && !TEST_FILE.test(path)
    if (!isChecked || entries.test(path) || whole.has(path)) continue
    for (const match of text.matchAll(EXPORT)) {
      const [, value, , name] = match
      if (imported.has(`${path} ${name}`)) continue
      if (value === undefined && mentions(text, name!) > 1) continue
      const line = lineAt(text, match.index)
      problems.push({
        path,
        line,
        what: `exports ${name}, which no file imports: keep it private or delete it`,
      })
    }
  }
  return problems
}

/** The names as the exporting file knows them: `type A, b as c` is A and b. */
function namesIn(list: string): string[] {
  return list
    .split(',')
    .map((part) => part.trim().replace(/^type\s+/, ''))
    .map((part) => part.split(/\s+as\s+|\s*:\s*/)[0]!)
}

function mentions(text: string, name: string): number {
  return text.split(new RegExp(`\\b${name.replaceAll('$', '\\$')}\\b`)).length - 1
}
