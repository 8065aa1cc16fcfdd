// Tidy rules about imports: data flows one way through the folders, adapters are chosen in one
// place, nothing goes in circles and nothing lies around unused.
import { CLIENT, wrongForClientRoom } from './client-rooms.ts'
import { type Import, importsOf, isTest, type Problem, type TreeFile } from './tree.ts'

const SERVER = 'packages/server/src/'
const PRESENCE = `${SERVER}presence/`
const PROTOCOL = 'packages/protocol/'
const COMPOSE = `${SERVER}compose.ts`
const ADAPTERS = [`${SERVER}adapters.ts`, `${SERVER}redis-adapters.ts`]
/** Files without time, chance and I/O: presence/ may call them; everything else of platform/ it is handed. */
const PURE_MODULES = new Set(
  ['chunks', 'recent-map', 'serial-queue'].map((name) => `${SERVER}platform/${name}.ts`),
)
/** A program that measures the server from outside and inside, so it may import everything. */
const BENCH = 'packages/bench/'
const BENCH_NAME = '@greendot/bench'
const PROTOCOL_NAME = '@greendot/protocol'

export const SERVER_ROOTS = [`${SERVER}cli.ts`, COMPOSE]

export function importDirection(files: readonly TreeFile[]): Problem[] {
  const ports = new Set(
    files.filter(({ path }) => path.endsWith('/port.ts')).map(({ path }) => folderOf(path)),
  )
  const problems: Problem[] = []
  for (const file of files) {
    if (isTest(file)) continue
    for (const one of importsOf(file)) {
      const what = wrongWay(file.path, one) ?? wrongAdapter(file.path, one, ports)
      if (what !== null) problems.push({ path: file.path, line: one.line, what })
    }
  }
  return problems
}

function wrongWay(path: string, one: Import): string | null {
  const { specifier, target, typeOnly } = one
  const isBare = target === null
  if (path.startsWith(PROTOCOL)) {
    if (!isBare && target.startsWith(PROTOCOL)) return null
    return `imports ${specifier}: the protocol depends on nothing outside ${PROTOCOL}`
  }
  if (path.startsWith(CLIENT)) {
    if (isBare ? specifier === PROTOCOL_NAME || isPeerOfClient(specifier) : target.startsWith(CLIENT))
      return wrongForClientRoom(path, one)
    return `imports ${specifier}: the client depends on ${PROTOCOL_NAME} and nothing else`
  }
  if (path.startsWith(PRESENCE)) return wrongForPresence({ specifier, target, typeOnly })
  if (path.startsWith('packages/') && target !== null && /^(testing|examples)\//.test(target)) {
    return `imports ${specifier}: what ships does not depend on ${target.split('/')[0]}/`
  }
  if (path.startsWith('packages/') && !path.startsWith(BENCH) && isBench(specifier, target)) {
    return `imports ${specifier}: the benchmark is a program of its own, found at run time`
  }
  return null
}

const isBench = (specifier: string, target: string | null): boolean =>
  target?.startsWith(BENCH) === true || specifier === BENCH_NAME || specifier.startsWith(`${BENCH_NAME}/`)

/** React is installed by the app, and only the entry point for React imports it. */
const isPeerOfClient = (specifier: string): boolean => /^react($|\/)/.test(specifier)

function wrongForPresence({ specifier, target, typeOnly }: Omit<Import, 'line'>): string | null {
  if (specifier === PROTOCOL_NAME || target?.startsWith(PRESENCE)) return null
  if (target !== null && PURE_MODULES.has(target)) return null
  const isOutlet =
    target?.startsWith(SERVER) && (target.endsWith('/port.ts') || target.startsWith(`${SERVER}platform/`))
  if (!isOutlet)
    return `imports ${specifier}: presence/ knows ${PROTOCOL_NAME}, itself, and types of ports and platform`
  if (typeOnly) return null
  return `imports ${specifier} as a value: presence/ is handed its ports and platform; use \`import type\``
}

/** Whatever sits beside a port.ts is behind that port. */
function wrongAdapter(path: string, { specifier, target }: Import, ports: Set<string>): string | null {
  if (target === null || !path.startsWith('packages/')) return null
  if (ADAPTERS.includes(path) || path.startsWith(BENCH) || target.endsWith('/port.ts')) return null
  const folder = [...ports].find((port) => target.startsWith(`${port}/`))
  if (folder === undefined || path.startsWith(`${folder}/`)) return null
  return `imports ${specifier}: only adapters.ts chooses adapters; take the port as an argument`
}

const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/'))

/** Each circle once, at the import that closes it. Types count: a circle of types is one idea in two files. */
export function importCycles(files: readonly TreeFile[]): Problem[] {
  const byPath = new Map(files.map((file) => [file.path, file]))
  const state = new Map<string, 'open' | 'done'>()
  const trail: string[] = []
  const problems: Problem[] = []

  function visit(file: TreeFile): void {
    state.set(file.path, 'open')
    trail.push(file.path)
    for (const { target, line } of importsOf(file)) {
      const next = target === null ? undefined : byPath.get(target)
      if (next === undefined) continue
      if (state.get(next.path) === 'open') {
        const circle = [...trail.slice(trail.indexOf(next.path)), next.path].join(' -> ')
        problems.push({ path: file.path, line, what: `closes a circle of imports: ${circle}` })
      } else if (!state.has(next.path)) visit(next)
    }
    trail.pop()
    state.set(file.path, 'done')
  }

  for (const file of files) if (!state.has(file.path)) visit(file)
  return problems
}

/** Files of the server that no root reaches. Without any root there is nothing to say yet. */
export function deadFiles(files: readonly TreeFile[], roots: readonly string[]): Problem[] {
  const byPath = new Map(files.map((file) => [file.path, file]))
  const waiting = roots.filter((root) => byPath.has(root))
  if (waiting.length === 0) return []
  const reached = new Set(waiting)
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    for (const { target } of importsOf(byPath.get(path)!)) {
      if (target === null || reached.has(target) || !byPath.has(target)) continue
      reached.add(target)
      waiting.push(target)
    }
  }
  return files
    .filter((file) => file.path.startsWith(SERVER) && !isTest(file) && !reached.has(file.path))
    .map(({ path }) => ({
      path,
      line: 1,
      what: `is reached from none of ${roots.join(', ')}: use it or delete it`,
    }))
}
