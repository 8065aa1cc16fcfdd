// Which pages a server serves: the setting `pages`, and the way to the dashboard.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startServer, type TestServer } from '../clients/server.ts'
import { call, expectProblem } from './calls.ts'
import { securedSettings } from './tokens.ts'

const PAGES = ['/', '/dashboard', '/docs']
const CHOICES = ['all', 'dashboard', 'none'] as const

const servers = new Map<string, TestServer>()
beforeAll(async () => {
  for (const pages of CHOICES) servers.set(pages, await startServer({ ...securedSettings, pages }))
  servers.set('default', await startServer(securedSettings))
  servers.set('default in dev mode', await startServer())
})
afterAll(() => Promise.all(Array.from(servers.values(), (server) => server.stop())))

const get = (pages: string, path: string) =>
  fetch(servers.get(pages)!.url + path, { redirect: 'manual', headers: { 'accept-encoding': 'identity' } })

const SERVED: [pages: string, mark: string][] = [
  ['all', 'data-pages="all"'],
  ['dashboard', 'data-pages="dashboard"'],
  ['default', 'data-pages="dashboard"'],
  ['default in dev mode', 'data-pages="all"'],
]
test.each(SERVED)('[X4] pages %s: the page says which views it has', async (pages, mark) => {
  expect(await (await get(pages, '/')).text()).toContain(mark)
  expect(await (await get(pages, '/docs')).text()).toStartWith('<!doctype html>')
})

test.each(SERVED)('[X4] pages %s: /dashboard leads to the dashboard, behind any prefix', async (pages) => {
  const answer = await get(pages, '/dashboard')
  expect(answer.status).toBe(302)
  const location = answer.headers.get('location')!
  expect(new URL(location, 'https://example.org/dashboard').href).toBe('https://example.org/#dashboard')
  const behind = new URL(location, 'https://example.org/presence/dashboard').href
  expect(behind).toBe('https://example.org/presence/#dashboard')
  const { url } = servers.get(pages)!
  expectProblem(await call(url, 'POST', '/dashboard'), 'method_not_allowed')
})

test.each(PAGES)('[X4] pages none: %s is not found', async (path) => {
  const { url } = servers.get('none')!
  for (const method of ['GET', 'POST']) expectProblem(await call(url, method, path), 'not_found')
})

test.each(CHOICES)('[X3] pages %s: the client for browsers is served', async (pages) => {
  for (const path of ['/client.js', '/client-worker.js']) {
    const answer = await get(pages, path)
    expect([path, answer.status]).toEqual([path, 200])
    expect(answer.headers.get('content-type')).toStartWith('text/javascript')
    await answer.body?.cancel()
  }
})

test('[X8] pages none: the description stays, without the page', async () => {
  const { url } = servers.get('none')!
  const { paths } = (await call<{ paths: object }>(url, 'GET', '/openapi.json')).body
  expect(Object.keys(paths)).toContain('/openapi.json')
  expect(Object.keys(paths)).not.toContain('/docs')
})
