// Limits of one user over several processes: two servers with one Redis count together.
import { expect, test } from 'bun:test'
import { call, expectProblem } from '../http/calls.ts'
import { describeWithService } from '../services/describe.ts'
import { findRedis, startRedis } from '../services/redis.ts'
import { useScene } from './scene.ts'

/** Long, so that no token comes back on a slow machine. */
const LATER_MS = 3_600_000

describeWithService('rate limits of two servers', await findRedis(), startRedis, (redis) => {
  const scene = useScene()

  async function twoServers(): Promise<string[]> {
    const limits = { poll_burst: 5, poll_every_ms: LATER_MS, write_burst: 20, write_every_ms: LATER_MS }
    const servers = []
    for (let count = 0; count < 2; count++)
      servers.push(await scene.server({ redis_url: redis().url, ...limits }))
    return servers.map(({ url }) => url)
  }

  async function statusesOf(
    urls: readonly string[],
    times: number,
    method: string,
    path: string,
    body?: object,
  ) {
    const statuses: number[] = []
    for (let asked = 0; asked < times; asked++) {
      const url = urls[asked % urls.length]!
      const options = { token: 'dev:bob', ...(body === undefined ? {} : { body }) }
      const answer = await call(url, method, path, options)
      if (answer.status === 429) expectProblem(answer, 'rate_limited')
      statuses.push(answer.status)
    }
    return statuses
  }

  test('[R5] hold for a user across all processes', async () => {
    const urls = await twoServers()
    expect(await statusesOf(urls, 7, 'GET', '/api/v1/presence/a')).toEqual([
      ...Array(5).fill(200),
      ...Array(2).fill(429),
    ])
    const writes = await statusesOf(urls, 24, 'PUT', '/api/v1/presence/status', { text: 'hi' })
    expect(writes).toEqual([...Array(20).fill(200), ...Array(4).fill(429)])
  })
})
