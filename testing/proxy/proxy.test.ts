// The proxies of deploy/ in front of real servers: TLS, WebSockets, event streams, limits, and a gateway that is
// stopping. Each test runs with nginx and with Caddy; one that cannot be had is skipped with the reason.
import { afterEach, expect, test } from 'bun:test'
import { once } from 'node:events'
import { connect as connectTls } from 'node:tls'
import { BODY_BYTES_MAX, SUBPROTOCOL_COMPACT } from '@greendot/protocol'
import { connect, openClient } from '../clients/client.ts'
import { startServer, type TestServer } from '../clients/server.ts'
import { createEventParser, presencesIn } from '../e2e/stream-format.ts'
import { describeWithService } from '../services/describe.ts'
import { findCaddy } from '../services/tools/caddy.ts'
import { findNginx } from '../services/tools/nginx.ts'
import { until, WAIT_MS, within } from '../services/within.ts'
import { type RunningProxy, type StartProxy, startCaddy, startNginx } from './proxies.ts'

const addressOf = ({ url }: TestServer) => new URL(url).host
const PROXIES = [
  { name: 'nginx', found: await findNginx(), start: startNginx },
  { name: 'Caddy', found: await findCaddy(), start: startCaddy },
]

interface Scene {
  servers: TestServer[]
  proxy: RunningProxy
  stop(): Promise<void>
}

async function setUp(start: StartProxy, program: string, count: number): Promise<Scene> {
  // A stopping server waits for its clients; the test ends them.
  const servers = await Promise.all(Array.from({ length: count }, () => startServer({ drain_ms: 30_000 })))
  const proxy = await start(program, servers.map(addressOf))
  return {
    servers,
    proxy,
    async stop() {
      await proxy.stop()
      for (const server of servers) await server.stop()
    },
  }
}

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (let close = closing.pop(); close !== undefined; close = closing.pop()) await close()
})

/** Reads an event stream; `sees` resolves while the stream is open. */
async function readStream(proxy: RunningProxy, userIds: readonly string[]) {
  const stopping = new AbortController()
  closing.push(() => stopping.abort())
  const response = await fetch(`${proxy.url}/api/v1/stream?user_ids=${userIds.join(',')}`, {
    headers: { authorization: 'Bearer dev:alice', accept: 'text/event-stream' },
    tls: { ca: proxy.ca },
    signal: stopping.signal,
  })
  const seen: string[] = []
  const ignored = () => {}
  const parser = createEventParser({
    message: (data) =>
      void seen.push(...presencesIn(JSON.parse(data)).map((one) => `${one.user_id} ${one.status}`)),
    idAlone: ignored,
    comment: ignored,
    retry: ignored,
  })
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  return {
    response,
    async sees(what: string): Promise<void> {
      while (!seen.includes(what)) {
        const { done, value } = await within(WAIT_MS, `"${what}" in the stream`, reader.read())
        if (done) throw new Error(`the stream ended before "${what}"`)
        parser.take(value)
      }
    },
  }
}

/** The beginning of the answer to a request that announces a body of this length. */
async function refusalOf(proxy: RunningProxy, bytes: number): Promise<string> {
  const { hostname, port } = new URL(proxy.url)
  const socket = connectTls({ host: hostname, port: Number(port), ca: proxy.ca, servername: hostname })
  closing.push(() => socket.destroy())
  socket.write(
    `PUT /api/v1/presence/status HTTP/1.1\r\nHost: ${hostname}:${port}\r\nContent-Length: ${bytes}\r\n\r\n`,
  )
  const [head] = await within(WAIT_MS, 'the refusal', once(socket, 'data'))
  return String(head).slice(0, 12)
}

