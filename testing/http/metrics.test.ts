// What a real server counts where it says no, and that histograms, labels and ids are as Prometheus wants them.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect } from '../clients/client.ts'
import { startServer, type TestServer } from '../clients/server.ts'
import { call } from './calls.ts'
import { SERVER_KEY, secondsFromNow, securedSettings, sign, userToken } from './tokens.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer({
    ...securedSettings,
    metrics_open: true,
    write_burst: 1,
    frames_per_second: 20,
  })
})
afterAll(() => server.stop())

const scrape = async () => (await call(server.url, 'GET', '/metrics')).text

/** The value of a sample, by its name and labels as they are written. */
async function sampleValue(sample: string): Promise<number> {
  const line = (await scrape()).split('\n').find((one) => one.startsWith(`${sample} `))
  return Number(line?.slice(sample.length + 1))
}

/** How much a sample grows while something is done. */
async function growthOf(sample: string, work: () => Promise<unknown>): Promise<number> {
  const before = await sampleValue(sample)
  await work()
  return (await sampleValue(sample)) - before
}

describe('metrics', () => {
  test('[X8, C6] refused tokens are counted by their reason', async () => {
    const expired = sign({ sub: 'alice', exp: secondsFromNow(-60) })
    const ask = (token: string) => call(server.url, 'GET', '/api/v1/presence/alice', { token })
    expect(await growthOf('greendot_tokens_refused_total{reason="expired"}', () => ask(expired))).toBe(1)
    const other = 'greendot_tokens_refused_total{reason="not a JWT and not a server key"}'
    expect(await growthOf(other, () => ask('nonsense'))).toBe(1)
    expect(await growthOf('greendot_http_responses_total{status="401"}', () => ask('nonsense'))).toBe(1)
  })

  test('[X8, R5] calls and frames over a limit are counted by the limit', async () => {
    const write = () => call(server.url, 'DELETE', '/api/v1/presence/status', { token: userToken('hasty') })
    const writes = await growthOf('greendot_rate_limited_total{limit="write"}', () =>
      Promise.all(Array.from({ length: 5 }, write)),
    )
    expect(writes).toBeGreaterThan(0)
    const frames = await growthOf('greendot_rate_limited_total{limit="frames"}', async () => {
      const client = await connect(server.url, 'chatty', { token: userToken('chatty') })
      for (let frame = 0; frame < 100; frame++) client.send({ type: 'heartbeat', activity: 'active' })
      await client.closed
    })
    expect(frames).toBe(1)
  })

  test('[X8] histograms are cumulative and end with all observations', async () => {
    const text = await scrape()
    const names = Array.from(text.matchAll(/^# TYPE (\w+) histogram$/gm), ([, name]) => name!)
    expect(names).toContain('greendot_propagation_seconds')
    for (const name of names) {
      const buckets = Array.from(
        text.matchAll(new RegExp(`^${name}_bucket\\{le="([^"]+)"\\} (\\S+)$`, 'gm')),
        ([, bound, count]) => [bound!, Number(count)] as const,
      )
      const counts = buckets.map(([, count]) => count)
      expect(counts).toEqual([...counts].sort((a, b) => a - b))
      expect(buckets.at(-1)![0]).toBe('+Inf')
      expect(Number(new RegExp(`^${name}_count (\\S+)$`, 'm').exec(text)![1])).toBe(counts.at(-1)!)
    }
  })

  test('[X8, C6] no id and no text of a user is in a scrape', async () => {
    const client = await connect(server.url, 'unmistakable-user', { token: userToken('unmistakable-user') })
    client.send({ type: 'set_custom_status', text: 'unmistakable-text', ref: 1 })
    client.send({ type: 'watch', user_ids: ['unmistakable-target'], ref: 2 })
    await client.next('ok')
    await client.next('ok')
    for (const path of ['unmistakable-path', `x?token=${SERVER_KEY}`])
      await call(server.url, 'GET', `/api/v1/presence/${path}`, { token: 'unmistakable-token' })
    const text = await scrape()
    expect(text).not.toContain('unmistakable')
    expect(text).not.toContain(SERVER_KEY)
    client.close()
  })
})
