// Watching by server-sent events: the same as by WebSocket (a snapshot, then every change, newest only,
// never backwards, as far as the viewer may see), and the viewer is not online for it.
import { describe, expect, test } from 'bun:test'
import type { Presence, QueriedPresence } from '@greendot/protocol'
import { systemClock } from '../../packages/server/src/platform/clock.ts'
import { call, expectProblem } from '../http/calls.ts'
import { SERVER_KEY, secondsFromNow, securedSettings, sign, userToken } from '../http/tokens.ts'
import { until, WAIT_MS } from '../services/within.ts'
import { hidden } from './audience/audience.ts'
import { isAway, isOffline, isOnline, useScene, watch } from './scene.ts'
import { openStream, type StreamOptions, streamPath, type TestStream } from './stream-client.ts'

const scene = useScene()

async function stream(url: string, viewerId: string, userIds: string[], options?: StreamOptions) {
  const opened = await openStream(url, viewerId, userIds, options)
  scene.onEnd(opened.close)
  return opened
}

const put = (url: string, path: string, body: object) => call(url, 'PUT', path, { token: 'dev', body })
const setText = (url: string, userId: string, text: string) =>
  put(url, `/api/v1/users/${userId}/status`, { text })
const ids = (presences: readonly Presence[]) => presences.map(({ user_id }) => user_id)

function expectGrowing(versions: readonly number[]): void {
  for (const [index, version] of versions.entries()) {
    if (index > 0) expect(version).toBeGreaterThan(versions[index - 1]!)
  }
}

async function gauges(url: string) {
  const { body } = await call<Record<string, number>>(url, 'GET', '/api/v1/stats', { token: 'dev' })
  const { streams, watches, watched_users, connections } = body
  return { streams, watches, watched_users, connections }
}

describe('what comes', () => {
  test('[W1] the present state in the order asked, then the changes', async () => {
    const { url } = await scene.server()
    const bob = await scene.person(url, 'bob', { platform: 'web' })
    const alice = await stream(url, 'alice', ['unknown', 'bob'])
    expect(alice.told[0]!.frame).toEqual({
      type: 'presence_state',
      states: [
        hidden('unknown'),
        {
          user_id: 'bob',
          status: 'online',
          last_seen: expect.any(Number),
          custom_status: null,
          devices: ['web'],
          version: bob.welcome.self.version,
        },
      ],
    })
    bob.be('idle')
    await alice.sees('bob', isAway)
    expect(alice.told.map(({ frame }) => frame.type)).toEqual(['presence_state', 'presence_change'])
    expect(alice.sightings('bob')[1]!.version).toBe(bob.welcome.self.version + 1)
  })

  test('[W1] nothing on the way may keep it, hold it back or cut it short', async () => {
    const { url } = await scene.server()
    const { headers, retryMs } = await stream(url, 'alice', ['bob'])
    expect(headers.get('content-type')).toBe('text/event-stream')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('x-accel-buffering')).toBe('no')
    expect(headers.get('content-length')).toBeNull()
    expect(headers.get('content-encoding')).toBeNull()
    expect(retryMs).toBeGreaterThan(0)
  })

  test('[W1] there is no gap between the two, however busy the targets', async () => {
    const { url } = await scene.server({ frames_per_second: 100_000, flush_ms: 5 })
    const names = ['bob', 'carol', 'dave']
    const people = await Promise.all(names.map((name) => scene.person(url, name)))
    const opening: Promise<TestStream>[] = []
    for (let round = 0; round < 300; round++) {
      for (const person of people) person.be(round % 2 === 0 ? 'idle' : 'active')
      // An unknown user appears as well.
      if (round === 150) void setText(url, 'erin', 'first')
      if (round % 10 === 5) opening.push(stream(url, `alice-${round}`, [...names, 'erin']))
      // Each round is a turn of its own for the server, which shares this event loop.
      if (round % 3 === 0) await systemClock.nextTurn()
    }
    for (const name of [...names, 'erin']) await setText(url, name, 'the end')
    for (const watcher of await Promise.all(opening)) {
      for (const name of [...names, 'erin']) {
        const last = await watcher.sees(name, ({ custom_status }) => custom_status?.text === 'the end')
        expectGrowing(watcher.sightings(name).map(({ version }) => version))
        const { body } = await call<QueriedPresence>(url, 'GET', `/api/v1/presence/${name}`, { token: 'dev' })
        expect({ ...last, source: body.source }).toEqual(body)
      }
    }
  })
})

