// HTTP without a network: finds the route of a path as the listening socket would, and hands the
// request to its guarded handler.
import type { BunRequest } from 'bun'
import type { Guard } from '../../packages/server/src/http/guard.ts'
import type { Method, Routes, Who } from '../../packages/server/src/http/route.ts'

export interface Call {
  method: Method
  /** With its query. */
  path: string
  /** Null for a caller without a token. */
  token: string | null
  body?: unknown
  headers?: Readonly<Record<string, string>>
}

export interface Switchboard {
  call(call: Call): Promise<Response>
  /** Every route there is. */
  routes: readonly { method: Method; path: string; who: Who }[]
}

interface Entry {
  pattern: readonly string[]
  /** Made when it is first called: most tables are never used in a short history. */
  handle: ReturnType<Guard> | null
  methods: Routes[string]
}

const isParam = (part: string) => part.startsWith(':')

export function createSwitchboard(routes: Routes, guard: Guard): Switchboard {
  const entries = Object.entries(routes).map(
    ([path, methods]): Entry => ({ pattern: path.split('/'), methods, handle: null }),
  )
  // A path that is written out wins over one with a parameter in the same place.
  entries.sort((a, b) => a.pattern.filter(isParam).length - b.pattern.filter(isParam).length)

  function find(path: string): { entry: Entry; params: Record<string, string> } {
    const parts = path.split('?')[0]!.split('/')
    const fits = ({ pattern }: Entry) =>
      pattern.length === parts.length && pattern.every((part, at) => isParam(part) || part === parts[at])
    const entry = entries.find(fits)
    if (entry === undefined) throw new Error(`no route for ${path}`)
    const named = entry.pattern.flatMap((part, at) => (isParam(part) ? [[part.slice(1), parts[at]!]] : []))
    return { entry, params: Object.fromEntries(named) }
  }

  return {
    async call({ method, path, token, body, headers = {} }) {
      const { entry, params } = find(path)
      entry.handle ??= guard(entry.methods, entry.pattern.join('/'))
      const request = new Request(`http://127.0.0.1${path}`, {
        method,
        headers: { ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      return entry.handle(Object.assign(request, { params }) as unknown as BunRequest)
    },
    routes: Object.entries(routes).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, route]) => ({ method: method as Method, path, who: route.for })),
    ),
  }
}
