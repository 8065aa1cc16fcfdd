// The rooms of the client and the direction between them. A room imports the rooms listed for it, types of
// `types.ts` and `platform.ts`, and nothing else of the package. `chunks.ts` is for every room that is listed with it.
// Only the entry points and `connect.ts`, at the root of src, put rooms together.
import type { Import } from './tree.ts'

export const CLIENT = 'packages/client/src/'

/** What each room may import, by path below src. A path that ends in a slash is a whole room. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  roster: ['chunks.ts'],
  activity: [],
  context: [],
  settings: [],
  connection: ['roster/', 'activity/'],
  dot: ['roster/', 'activity/', 'connection/'],
  tabs: ['activity/', 'context/', 'connection/', 'dot/'],
  element: ['index.ts', 'context/'],
  server: ['chunks.ts'],
}

/** The same for entry points that are built upon the public ones. */
const ENTRY_MAY_IMPORT: Record<string, readonly string[]> = {
  'react.ts': ['index.ts', 'element.ts', 'context/', 'dot/follow.ts', 'types.ts'],
  'element.ts': ['element/', 'context/', 'dot/follow.ts', 'types.ts'],
  'chunks.ts': [],
  'last-seen.ts': [],
  'server.ts': ['server/', 'platform.ts', 'types.ts'],
}

const CORE = ['connection/', 'dot/']
const SHARED_TYPES = ['types.ts', 'platform.ts']

const isIn = (path: string, places: readonly string[]): boolean =>
  places.some((place) => (place.endsWith('/') ? path.startsWith(place) : path === place))

export function wrongForClientRoom(path: string, { specifier, target, typeOnly }: Import): string | null {
  if (!path.startsWith(CLIENT) || !target?.startsWith(CLIENT)) return null
  const from = path.slice(CLIENT.length)
  const to = target.slice(CLIENT.length)
  if (!from.includes('/')) {
    const allowed = ENTRY_MAY_IMPORT[from]
    return !allowed || isIn(to, allowed) ? null : `imports ${specifier}: ${from} imports ${list(allowed)}`
  }
  const room = from.slice(0, from.indexOf('/'))
  const allowed = MAY_IMPORT[room]
  if (!allowed) return `is in ${room}/, a room that testing/tidy/client-rooms.ts does not know`
  if (to.startsWith(`${room}/`)) return null
  if (isIn(to, SHARED_TYPES)) return typeOnly ? null : `imports ${specifier} as a value: use \`import type\``
  if (!isIn(to, allowed)) return `imports ${specifier}: ${room}/ imports ${list(allowed)}`
  if (room === 'tabs' && isIn(to, CORE) && !typeOnly)
    return `imports ${specifier} as a value: tabs/ is loaded later, and the core must stay one file`
  return null
}

const list = (allowed: readonly string[]): string => allowed.join(', ') || 'no other room'
