// The kit against the document of the server it is for: its types are those of the document, and whatever
// a server key may ask has a method, or a reason why not.
import { afterAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type * as wire from '@greendot/protocol'
import { SERVER_KEY, securedSettings } from '../../../../testing/http/tokens.ts'
import { startServer } from '../../../../testing/server.ts'
import { type ApiDocument, apiTypes, formatted } from '../../generate-api.ts'
import { ambientRuntime } from '../platform.ts'
import type * as api from './api.ts'
import { type Backend, createBackend } from './backend.ts'
import { createCall } from './call.ts'
import { mintForDev } from './token.ts'

// Started here, not before the tests: which operations there are is in the document.
const server = await startServer(securedSettings)
afterAll(() => server.stop())
const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as ApiDocument

/** What a server key may call and the kit does not, with the reason. */
const NOT_IN_THE_KIT: Record<string, string> = {
  'GET /api/v1/presence': 'the query by body says the same, and has room for more ids',
  'GET /api/v1/presence/{user_id}': 'an id may be the name of a route; the query takes any',
  'GET /presence/batch': 'the query says it too',
  'GET /api/v1/feed': 'for eyes: it leaves changes out, and a program would miss them',
  'GET /metrics': 'text for Prometheus, which asks by itself',
}

/** Every method of the kit, called once. */
const METHODS: Record<string, (backend: Backend) => Promise<unknown>> = {
  token: (backend) => backend.token('ada'),
  presence: (backend) => backend.presence('ada'),
  query: (backend) => backend.query(['ada']),
  'contacts.list': (backend) => backend.contacts.list('ada'),
  'contacts.replace': (backend) => backend.contacts.replace('ada', ['bob']),
  'contacts.add': (backend) => backend.contacts.add('ada', ['carol']),
  'contacts.remove': (backend) => backend.contacts.remove('ada', ['bob']),
  'settings.read': (backend) => backend.settings.read('ada'),
  'settings.change': (backend) => backend.settings.change('ada', { reciprocal: false }),
  setAvailability: (backend) => backend.setAvailability('ada', 'busy'),
  setCustomStatus: async (backend) => [
    await backend.setCustomStatus('ada', { text: 'Lunch' }),
    await backend.setCustomStatus('ada', null),
  ],
  explain: (backend) => backend.explain('ada', { viewerId: 'bob' }),
  export: (backend) => backend.export('ada'),
  erase: (backend) => backend.erase('ada'),
  stats: (backend) => backend.stats(),
  statsHistory: (backend) => backend.statsHistory(),
}

function operationsForBackends(): string[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { security }]) => security.some((scheme) => 'serverKey' in scheme))
      .map(([method]) => `${method.toUpperCase()} ${path}`),
  )
}

/** The operation that a request is, by its method and path. */
function operationOf(method: string, url: string): string | undefined {
  const { pathname } = new URL(url)
  return operationsForBackends().find((name) => {
    const [expected, path] = name.split(' ') as [string, string]
    return method === expected && new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`).test(pathname)
  })
}

describe('the types of the kit', () => {
  test('[X8] are those of /openapi.json', async () => {
    const written = readFileSync(join(import.meta.dir, 'api.ts'), 'utf8')
    const isCurrent = written === (await formatted(apiTypes(document)))
    if (!isCurrent) throw new Error('out of date: npm start, and npx bun packages/client/generate-api.ts')
  })

  test('[X8] are those of the wire', () => {
    type Same<A, B> = [A, B] extends [B, A] ? true : false
    const presence: Same<api.Presence, wire.QueriedPresence> = true
    const own: Same<api.OwnPresence, wire.OwnPresence> = true
    const settings: Same<api.Settings, wire.Settings> = true
    const codes: Same<api.Problem['code'], wire.ErrorCode> = true
    expect([presence, own, settings, codes]).not.toContain(false)
  })
})

describe('the methods of the kit', () => {
  const called = new Set<string | undefined>()
  const ambient = ambientRuntime()
  const recording = (url: string, init: RequestInit) => {
    called.add(operationOf(init.method ?? 'GET', url))
    return ambient.fetch(url, init)
  }
  const runtime = { ...ambient, fetch: recording as typeof fetch }
  const parts = { baseUrl: server.url, serverKey: SERVER_KEY, timeoutMs: 5_000, retriesMax: 0, runtime }
  const backend = createBackend(createCall(parts), mintForDev)

  test('[X3] are all called here', () => {
    const names = Object.entries(backend).flatMap(([name, part]) =>
      typeof part === 'function' ? [name] : Object.keys(part).map((inner) => `${name}.${inner}`),
    )
    expect(names.sort()).toEqual(Object.keys(METHODS).sort())
  })

  test('[X3] cover everything a server key may ask, but for what has a reason', async () => {
    for (const run of Object.values(METHODS)) await run(backend)
    expect([...called, ...Object.keys(NOT_IN_THE_KIT)].sort()).toEqual(operationsForBackends().sort())
  })
})
