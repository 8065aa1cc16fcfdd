// While Redis is away: queries and explanations say that they are what the database knows, and an export,
// which promises all there is, is refused.
import { expect, test } from 'bun:test'
import type { Problem } from '@greendot/protocol'
import { call, expectProblem } from '../http/calls.ts'
import { describeWithService } from '../services/describe.ts'
import { findRedis, startRedis } from '../services/redis.ts'
import { until, WAIT_MS } from '../services/within.ts'
import { useScene } from './scene.ts'

describeWithService('without the hot store', await findRedis(), startRedis, (redis) => {
  const scene = useScene()

  test('[R3, S7, X6] explain says so, in a sentence and a header, and there is no export', async () => {
    const { url } = await scene.server({ redis_url: redis().url, log_level: 'silent' })
    const ask = <Body>(path: string) => call<Body>(url, 'GET', path, { token: 'dev' })
    const explain = () => ask<{ because: string[] }>('/api/v1/explain?user_id=bob&viewer_id=alice')
    const exported = () => ask<Problem>('/api/v1/users/bob/export')
    await call(url, 'PUT', '/api/v1/users/bob/status', { token: 'dev', body: { text: 'at work' } })

    const whole = await explain()
    expect(whole.headers.has('greendot-degraded')).toBe(false)
    expect(whole.body.because.join(' ')).not.toContain('hot store')
    expect((await exported()).status).toBe(200)

    await redis().kill('SIGKILL')
    const isNoticed = async () =>
      (await ask('/api/v1/presence/bob')).headers.get('greendot-degraded') === 'true'
    await until(WAIT_MS, 'the server to notice', isNoticed)
    const guessed = await explain()
    expect(guessed.status).toBe(200)
    expect(guessed.headers.get('greendot-degraded')).toBe('true')
    expect(guessed.body.because[0]).toStartWith('The hot store does not answer')
    const refused = await exported()
    expectProblem(refused, 'unavailable')
    expect(refused.body.detail).toContain('an export has all of it')
    expect(refused.headers.get('retry-after')).toBe('1')

    await redis().restart({ keepData: false })
    await until(WAIT_MS, 'the export to be whole again', async () => (await exported()).status === 200)
    expect((await explain()).headers.has('greendot-degraded')).toBe(false)
  })
})