describe('access', () => {
  test('[C6] a user token, in the header or in the address', async () => {
    const { url } = await scene.server(securedSettings)
    const token = userToken('alice')
    for (const tokenIn of ['header', 'url'] as const) {
      const opened = await stream(url, 'alice', ['bob'], { token, tokenIn })
      expect(ids(opened.sightings('bob'))).toEqual(['bob'])
    }
  })

  test('[C6] bad, expired and missing tokens and server keys are refused, wherever they are', async () => {
    const { url } = await scene.server(securedSettings)
    const expired = sign({ sub: 'alice', exp: secondsFromNow(-10) })
    const refused = [
      [userToken('alice').slice(0, -3), 'unauthorized'],
      ['dev:alice', 'unauthorized'],
      [expired, 'token_expired'],
      [SERVER_KEY, 'forbidden'],
    ] as const
    for (const [token, code] of refused) {
      expectProblem(await call(url, 'GET', streamPath(['bob']), { token }), code)
      const inUrl = `${streamPath(['bob'])}&token=${encodeURIComponent(token)}`
      expectProblem(await call(url, 'GET', inUrl), code)
    }
    const without = await call(url, 'GET', streamPath(['bob']))
    expectProblem(without, 'unauthorized')
    expect(without.headers.get('www-authenticate')).toBe('Bearer')
    const { body } = await call<{ streams: number }>(url, 'GET', '/api/v1/stats', { token: SERVER_KEY })
    expect(body.streams).toBe(0)
  })

  test('[W1] no targets, too many targets and bad ids are refused', async () => {
    const { url } = await scene.server({ watch_limit: 3 })
    const ask = (path: string) => call(url, 'GET', path, { token: 'dev:alice' })
    expectProblem(await ask('/api/v1/stream'), 'bad_request')
    expectProblem(await ask('/api/v1/stream?user_ids='), 'bad_request')
    expectProblem(await ask('/api/v1/stream?user_ids=a,,b'), 'invalid_id')
    expectProblem(await ask(streamPath(['a b'])), 'invalid_id')
    expectProblem(await ask(streamPath(['x'.repeat(129)])), 'invalid_id')
    expectProblem(await ask(streamPath(['a', 'b', 'c', 'd'])), 'watch_limit')
    expectProblem(await ask(streamPath(Array.from({ length: 1_001 }, (_, n) => `${n}`))), 'too_many_ids')
    // Repeated ids count once.
    await stream(url, 'alice', ['a', 'b', 'c', 'a', 'b', 'c'])
    expect(await gauges(url)).toMatchObject({ streams: 1, watches: 3 })
  })

  test('[W1] to ask only for the head leaves nothing open', async () => {
    const { url } = await scene.server()
    const answer = await call(url, 'HEAD', streamPath(['bob']), { token: 'dev:alice' })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
    await untilGauges(url, { streams: 0, watches: 0, watched_users: 0 })
  })
})

describe('presence of the viewer', () => {
  test('[D8] a stream is no session, whether it opens, stays or ends', async () => {
    const { url } = await scene.server({ offline_delay_ms: 0 })
    const watcher = await scene.person(url, 'watcher')
    await watch(watcher, ['alice', 'marker'])
    const alice = await stream(url, 'alice', ['bob'])
    expect(await gauges(url)).toMatchObject({ streams: 1, connections: 1 })
    const { body } = await call<QueriedPresence>(url, 'GET', '/api/v1/presence/alice', { token: 'dev' })
    expect(body).toMatchObject({ status: 'offline', version: 0, last_seen: null })
    alice.close()
    await untilGauges(url, { streams: 0 })
    await scene.mark(watcher, url)
    expect(watcher.sightings('alice')).toHaveLength(1)
  })

  test('[D8] heartbeats over HTTP beside a stream make the viewer present', async () => {
    const { url } = await scene.server({ offline_delay_ms: 0 })
    await stream(url, 'alice', ['bob'])
    const bob = await stream(url, 'bob', ['alice'])
    const beat = { device_id: 'phone', platform: 'mobile', activity: 'active' }
    await call(url, 'POST', '/api/v1/heartbeat', { token: 'dev:alice', body: beat })
    await bob.sees('alice', isOnline)
    await call(url, 'POST', '/api/v1/leave', { token: 'dev:alice', body: { device_id: 'phone' } })
    await bob.sees('alice', isOffline, 2)
  })
})

function untilGauges(url: string, expected: Partial<Awaited<ReturnType<typeof gauges>>>): Promise<void> {
  return until(WAIT_MS, JSON.stringify(expected), async () => Bun.deepMatch(expected, await gauges(url)))
}
