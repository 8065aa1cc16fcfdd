// What the guard does when a handler breaks: one answer that tells nothing, and one log line without
// the token of the session. The rest of it is tested over a real socket, in testing/http.
import { expect, test } from 'bun:test'
import type { BunRequest } from 'bun'
import { z } from 'zod'
import { createFakeClock } from '../../../../testing/worlds/fake-clock.ts'
import { createMemoryRateLimiter } from '../limits/memory.ts'
import { type Config, loadConfig } from '../platform/config/config.ts'
import { createLogger } from '../platform/logger.ts'
import { createTally } from '../platform/measuring/tally.ts'
import { createAuthenticator } from './access/auth.ts'
import { createOriginRules } from './access/origins.ts'
import { createThrottle } from './access/throttle.ts'
import { createGuard } from './guard.ts'
import { nothing, route } from './route.ts'

const NOW = Date.UTC(2030, 0, 1)
const anyText = z.string().optional()

function devConfig(): Config {
  const loaded = loadConfig({ argv: ['--dev'], env: {}, readFile: () => null })
  if (!loaded.ok) throw new Error(loaded.problem)
  return loaded.config
}

const SECRETS = ['dev:a-secret-user', 'dev%3Aa-secret-user', '%64ev:a-secret-user']
test.each(SECRETS)('[C6] a token in the URL, %s, stays out of the log of a failure', async (token) => {
  const lines: string[] = []
  const clock = createFakeClock(NOW)
  const guard = createGuard({
    authenticator: createAuthenticator(devConfig(), clock),
    throttle: createThrottle({
      rateLimiter: createMemoryRateLimiter(),
      config: devConfig(),
      clock,
      tally: createTally(),
    }),
    clock,
    tally: createTally(),
    logger: createLogger({ level: 'error', destination: { write: (line) => void lines.push(line) } }),
    origins: createOriginRules(devConfig()),
  })
  const broken = route({
    for: 'user',
    takesTokenInUrl: true,
    summary: 'Breaks',
    query: { user_ids: anyText, a: anyText, secret: anyText },
    answers: { 204: nothing('Never') },
    run() {
      throw new Error('broken on purpose')
    },
  })
  // However it is spelt, and whatever is sent along: nothing after the path is for the log.
  for (const query of [`token=${token}`, `user_ids=a&to%6ben=${token}`, `a=1&token=x&token=${token}`]) {
    const url = `http://localhost/api/v1/stream?${query}&secret=word-q7x`
    const request = Object.assign(new Request(url, { headers: { authorization: 'Bearer dev:bob' } }), {
      params: {},
    })
    const answer = await guard({ GET: broken }, '/api/v1/stream')(request as unknown as BunRequest)
    expect(answer.status).toBe(500)
    expect(await answer.text()).not.toContain('on purpose')
  }
  expect(lines).toHaveLength(3)
  for (const line of lines) {
    expect(line).not.toContain('a-secret-user')
    expect(line).not.toContain('word-q7x')
    expect(JSON.parse(line)).toMatchObject({
      method: 'GET',
      route: '/api/v1/stream',
      err: { message: 'broken on purpose' },
    })
  }
})

const TOO_OFTEN = {
  code: 'rate_limited',
  message: 'too many writes; wait 1 s',
  retryAfterSeconds: 1,
} as const

test('[R5] a call over the limit is answered before its body is read or its handler runs', async () => {
  const clock = createFakeClock(NOW)
  let refused = false
  const guard = createGuard({
    authenticator: createAuthenticator(devConfig(), clock),
    throttle: { failureFor: async () => (refused ? TOO_OFTEN : null) },
    clock,
    tally: createTally(),
    logger: createLogger({ level: 'silent' }),
    origins: createOriginRules(devConfig()),
  })
  let runs = 0
  const write = route({
    for: 'user',
    limit: 'write',
    summary: 'Writes',
    body: z.strictObject({}),
    answers: { 204: nothing('Done') },
    run() {
      runs++
      return new Response(null, { status: 204 })
    },
  })
  async function put(): Promise<{ status: number; isRead: boolean }> {
    const headers = { authorization: 'Bearer dev:bob' }
    const request = new Request('http://localhost/a', { method: 'PUT', headers, body: '{}' })
    const answer = await guard(
      { PUT: write },
      '/a',
    )(Object.assign(request, { params: {} }) as unknown as BunRequest)
    return { status: answer.status, isRead: request.bodyUsed }
  }
  expect(await put()).toEqual({ status: 204, isRead: true })
  refused = true
  expect(await put()).toEqual({ status: 429, isRead: false })
  expect(runs).toBe(1)
})
