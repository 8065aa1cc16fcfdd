// Tidy rules about the rooms of the server: imports go down the list of rooms, never up; rooms with a door
// are entered through it; and the files that build parts build them from the sink to the source.
import { importsOf, isScript, isTest, lineAt, type Problem, type TreeFile } from './tree.ts'

const SERVER = 'packages/server/src/'

/** From the bottom to the top: a file imports from its own room and from rooms above it in this list. */
const ROOMS: readonly { name: string; holds: RegExp }[] = [
  { name: 'platform', holds: /^platform\/(?!config\/)/ },
  { name: 'presence/core', holds: /^presence\/(core\/|(unavailable|recent-map|pending-answers)\.ts$)/ },
  { name: 'platform/config', holds: /^platform\/config\// },
  { name: 'ports', holds: /^\w+\/port\.ts$/ },
  { name: 'redis', holds: /^redis\// },
  { name: 'adapters', holds: /^(store|bus|archive|limits|log)\// },
  { name: 'presence/privacy', holds: /^presence\/privacy\// },
  { name: 'presence/reading', holds: /^presence\/reading\// },
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
  'compose.ts',
  'pipeline.ts',
  'presence/presence.ts',
  'gateway/gateway.ts',
  'gateway/delivery/delivery.ts',
  'gateway/watching/watching.ts',
  'gateway/sessions/connections.ts',
].map((path) => SERVER + path)

const PART =
  /^ {2}(?:const|let) (\w+) =\s+(?:\w+\.\w+\(['"]\w+['"]\)\s+\?\s+)?(?:await )?(?:create|start|open)[A-Z]\w*\(/gm

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
      return Array.from(code.matchAll(PART)).flatMap(({ 1: name, index: builtAt }) => {
        const body = Math.max(0, code.lastIndexOf('\n}\n', builtAt))
        const early = new RegExp(`(?<![.\\w])${name}(?![\\w:?])`).exec(code.slice(body, builtAt))
        if (early === null) return []
        const at = lineAt(text, body + early.index)
        return [{ path, line: at, what: `uses ${name} before it is built: build it first, or share a value` }]
      })
    })
}