for (const { name, found, start } of PROXIES) {
  const program = found.state === 'found' ? found.path : ''
  describeWithService(
    `${name} in front of a server`,
    found,
    () => setUp(start, program, 1),
    (scene) => {
      const ask = (path: string, init: RequestInit = {}) =>
        fetch(`${scene().proxy.url}${path}`, { ...init, tls: { ca: scene().proxy.ca } })
      const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
      async function join(userId: string) {
        const { url, ca } = scene().proxy
        // Compact, as the client kit: proxies must pass the subprotocol, both ways.
        const client = await connect(url, userId, { tls: { ca }, encoding: 'compact' })
        expect(client.socket.protocol).toBe(SUBPROTOCOL_COMPACT)
        closing.push(client.close)
        return client
      }

      test('[X8, W1] passes WebSockets: a client gets its welcome and a change', async () => {
        const alice = await join('alice')
        expect(alice.welcome.self).toMatchObject({ user_id: 'alice', status: 'online' })
        alice.send({ type: 'watch', user_ids: ['bob'], ref: 1 })
        await alice.next('ok')
        await join('bob')
        expect(await alice.change('bob')).toMatchObject({ status: 'online' })
      })

      test('[X8, C6] passes the refusal of a token, on sockets and as 401', async () => {
        const answer = await ask('/api/v1/presence/bob', { headers: bearer('wrong') })
        expect([answer.status, await answer.json()]).toMatchObject([401, { code: 'unauthorized' }])
        const { url, ca } = scene().proxy
        const refused = openClient(url, 'alice', { token: 'wrong', tls: { ca } })
        expect(await refused.next('error')).toMatchObject({ code: 'unauthorized' })
        expect((await refused.closed).code).toBe(4401)
      })

      test('[X8, W1] sends the events of a stream at once, while it is open', async () => {
        const stream = await readStream(scene().proxy, ['carol'])
        expect(stream.response.headers.get('content-type')).toStartWith('text/event-stream')
        await stream.sees('carol offline')
        await join('carol')
        await stream.sees('carol online')
      })

      test('[X8, W1] passes a stream with a list as long as a server takes', async () => {
        const ids = Array.from({ length: 500 }, (_, index) => `${'x'.repeat(113)}${1_000 + index}`)
        const stream = await readStream(scene().proxy, ids)
        expect(stream.response.status).toBe(200)
        await stream.sees(`${ids[0]} offline`)
      })

      test('[X8] passes bodies up to the limit of the server, and refuses longer ones', async () => {
        const answer = await ask('/api/v1/presence/status', {
          method: 'PUT',
          headers: bearer('dev:alice'),
          body: '{"text":"hello"}'.padEnd(BODY_BYTES_MAX, ' '),
        })
        expect(answer.status).toBe(200)
        // Only the head is sent: a refusal does not wait for the body.
        expect(await refusalOf(scene().proxy, BODY_BYTES_MAX + 1)).toBe('HTTP/1.1 413')
      })

      test('[X8] serves the page, keeps counters inside, and redirects from plain HTTP', async () => {
        expect(await (await ask('/')).text()).toContain('<!doctype html>')
        expect((await ask('/metrics')).status).toBe(404)
        const plain = await fetch(`${scene().proxy.plainUrl}/docs?a=1`, { redirect: 'manual' })
        expect(plain.status).toBe(308)
        expect(plain.headers.get('location')).toMatch(/^https:\/\/localhost(:\d+)?\/docs\?a=1$/)
      })

      test('[C6] logs no token, also when the server is gone', async () => {
        await scene().servers[0]!.stop()
        const answer = await ask('/api/v1/stream?user_ids=bob&token=dev:alice')
        expect([502, 503]).toContain(answer.status)
        await until(WAIT_MS, 'a line of the log', async () => scene().proxy.logs().includes('/api/v1/stream'))
        expect(scene().proxy.logs()).not.toContain('dev:alice')
        expect(scene().proxy.logs()).not.toContain('dev%3Aalice')
      })
    },
  )

  describeWithService(
    `${name} in front of two gateways`,
    found,
    () => setUp(start, program, 2),
    (scene) => {
      test('[C7] connects the clients of a gateway that is stopping to the other one', async () => {
        const { servers, proxy } = scene()
        const [stopping, staying] = servers as [TestServer, TestServer]
        const last = await connect(stopping.url, 'last')
        const stopped = stopping.stop()
        await last.next('drain')
        const names = Array.from({ length: 6 }, (_, index) => `user-${index}`)
        const clients = await Promise.all(
          names.map((userId) => connect(proxy.url, userId, { tls: { ca: proxy.ca } })),
        )
        const headers = { authorization: 'Bearer dev:last' }
        const asked = await fetch(`${staying.url}/presence/batch?user_ids=${names}`, { headers })
        expect(await asked.json()).toEqual(Object.fromEntries(names.map((userId) => [userId, 'online'])))
        for (const client of [...clients, last]) client.close()
        await stopped
      })
    },
  )
}
