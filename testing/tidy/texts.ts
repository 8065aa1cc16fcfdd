// Tidy rules about what is written: sizes, headers, ambient time and chance, leftovers of debugging,
// links, the lock file, and that rules and tests speak of each other.
import { posix } from 'node:path'
import { isScript, isTest, lineAt, type Problem, type TreeFile } from './tree.ts'

const LINES_MAX = 400
const TEST_FILE = /\.(test|spec)\.tsx?$/
/** Tests lie beside their sources and do not count. */
const SOURCES_PER_FOLDER_MAX = 20
/** What a program writes is not read from top to bottom, and is as long as its source makes it. */
const GENERATED = /^\/\/ Generated from .*; do not edit\./

export function fileSizes(files: readonly TreeFile[]): Problem[] {
  return files.flatMap(({ path, text }) => {
    const lines = text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
    if (lines <= LINES_MAX || !/\.(tsx?|m?js|css|lua|sql)$/.test(path) || GENERATED.test(text)) return []
    return [{ path, line: LINES_MAX + 1, what: `has ${lines} lines, over ${LINES_MAX}: split it by idea` }]
  })
}

export function folderSizes(files: readonly TreeFile[]): Problem[] {
  const sources = files.filter((file) => isScript(file) && !TEST_FILE.test(file.path))
  const folders = Map.groupBy(sources, ({ path }) => posix.dirname(path))
  return Array.from(folders)
    .filter(([, inFolder]) => inFolder.length > SOURCES_PER_FOLDER_MAX)
    .map(([path, { length }]) => ({
      path,
      line: 1,
      what: `has ${length} sources, over ${SOURCES_PER_FOLDER_MAX}: find its rooms`,
    }))
}

