// Writes over HTTP: users are held to the write limit on every route that writes, backends are not, and a
// heartbeat that changes nothing is no write.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startServer, type TestServer } from '../clients/server.ts'
import { call, expectProblem } from './calls.ts'
import { registeredRoutes } from './registered-routes.ts'

const BURST = 20
/** Long, so that no token comes back on a slow machine. */
const EVERY_SECONDS = 3_600

let server: TestServer
beforeAll(async () => {
  server = await startServer({ write_burst: BURST, write_every_ms: EVERY_SECONDS * 1_000 })
})
afterAll(() => server.stop())

type Write = [method: string, path: string, body?: object]

const WRITES: Write[] = [
  ['PUT', '/api/v1/presence/status', { text: 'lunch' }],
  ['DELETE', '/api/v1/presence/status'],
  ['PUT', '/api/v1/presence/availability', { status: 'busy' }],
  ['PUT', '/api/v1/presence/settings', { status_visibility: 'contacts' }],
  ['POST', '/api/v1/leave', { device_id: 'phone' }],
]

const ask = (token: string, [method, path, body]: Write) =>
  call(server.url, method, path, { token, ...(body === undefined ? {} : { body }) })

const beat = (user: string, deviceId: string, activity: 'active' | 'idle'): Promise<{ status: number }> =>
  ask(`dev:${user}`, ['POST', '/api/v1/heartbeat', { device_id: deviceId, activity }])

async function exhaust(user: string): Promise<void> {
  for (let taken = 0; taken < BURST; taken++)
    expect((await ask(`dev:${user}`, WRITES[taken % WRITES.length]!)).status).toBeLessThan(300)
}

describe('writing', () => {
  test('[R5] twenty writes in a row are answered, whichever they are, and the next is refused', async () => {
    await exhaust('bob')
    for (const write of WRITES) {
      const refused = await ask('dev:bob', write)
      expectProblem(refused, 'rate_limited')
      expect(refused.status).toBe(429)
      expect(Number(refused.headers.get('retry-after'))).toBeWithin(EVERY_SECONDS - 600, EVERY_SECONDS + 1)
    }
  })

  test('[R5] many at the same time are counted one by one', async () => {
    const writes = Array.from({ length: 3 * BURST }, () => ask('dev:carol', WRITES[0]!))
    const statuses = (await Promise.all(writes)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(BURST)
    expect(statuses.filter((status) => status === 429)).toHaveLength(2 * BURST)
  })

  test('[R5] a refused write changes nothing', async () => {
    await exhaust('dora')
    expect((await ask('dev:dora', ['PUT', '/api/v1/presence/status', { text: 'late' }])).status).toBe(429)
    const { text } = await ask('dev', ['GET', '/api/v1/presence/dora'])
    expect(text).not.toContain('late')
  })

  test('[R5] writes that are refused for what they ask count too', async () => {
    for (let tries = 0; tries < BURST; tries++)
      expect((await ask('dev:emma', ['PUT', '/api/v1/presence/availability', {}])).status).toBe(400)
    expectProblem(await ask('dev:emma', WRITES[0]!), 'rate_limited')
  })

  test('[R5] users are counted apart, reads are counted apart, and backends are not counted', async () => {
    await exhaust('fred')
    expect((await ask('dev:gina', WRITES[0]!)).status).toBe(200)
    expect((await ask('dev:fred', ['GET', '/api/v1/presence/bob'])).status).toBe(200)
    for (let writes = 0; writes < 2 * BURST; writes++)
      expect((await ask('dev', ['PUT', '/api/v1/users/fred/status', { text: 'hi' }])).status).toBe(200)
  })

  test('[R5] [D9] heartbeats count when they change something, and are never refused when not', async () => {
    for (let beats = 0; beats < BURST / 2; beats++) {
      expect((await beat('hans', 'phone', 'active')).status).toBe(200)
      expect((await beat('hans', 'phone', 'idle')).status).toBe(200)
    }
    expect((await beat('hans', 'phone', 'active')).status).toBe(429)
    expect((await beat('hans', 'laptop', 'idle')).status).toBe(429)
    for (let beats = 0; beats < 2 * BURST; beats++)
      expect((await beat('hans', 'phone', 'idle')).status).toBe(200)
  })

  test('[R5] every route by which a user writes has a limit', async () => {
    const unlimited = (await registeredRoutes())
      .filter(({ method, who, limit }) => who === 'user' && method !== 'GET' && limit === undefined)
      .map(({ method, path }) => `${method} ${path}`)
    // It counts by itself, as above.
    expect(unlimited).toEqual(['POST /api/v1/heartbeat'])
  })
})
