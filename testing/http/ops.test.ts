// The routes for operators: health, readiness, metrics and stats.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect } from '../clients/client.ts'
import { startServer, type TestServer } from '../clients/server.ts'
import { until, WAIT_MS } from '../services/within.ts'
import { call, expectProblem } from './calls.ts'
import { SERVER_KEY, securedSettings, userToken } from './tokens.ts'

/** A comment, or a sample with any number of labels. */
const LINE = /^# (HELP|TYPE) greendot_\w+ .+$|^greendot_\w+(\{\w+="[^"]*"(,\w+="[^"]*")*\})? -?[\d.e+-]+$/

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

const get = <Body = unknown>(path: string, token?: string) =>
  call<Body>(server.url, 'GET', path, token === undefined ? {} : { token })

interface Stats {
  users: Record<string, number>
  connections: number
  watches: number
  watched_users: number
  slow_readers: number
  gateways: { gateway_id: string; connections: number; watches: number }[]
  rates_per_second: Record<string, number>
  totals: Record<string, number>
  propagation_ms: Record<string, number | null>
  uptime_ms: number
}

describe('operations', () => {
  test('[C7] /healthz says ok and its version, without a token', async () => {
    const { status, body, headers } = await get('/healthz')
    expect(status).toBe(200)
    expect(body).toStrictEqual({ status: 'ok', version: expect.stringMatching(/^\d+\.\d+\.\d+/) })
    expect(headers.get('cache-control')).toBe('no-store')
  })

  test('[C7] /readyz lists what it checked', async () => {
    const { status, body } = await get<{ status: string; checks: Record<string, string> }>('/readyz')
    expect(status).toBe(200)
    expect(body.status).toBe('ready')
    expect(body.checks).toMatchObject({ store: 'ok', archive: 'ok', accepting: 'ok' })
    expect(new Set(Object.values(body.checks))).toEqual(new Set(['ok']))
  })

  test('[X8] /readyz has how far the consumers of the change log are behind', async () => {
    expect((await get<{ log_lag: object }>('/readyz')).body.log_lag).toEqual({})
    const keeping = await startServer({ history_days: 30 })
    await until(WAIT_MS, 'the lag of the history', async () => {
      const { body } = await call<{ log_lag: object }>(keeping.url, 'GET', '/readyz')
      return Bun.deepEquals(body.log_lag, { history: 0 })
    })
    await keeping.stop()
  })

  test('[C7] a server that is going away is alive but not ready, and takes no new connections', async () => {
    const leaving = await startServer({ drain_ms: 600_000 })
    // An open connection keeps the server draining.
    const guest = await connect(leaving.url, 'guest')
    const stopped = leaving.stop()
    await guest.next('drain')
    expect((await call(leaving.url, 'GET', '/healthz')).status).toBe(200)
    const ready = await fetch(`${leaving.url}/readyz`)
    expect(ready.status).toBe(503)
    expect(await ready.json()).toMatchObject({ status: 'not_ready', checks: { accepting: 'draining' } })
    const refused = await call(leaving.url, 'GET', '/api/v1/ws', { token: 'dev:late' })
    expectProblem(refused, 'unavailable')
    expect(refused.headers.get('retry-after')).toBe('1')
    guest.close()
    await stopped
  })

  test('[X8] /metrics is text that Prometheus reads, and its numbers follow what happens', async () => {
    const read = async (name: string) => {
      const { text } = await get('/metrics')
      return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
    }
    const first = await get('/metrics')
    expect(first.status).toBe(200)
    expect(first.headers.get('content-type')).toStartWith('text/plain')
    for (const line of first.text.split('\n').filter((text) => text !== '')) {
      expect(line).toMatch(LINE)
    }
    const opened = await read('greendot_connections_opened_total')
    const client = await connect(server.url, 'counted')
    client.send({ type: 'watch', user_ids: ['a', 'b', 'c'], ref: 1 })
    await client.next('ok')
    expect(await read('greendot_connections_opened_total')).toBe(opened + 1)
    expect(await read('greendot_watches')).toBe(3)
    expect(await read('greendot_watched_users')).toBe(3)
    client.close()
    await client.closed
  })

  test('[C6] outside dev mode /metrics is for server keys, because counts reveal users', async () => {
    const secured = await startServer(securedSettings)
    const ask = (token?: string) => call(secured.url, 'GET', '/metrics', token === undefined ? {} : { token })
    expectProblem(await ask(), 'unauthorized')
    expectProblem(await ask(userToken('alice')), 'forbidden')
    expect((await ask(SERVER_KEY)).text).toStartWith('# HELP greendot_')
    await secured.stop()
  })

  test('[X8] metrics_open gives /metrics, and nothing else, to any client', async () => {
    const open = await startServer({ ...securedSettings, metrics_open: true })
    expect((await call(open.url, 'GET', '/metrics')).text).toStartWith('# HELP greendot_')
    expectProblem(await call(open.url, 'GET', '/api/v1/stats'), 'unauthorized')
    await open.stop()
  })

  test('/api/v1/stats counts users, connections and watches, for server keys only', async () => {
    const before = (await get<Stats>('/api/v1/stats', 'dev')).body
    const one = await connect(server.url, 'stats-1')
    const two = await connect(server.url, 'stats-2')
    two.send({ type: 'watch', user_ids: ['stats-1', 'stats-3'], ref: 1 })
    await two.next('ok')
    const { status, body } = await get<Stats>('/api/v1/stats', 'dev')
    expect(status).toBe(200)
    expect(Object.keys(body.users).sort()).toEqual(['away', 'busy', 'offline', 'online'])
    expect(body.users.online).toBe(before.users.online! + 2)
    expect(body.connections).toBe(before.connections + 2)
    expect(body.watches).toBe(2)
    expect(body.watched_users).toBe(2)
    expect(body.slow_readers).toBe(0)
    expect(body.gateways).toEqual([
      { gateway_id: body.gateways[0]!.gateway_id, connections: body.connections, watches: 2 },
    ])
    expect(Object.keys(body.totals)).toEqual(Object.keys(body.rates_per_second))
    expect(body.totals.frames_in).toBeGreaterThan(before.totals.frames_in!)
    expect(body.uptime_ms).toBeGreaterThan(0)
    expect(Object.keys(body.propagation_ms).sort()).toEqual(['count', 'p50', 'p90', 'p99', 'window_ms'])

    expectProblem(await get('/api/v1/stats'), 'unauthorized')
    expectProblem(await get('/api/v1/stats', 'dev:alice'), 'forbidden')
    one.close()
    two.close()
  })
})
