// The repository as the tidy rules see it: paths, texts and imports. Reading happens here; the rules
// are pure functions of what was read, so that each can be tried on small trees made up on the spot.
import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'

export interface TreeFile {
  /** Relative to the root, with forward slashes. */
  path: string
  text: string
}

export interface Problem {
  path: string
  line: number
  /** What is wrong and what to do about it. */
  what: string
}

export interface Import {
  specifier: string
  line: number
  typeOnly: boolean
  /** The path it names when it is relative, as it would be listed in the tree. */
  target: string | null
}

/** Generated, or not committed. */
const IGNORED_FOLDERS = new Set(['node_modules', 'dist', 'data', '.git'])
const TEXT_FILE = /\.(ts|tsx|js|mjs|css|html|lua|sql|md|proto)$/

export function readTree(root: string, folder = ''): TreeFile[] {
  const files: TreeFile[] = []
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    const path = posix.join(folder, entry.name)
    if (entry.isDirectory()) {
      if (!IGNORED_FOLDERS.has(entry.name)) files.push(...readTree(root, path))
    } else if (TEXT_FILE.test(entry.name)) {
      files.push({ path, text: readFileSync(join(root, path), 'utf8') })
    }
  }
  return files
}

export const isScript = (file: TreeFile): boolean => /\.tsx?$/.test(file.path)

/** Tests, and everything that exists only for them, also in a folder `testing` of a package. */
export const isTest = (file: TreeFile): boolean =>
  /\.(test|spec)\.tsx?$/.test(file.path) || /^(packages\/\w+\/)?testing\//.test(file.path)

export function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length
}

// Statements start their line, as the formatter leaves them. `import type` and `export type` vanish
// when compiled; `import { type X }` does not (verbatimModuleSyntax), so it counts as a value.
const STATEMENT = /^(?:import|export)\s+(type\s+)?(?:[\w*{][^'";]*?\sfrom\s+)?['"]([^'"\n]+)['"]/gm
// Loaded while running: dynamic imports, and workers or assets named by URL.
const EXPRESSION = /(?<![\w.$])(?:import|require)\(\s*['"]([^'"\n]+)['"]|new URL\(\s*['"](\.[^'"\n]+)['"]/g

export function importsOf(file: TreeFile): Import[] {
  if (!isScript(file)) return []
  const found: Import[] = []
  const add = (specifier: string, index: number, typeOnly: boolean): void => {
    const relative = specifier.startsWith('.')
    const target = relative ? posix.join(posix.dirname(file.path), specifier) : null
    found.push({ specifier, line: lineAt(file.text, index), typeOnly, target })
  }
  for (const match of file.text.matchAll(STATEMENT)) add(match[2]!, match.index, match[1] !== undefined)
  for (const match of file.text.matchAll(EXPRESSION)) add(match[1] ?? match[2]!, match.index, false)
  return found
}

/** One line for each problem, in the form that editors and terminals make clickable. */
export function describeProblems(problems: readonly Problem[]): string {
  return problems.map(({ path, line, what }) => `${path}:${line} ${what}`).join('\n')
}
