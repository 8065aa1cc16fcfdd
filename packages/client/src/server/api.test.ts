// The backend kit against the OpenAPI document: its types are those of the document, and every operation for
// server keys has a method, or a reason why not.
import { afterAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type * as wire from '@greendot/protocol'
import { startServer } from '../../../../testing/clients/server.ts'
import { SERVER_KEY, securedSettings } from '../../../../testing/http/tokens.ts'
import { type ApiDocument, apiTypes, formatted } from '../../generate-api.ts'
import { ambientRuntime } from '../platform.ts'
import type * as api from './api.ts'
import { type Backend, createBackend } from './backend.ts'
import { createCall } from './call.ts'
import { mintForDev } from './token.ts'

// Started at load, because the document is needed before the tests are defined.
const server = await startServer({ ...securedSettings, history_days: 7 })
afterAll(() => server.stop())
const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as ApiDocument

/** What a server key may call and the kit does not, with the reason. */
const NOT_IN_THE_KIT: Record<string, string> = {
  'GET /api/v1/presence': 'the query by body gives the same answer, and has room for more ids',
  'GET /api/v1/presence/{user_id}': 'an id may be the name of a route; the query accepts any id',
  'GET /presence/batch': 'part of the answer of the query',
  'GET /api/v1/feed': 'for display only: it leaves out changes under load',
  'GET /metrics': 'text for Prometheus',
}

/** The id of the webhook that is added first. */
let hookId = ''

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
  'settings.change': (backend) => backend.settings.change('ada', { reciprocal: false, history: true }),
  'history.read': (backend) => backend.history.read('ada', { from: new Date(0), to: 1 }),
  'history.hours': (backend) => backend.history.hours({ to: '2030-01-01' }),
  'webhooks.add': async (backend) => {
    hookId = (await backend.webhooks.add({ url: 'https://hooks.example/', events: ['user.online'] })).id
  },
  'webhooks.list': (backend) => backend.webhooks.list(),
  'webhooks.read': (backend) => backend.webhooks.read(hookId),
  'webhooks.edit': (backend) => backend.webhooks.edit(hookId, { enabled: false }),
  'webhooks.test': (backend) => backend.webhooks.test(hookId),
  'webhooks.failures': (backend) => backend.webhooks.failures(hookId),
  'webhooks.replay': (backend) => backend.webhooks.replay(hookId),
  'webhooks.remove': (backend) => backend.webhooks.remove(hookId),
  setAvailability: (backend) => backend.setAvailability('ada', 'busy'),
  setCustomStatus: async (backend) => [
    await backend.setCustomStatus('ada', { text: 'Lunch' }),
    await backend.setCustomStatus('ada', null),
  ],
  explain: (backend) => backend.explain('ada', { viewerId: 'bob' }),
  disconnect: (backend) => backend.disconnect('ada', { until: new Date('2099-01-01') }),
  heartbeats: (backend) =>
    backend.heartbeats({
      gateway_id: 'chat-1',
      sessions: [{ user_id: 'ada', device_id: 'd1', activity: 'active' }],
    }),
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

  test('[X8] are those of the protocol', () => {
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
  const parts = { baseUrl: server.url, serverKey: SERVER_KEY, timeoutMs: 60_000, retriesMax: 0, runtime }
  const backend = createBackend(createCall(parts), mintForDev)

  test('[X3] are all called here', () => {
    const names = Object.entries(backend).flatMap(([name, part]) =>
      typeof part === 'function' ? [name] : Object.keys(part).map((inner) => `${name}.${inner}`),
    )
    expect(names.sort()).toEqual(Object.keys(METHODS).sort())
  })

  test('[X3] cover every operation for server keys, except those with a reason', async () => {
    for (const run of Object.values(METHODS)) await run(backend)
    expect([...called, ...Object.keys(NOT_IN_THE_KIT)].sort()).toEqual(operationsForBackends().sort())
  })
})
