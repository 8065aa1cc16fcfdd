// Every way to read a target, each as one adapter: as whom it reads, how it asks, and how its answer is shaped
// from what that reader may see. What that is is not decided here.
import type { Presence, QueriedPresence } from '@greendot/protocol'
import { call } from '../scene.ts'
import { SERVER_KEY } from './audience.ts'

export interface Door {
  name: string
  /** As the viewer, as an anonymous reader, or as the app, from which nothing is hidden. */
  reader: 'viewer' | 'anyone' | 'app'
  look(url: string, viewerId: string, targetId: string): Promise<unknown>
  /** The whole answer about a target who is seen like this. */
  shape(seen: Presence): unknown
}

const LIST = '/api/v1/presence?user_ids='
const BATCH = '/presence/batch?user_ids='

async function get(url: string, token: string, path: string): Promise<unknown> {
  return (await call(url, token, 'GET', path)).body
}

async function query(url: string, token: string, path: string, targetId: string): Promise<unknown> {
  return (await call(url, token, 'POST', path, { user_ids: [targetId] })).body
}

/** Connected users are live; offline and hidden ones come from the database. */
function withSource(seen: Presence): QueriedPresence {
  return { ...seen, source: seen.status === null || seen.status === 'offline' ? 'db' : 'live' }
}
const asList = (seen: Presence) => [withSource(seen)]
const asStatuses = ({ user_id, status }: Presence) => ({ [user_id]: status })

const DOORS: readonly Door[] = [
  {
    name: 'GET one',
    reader: 'viewer',
    look: (url, viewer, target) => get(url, `dev:${viewer}`, `/api/v1/presence/${target}`),
    shape: withSource,
  },
  {
    name: 'GET list',
    reader: 'viewer',
    look: (url, viewer, target) => get(url, `dev:${viewer}`, LIST + target),
    shape: asList,
  },
  {
    name: 'POST query',
    reader: 'viewer',
    look: (url, viewer, target) => query(url, `dev:${viewer}`, '/api/v1/presence/query', target),
    shape: asList,
  },
  {
    name: 'GET batch',
    reader: 'viewer',
    look: (url, viewer, target) => get(url, `dev:${viewer}`, BATCH + target),
    shape: asStatuses,
  },
  {
    name: 'public page',
    reader: 'anyone',
    look: async (url, _, target) => (await fetch(`${url}/api/v1/public/presence/${target}`)).json(),
    shape: (seen) => seen,
  },
  {
    name: 'backend for the viewer, one',
    reader: 'viewer',
    look: (url, viewer, target) => get(url, SERVER_KEY, `/api/v1/presence/${target}?viewer_id=${viewer}`),
    shape: withSource,
  },
  {
    name: 'backend for the viewer, list',
    reader: 'viewer',
    look: (url, viewer, target) => get(url, SERVER_KEY, `${LIST}${target}&viewer_id=${viewer}`),
    shape: asList,
  },
  {
    name: 'backend for the viewer, query',
    reader: 'viewer',
    look: (url, viewer, target) =>
      query(url, SERVER_KEY, `/api/v1/presence/query?viewer_id=${viewer}`, target),
    shape: asList,
  },
  {
    name: 'backend for the viewer, batch',
    reader: 'viewer',
    look: (url, viewer, target) => get(url, SERVER_KEY, `${BATCH}${target}&viewer_id=${viewer}`),
    shape: asStatuses,
  },
  {
    name: 'backend, one',
    reader: 'app',
    look: (url, _, target) => get(url, SERVER_KEY, `/api/v1/presence/${target}`),
    shape: withSource,
  },
  {
    name: 'backend, list',
    reader: 'app',
    look: (url, _, target) => get(url, SERVER_KEY, LIST + target),
    shape: asList,
  },
  {
    name: 'backend, query',
    reader: 'app',
    look: (url, _, target) => query(url, SERVER_KEY, '/api/v1/presence/query', target),
    shape: asList,
  },
  {
    name: 'backend, batch',
    reader: 'app',
    look: (url, _, target) => get(url, SERVER_KEY, BATCH + target),
    shape: asStatuses,
  },
]

/** What every door answers, by its name. */
export async function throughEveryDoor(
  url: string,
  viewerId: string,
  targetId: string,
): Promise<Record<string, unknown>> {
  const answers = DOORS.map(async ({ name, look }) => [name, await look(url, viewerId, targetId)])
  return Object.fromEntries(await Promise.all(answers))
}

/** What every door must answer, when each kind of reader sees this. */
export function behindEveryDoor(seenBy: Record<Door['reader'], Presence>): Record<string, unknown> {
  return Object.fromEntries(DOORS.map(({ name, reader, shape }) => [name, shape(seenBy[reader])]))
}
