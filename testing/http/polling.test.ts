// Reading again and again instead of watching: users are held to the poll limit on every route that
// reads, whatever they send, and backends are not.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startServer, type TestServer } from '../clients/server.ts'
import { call, expectProblem } from './calls.ts'

const BURST = 5
/** Long, so that no token comes back on a slow machine. */
const EVERY_SECONDS = 3_600

let server: TestServer
beforeAll(async () => {
  server = await startServer({ poll_burst: BURST, poll_every_ms: EVERY_SECONDS * 1_000 })
})
afterAll(() => server.stop())

const READS: [string, string, object?][] = [
  ['GET', '/api/v1/presence?user_ids=a,b'],
  ['POST', '/api/v1/presence/query', { user_ids: ['a'] }],
  ['GET', '/api/v1/presence/a'],
  ['GET', '/presence/batch?user_ids=a'],
  ['HEAD', '/api/v1/presence/a'],
]

const ask = (token: string, [method, path, body]: [string, string, object?]) =>
  call(server.url, method, path, { token, ...(body === undefined ? {} : { body }) })

/** Takes every token there is. */
async function exhaust(token: string): Promise<void> {
  for (let taken = 0; taken < BURST; taken++)
    expect((await ask(token, ['GET', '/api/v1/presence/a'])).status).toBe(200)
}

describe('polling', () => {
  test('[R5] five reads in a row are answered, whichever they are, and the sixth is not', async () => {
    for (const read of READS) expect((await ask('dev:bob', read)).status).toBe(200)
    for (const read of READS) {
      const refused = await ask('dev:bob', read)
      expect(refused.status).toBe(429)
      if (read[0] !== 'HEAD') expectProblem(refused, 'rate_limited')
      // Whole seconds, rounded up: a client that waits that long is served.
      expect(Number(refused.headers.get('retry-after'))).toBeWithin(EVERY_SECONDS - 600, EVERY_SECONDS + 1)
    }
  })

  const mistakes: [string, string, object?][] = [
    ['GET', '/api/v1/presence'],
    ['GET', '/api/v1/presence/a%20b'],
    ['POST', '/api/v1/presence/query', { user_ids: 'a' }],
    ['GET', '/presence/batch?user_ids=a,,b'],
    ['GET', '/api/v1/presence/a?viewer_id=b'],
  ]
  test('[R5] reads that are refused for what they ask count too', async () => {
    const statuses = []
    for (const mistake of mistakes) statuses.push((await ask('dev:carol', mistake)).status)
    expect(statuses).toEqual([400, 400, 400, 400, 403])
    expectProblem(await ask('dev:carol', ['GET', '/api/v1/presence/a']), 'rate_limited')
  })

  test('[R5] it is each user for themselves, and only for reading', async () => {
    await exhaust('dev:dora')
    expectProblem(await ask('dev:dora', ['GET', '/api/v1/presence/a']), 'rate_limited')
    expect((await ask('dev:emma', ['GET', '/api/v1/presence/a'])).status).toBe(200)
    const beat = { device_id: 'd', activity: 'active' }
    expect((await ask('dev:dora', ['POST', '/api/v1/heartbeat', beat])).status).toBe(200)
    expect((await ask('dev:dora', ['PUT', '/api/v1/presence/status', { text: 'hi' }])).status).toBe(200)
    expect((await ask('dev:dora', ['GET', '/healthz'])).status).toBe(200)
  })

  test('[R5] a bad token is refused and takes no token of a bucket', async () => {
    for (let tries = 0; tries < BURST * 2; tries++)
      expectProblem(await ask('dev:', ['GET', '/api/v1/presence/a']), 'unauthorized')
    await exhaust('dev:fred')
  })

  test('[R5] backends read as often as they like', async () => {
    for (let reads = 0; reads < BURST * 10; reads++)
      expect((await ask('dev', ['GET', '/api/v1/presence/a?viewer_id=bob'])).status).toBe(200)
  })
})

describe('viewer_id', () => {
  const PATHS = ['/api/v1/presence?user_ids=a&', '/api/v1/presence/a?', '/presence/batch?user_ids=a&']

  test('[S6] a user who says viewer_id is refused, even with their own id', async () => {
    for (const [index, path] of PATHS.entries()) {
      const token = `dev:viewer-${index}`
      expectProblem(await ask(token, ['GET', `${path}viewer_id=bob`]), 'forbidden')
      expectProblem(await ask(token, ['GET', `${path}viewer_id=viewer-${index}`]), 'forbidden')
      expect((await ask('dev', ['GET', `${path}viewer_id=bob`])).status).toBe(200)
    }
    const body = { user_ids: ['a'] }
    expectProblem(
      await ask('dev:viewer', ['POST', '/api/v1/presence/query?viewer_id=bob', body]),
      'forbidden',
    )
    expect((await ask('dev', ['POST', '/api/v1/presence/query?viewer_id=bob', body])).status).toBe(200)
  })
})