export function headers(files: readonly TreeFile[]): Problem[] {
  return files
    .filter((file) => isScript(file) && !TEST_FILE.test(file.path))
    .filter(({ text }) => !/^(#!.*\n)?\/[/*]/.test(text))
    .map(({ path }) => ({
      path,
      line: 1,
      what: 'has no header: open with its place in the flow and the invariant it keeps',
    }))
}

const AMBIENT = [
  /\bDate\.now\b/,
  /\bnew Date(?:\(\s*\)|(?!\s*\(|\w))/,
  /\bMath\.random\b/,
  /\bperformance\.now\b/,
  /(?<![\w$]|(?<!globalThis)\.)(?:setTimeout|setInterval|setImmediate)\s*\(/,
  /\b(?:randomUUID|randomBytes|getRandomValues)\b/,
  /\bprocess\.hrtime\b/,
  /\bBun\.(?:sleep|sleepSync|nanoseconds|randomUUIDv7)\b/,
  /['"](?:node:)?timers(?:\/promises)?['"]/,
]

/** Time and chance come in through platform/, so that tests and simulations can hold them. */
export function ambientTimeAndChance(files: readonly TreeFile[]): Problem[] {
  return files
    .filter((file) => isScript(file) && !isTest(file))
    .filter(({ path }) => path.startsWith('packages/server/src/') || path.startsWith('packages/protocol/'))
    .filter(({ path }) => !path.startsWith('packages/server/src/platform/'))
    .flatMap((file) =>
      findInCode(file, AMBIENT).map(({ match, line }) => ({
        path: file.path,
        line,
        what: `uses ${match}: take \`now\` or a Clock from platform/ as an argument`,
      })),
    )
}

export function focusedTests(files: readonly TreeFile[]): Problem[] {
  return files.filter(isScript).flatMap((file) =>
    findInCode(file, [/\b(?:test|it|describe)\.only\b/]).map(({ match, line }) => ({
      path: file.path,
      line,
      what: `${match} hides every other test: remove it`,
    })),
  )
}

/** The first place of each pattern. Compiling drops comments and types; the line is then looked up. */
function findInCode(file: TreeFile, patterns: readonly RegExp[]): { match: string; line: number }[] {
  const code = new Bun.Transpiler({ loader: file.path.endsWith('x') ? 'tsx' : 'ts' }).transformSync(file.text)
  const lines = file.text.split('\n')
  return patterns.flatMap((pattern) => {
    const match = code.match(pattern)?.[0]
    if (match === undefined) return []
    const index = lines.findIndex((line) => pattern.test(line) && !/^\s*(\/\/|\/?\*)/.test(line))
    return [{ match: match.trim(), line: index + 1 }]
  })
}

/** Links and images of documents that name a file. `exists` gets paths relative to the root. */
export function brokenLinks(files: readonly TreeFile[], exists: (path: string) => boolean): Problem[] {
  const link = /\]\(\s*<?([^)\s>]+)|^\s*\[[^\]]+\]:\s*(\S+)|\b(?:src|href)="([^"]+)"/gm
  return files
    .filter(({ path }) => path.endsWith('.md'))
    .flatMap(({ path, text }) =>
      Array.from(withoutCode(text).matchAll(link)).flatMap((match) => {
        const address = match[1] ?? match[2] ?? match[3]!
        const target = decodeURIComponent(address.replace(/[#?].*$/, ''))
        if (target === '' || /^([a-z][a-z+.-]*:|\/\/)/i.test(address)) return []
        const found = target.startsWith('/') ? target.slice(1) : posix.join(posix.dirname(path), target)
        if (exists(found)) return []
        return [{ path, line: lineAt(text, match.index), what: `links to ${address}, which is not there` }]
      }),
    )
}

function withoutCode(markdown: string): string {
  const blank = (found: string): string => found.replace(/[^\n]/g, ' ')
  return markdown.replace(/^ *(```+|~~~+)[\s\S]*?^ *\1/gm, blank).replace(/`[^`\n]*`/g, blank)
}

/** Addresses would tie every install to one download host. */
export function lockedAddresses(lock: TreeFile): Problem[] {
  return Array.from(lock.text.matchAll(/"resolved": "http[^"]*"/g), (match) => ({
    path: lock.path,
    line: lineAt(lock.text, match.index),
    what: `holds a download address: npm config set omit-lockfile-registry-resolved true, and install again`,
  }))
}

/** A platform package that the lock file leaves out makes `npm ci` fail, on every platform. */
export function unlockedPlatforms(lock: TreeFile): Problem[] {
  const { packages } = JSON.parse(lock.text) as {
    packages: Record<string, { optionalDependencies?: Record<string, string> }>
  }
  const locked = new Set(Object.keys(packages).map((path) => path.replace(/^.*node_modules\//, '')))
  return Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter((name) => !locked.has(name))
      .map((name) => ({
        path: lock.path,
        line: 1,
        what: `lacks ${name}, which ${path} may need: choose a version whose platform packages all exist`,
      })),
  )
}

/** Rules of SPEC.md against titles of tests: each rule has a test, and each cited rule exists. */
export function ruleCitations(spec: TreeFile, tests: readonly TreeFile[]): Problem[] {
  const rules = new Map<string, number>()
  const problems: Problem[] = []
  for (const match of spec.text.matchAll(/^- \*\*([A-Z]+\d+)\*\*/gm)) {
    const line = lineAt(spec.text, match.index)
    if (rules.has(match[1]!))
      problems.push({ path: spec.path, line, what: `defines ${match[1]} a second time` })
    rules.set(match[1]!, line)
  }
  // Feature ids share the form; only the letters that the rules use are theirs.
  const letters = new Set(Array.from(rules.keys(), (rule) => rule.replace(/\d+/, '')))
  const cited = new Set<string>()
  for (const file of tests) {
    for (const { id, line } of citations(file)) {
      cited.add(id)
      if (letters.has(id.replace(/\d+/, '')) && !rules.has(id)) {
        problems.push({ path: file.path, line, what: `cites ${id}, which ${spec.path} does not have` })
      }
    }
  }
  for (const [rule, line] of rules) {
    if (!cited.has(rule)) problems.push({ path: spec.path, line, what: `${rule} is cited by no test title` })
  }
  return problems
}

/** Titles open with what they cite: `'[P7] …'`, `'[P7, P8] …'` or `'[P7] [D6] …'`. */
function citations({ text }: TreeFile): { id: string; line: number }[] {
  return Array.from(text.matchAll(/['"`]((?:\[[A-Z]+\d+[^\]\n]*\]\s*)+)/g)).flatMap((title) =>
    Array.from(title[1]!.matchAll(/[A-Z]+\d+/g), (id) => ({ id: id[0], line: lineAt(text, title.index) })),
  )
}
