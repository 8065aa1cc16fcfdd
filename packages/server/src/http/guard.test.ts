// What the guard does when a handler breaks: one answer that tells nothing, and one log line from which
// nobody can take over a session. The rest of it is tested over a real socket, in testing/http.
import { expect, test } from 'bun:test'
import type { BunRequest } from 'bun'
import { z } from 'zod'
import { createFakeClock } from '../../../../testing/worlds/fake-clock.ts'
import { type Config, loadConfig } from '../platform/config/config.ts'
import { createLogger } from '../platform/logger.ts'
import { createAuthenticator } from './auth.ts'
import { createGuard } from './guard.ts'
import { createOriginRules } from './origins.ts'
import { createPollLimit } from './poll-limit.ts'
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
    pollLimit: createPollLimit({ burst: 5, everyMs: 1_000 }),
    clock,
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
    const url = `http://localhost/api/v1/stream?${query}&secret=word`
    const request = Object.assign(new Request(url, { headers: { authorization: 'Bearer dev:bob' } }), {
      params: {},
    })
    const answer = await guard({ GET: broken })(request as unknown as BunRequest)
    expect(answer.status).toBe(500)
    expect(await answer.text()).not.toContain('on purpose')
  }
  expect(lines).toHaveLength(3)
  for (const line of lines) {
    expect(line).not.toContain('a-secret-user')
    expect(line).not.toContain('word')
    expect(JSON.parse(line)).toMatchObject({
      method: 'GET',
      url: 'http://localhost/api/v1/stream',
      err: { message: 'broken on purpose' },
    })
  }
})
