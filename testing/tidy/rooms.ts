// Tidy rules about the rooms of the server: imports go down the list of rooms, never up; rooms with a door
// are entered through it; and the files that build parts build them from the sink to the source.
import { importsOf, isScript, isTest, lineAt, type Problem, type TreeFile } from './tree.ts'

const SERVER = 'packages/server/src/'

/** From the bottom to the top: a file imports from its own room and from rooms above it in this list. */
const ROOMS: readonly { name: string; holds: RegExp }[] = [
  { name: 'platform', holds: /^platform\/(?!config\/)/ },
  { name: 'presence/core', holds: /^presence\/(core\/|(unavailable|pending-answers)\.ts$)/ },
  { name: 'platform/config', holds: /^platform\/config\// },
  { name: 'ports', holds: /^\w+\/port\.ts$/ },
  { name: 'redis', holds: /^redis\// },
  { name: 'adapters', holds: /^(store|bus|archive|limits|log)\// },
  { name: 'presence/privacy', holds: /^presence\/privacy\// },
  { name: 'presence/reading', holds: /^presence\/reading\// },
  { name: 'presence/cluster', holds: /^presence\/cluster\// },
  { name: 'presence/pipeline', holds: /^presence\/pipeline\// },
  { name: 'presence/people', holds: /^presence\/people\// },
  { name: 'presence/explain', holds: /^presence\/explain\// },
  { name: 'presence', holds: /^presence\/presence\.ts$/ },
  { name: 'foreign', holds: /^foreign\// },
  { name: 'input', holds: /^input\// },
  { name: 'streaming', holds: /^streaming\// },
  { name: 'webhooks', holds: /^webhooks\// },
  { name: 'fanout', holds: /^fanout\// },
  {
    name: 'values shared by the gateway',
    holds: /^gateway\/(identity|doubts|interner|connection-numbers)\.ts$/,
  },
  { name: 'gateway/delivery', holds: /^gateway\/delivery\// },
  { name: 'gateway/watching', holds: /^gateway\/watching\// },
  { name: 'gateway/sessions', holds: /^gateway\/sessions\// },
  { name: 'gateway', holds: /^gateway\// },
  { name: 'ops', holds: /^ops\// },
  { name: 'http', holds: /^http\// },
  { name: 'grpc', holds: /^grpc\// },
  { name: 'adapters.ts', holds: /^(redis-)?adapters\.ts$/ },
  { name: 'pipeline.ts', holds: /^pipeline\.ts$/ },
  { name: 'compose.ts', holds: /^compose\.ts$/ },
  { name: 'cli', holds: /^cli(\.ts$|\/)/ },
]

/** Rooms whose neighbours see one file only. */
const DOORS: Readonly<Record<string, string>> = {
  'streaming/': 'streaming/streaming.ts',
  'webhooks/': 'webhooks/webhooks.ts',
  'gateway/delivery/': 'gateway/delivery/delivery.ts',
  'gateway/watching/': 'gateway/watching/watching.ts',
  'gateway/sessions/': 'gateway/sessions/connections.ts',
}

export function roomDirection(files: readonly TreeFile[]): Problem[] {
  return files.filter(isOfServer).flatMap((file) => {
    const from = file.path.slice(SERVER.length)
    const room = roomOf(from)
    if (room === -1)
      return [{ path: file.path, line: 1, what: 'is in no room: add it to testing/tidy/rooms.ts' }]
    return importsOf(file).flatMap(({ target, line, specifier }) => {
      if (target === null || !target.startsWith(SERVER)) return []
      const to = target.slice(SERVER.length)
      const what = wrongRoom(room, roomOf(to)) ?? pastTheDoor(from, to)
      return what === null ? [] : [{ path: file.path, line, what: `imports ${specifier}: ${what}` }]
    })
  })
}

const isOfServer = (file: TreeFile): boolean =>
  file.path.startsWith(SERVER) && isScript(file) && !isTest(file)

const roomOf = (path: string): number => ROOMS.findIndex(({ holds }) => holds.test(path))

function wrongRoom(from: number, to: number): string | null {
  if (to <= from) return null
  return `${ROOMS[from]!.name} does not know ${ROOMS[to]!.name}; hand the data up, or push instead of pull`
}

function pastTheDoor(from: string, to: string): string | null {
  const room = Object.keys(DOORS).find((folder) => to.startsWith(folder))
  if (room === undefined || from.startsWith(room) || to === DOORS[room]) return null
  return `neighbours enter ${room} by ${DOORS[room]}; export it there`
}

/** Files that only build parts and hand them to each other. */
export const WIRING = [
  'adapters.ts',
  'redis-adapters.ts',
  'compose.ts',
  'pipeline.ts',
  'presence/presence.ts',
  'streaming/streaming.ts',
  'webhooks/webhooks.ts',
  'fanout/fanout.ts',
  'gateway/gateway.ts',
  'gateway/delivery/delivery.ts',
  'gateway/watching/watching.ts',
  'gateway/sessions/connections.ts',
  'grpc/grpc-app.ts',
  'http/http-app.ts',
].map((path) => SERVER + path)

/**
 * A statement of a function goes on until a line that is indented as little and begins with a word, or is its end.
 * It sees only `const x = create…(` and `let x = create…(`, no part that is assigned later or built in a `return`.
 */
const DECLARATION =
  /^ {2}(?:const|let) (\w+|[{[][^=]*?[}\]])(?:: [^=]*?)? =(?=\s)([\s\S]*?)(?=\n {2}[\w/]|\n}|$(?![\s\S]))/gm
const BUILDS = /\b(?:(?:create|start|open|serve)[A-Z]\w*|[a-z]\w*Routes)(?:<[^()]*>)?\(/

interface Part {
  names: string[]
  builtAt: number
}

/** What is built anywhere in an initialiser is a part: behind a condition, an `await` or another call too. */
const partsIn = (code: string): Part[] =>
  Array.from(code.matchAll(DECLARATION))
    .filter(({ 2: initialiser }) => BUILDS.test(initialiser!))
    .map(({ 1: declared, index }) => ({ names: namesOf(declared!), builtAt: index }))

/** `{ a, b: c, ...d }` declares a, c and d. */
const namesOf = (declared: string): string[] =>
  declared
    .replace(/[{}[\]]/g, '')
    .split(',')
    .map((one) => one.replace(/=[\s\S]*|[\s\S]*:|\.\.\./g, '').trim())
    .filter((name) => name !== '')

/**
 * A part that is named before it is built is a forward reference: a cycle that imports do not show, however
 * it is wrapped in a closure.
 */
export function forwardReferences(files: readonly TreeFile[]): Problem[] {
  return files
    .filter(({ path }) => WIRING.includes(path))
    .flatMap(({ path, text }) => {
      // Blanked, not cut, so that positions stay.
      const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*|^import [\s\S]*?from .*|'[^'\n]*'/gm, (found) =>
        found.replace(/[^\n]/g, ' '),
      )
      return partsIn(code).flatMap(({ names, builtAt }) => {
        const body = Math.max(0, code.lastIndexOf('\n}\n', builtAt))
        return names.flatMap((name) => {
          // Neither a member of something else nor the name of a field.
          const use = new RegExp(`(?<!\\w|(?<!\\.\\.)\\.)${name}(?!\\w|\\??:)`)
          const early = use.exec(code.slice(body, builtAt))
          if (early === null) return []
          const line = lineAt(text, body + early.index)
          return [{ path, line, what: `uses ${name} before it is built: build it first, or share a value` }]
        })
      })
    })
}
