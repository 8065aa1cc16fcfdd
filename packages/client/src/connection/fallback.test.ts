// The same client where WebSockets cannot be had, against a real server: what an app sees does not tell
// the two apart.
import { describe, expect, test } from 'bun:test'
import { SignJWT } from 'jose'
import { connect as connectBare } from '../../../../testing/client.ts'
import {
  arrive,
  endScenesAfterEach,
  others,
  serve,
  servers,
  watchOver,
} from '../../../../testing/client-scene.ts'
import { connectWith } from '../connect.ts'
import { ambientRuntime } from '../platform.ts'
import type { ConnectOptions } from '../types.ts'

endScenesAfterEach()

/** Heartbeats after which a test may go on that is about them. */
const BEATS = 9

/** With everything it requests noted, and no pauses between attempts. */
function open(server: { url: string }, options: Partial<ConnectOptions> = {}) {
  const runtime = ambientRuntime()
  const requests: { method: string; path: string; lastEventId: string | undefined }[] = []
  const beatsOver = Promise.withResolvers<void>()
  const beats = () => requests.filter(({ path }) => path === '/api/v1/heartbeat').length
  const dot = connectWith(
    {
      ...runtime,
      random: () => 0,
      fetch(url, init) {
        const headers = init.headers as Record<string, string>
        const path = url.replace(server.url, '')
        requests.push({ method: init.method ?? 'GET', path, lastEventId: headers['last-event-id'] })
        if (beats() > BEATS) beatsOver.resolve()
        return runtime.fetch(url, init)
      },
    },
    { url: server.url, token: 'dev:alice', deviceId: 'laptop', transport: 'http', ...options },
  )
  const streams = () => requests.filter(({ path }) => path.startsWith('/api/v1/stream'))
  return { ...watchOver(dot), requests, streams, hasBeaten: beatsOver.promise }
}

describe('without WebSockets', () => {
  test('[D8] sockets that cannot be opened are given up for requests, and we are here all the same', async () => {
    const server = await serve()
    const bob = await arrive(server, 'bob')
    bob.send({ type: 'watch', user_ids: ['alice'] })
    let dialled = 0
    class BlockedSocket extends WebSocket {
      constructor() {
        super('ws://127.0.0.1:1')
        dialled++
      }
    }
    const { dot, diary } = open(server, {
      transport: 'auto',
      WebSocket: BlockedSocket as unknown as typeof WebSocket,
      platform: 'tablet',
    })
    dot.watch(['bob', 'carol'])
    await diary.until('bob', () => dot.get('bob')?.status === 'online')
    expect(dialled).toBe(3)
    await bob.sees('alice', ({ status, devices }) => status === 'online' && devices[0] === 'tablet')
    await arrive(server, 'carol')
    await diary.until('carol', () => dot.get('carol')?.status === 'online')
    expect(diary.states).toEqual(['live'])
  })

  test('[D1] heartbeats keep us here, and idle is seen', async () => {
    const server = await serve({ heartbeat_interval_ms: 100, heartbeat_ttl_ms: 300, offline_delay_ms: 0 })
    const bob = await arrive(server, 'bob')
    const beating = setInterval(() => bob.send('{"type":"heartbeat","activity":"active"}'), 100)
    bob.send({ type: 'watch', user_ids: ['alice'] })
    await bob.sees('alice', ({ status }) => status === 'offline')
    const { dot, hasBeaten } = open(server)
    await bob.sees('alice', ({ status }) => status === 'online')
    // Three times as long as silence would be taken for gone.
    await hasBeaten
    dot.setActivity('idle')
    await bob.sees('alice', ({ status }) => status === 'away')
    clearInterval(beating)
    expect(bob.sightings('alice').map(({ presence }) => presence.status)).toEqual([
      'offline',
      'online',
      'away',
    ])
  })

  test('[S1, S3] choices are made, and refusals are answers', async () => {
    const { dot, diary } = open(await serve())
    expect(await dot.setAvailability('busy')).toEqual({ ok: true })
    expect(dot.me).toMatchObject({ user_id: 'alice', availability: 'busy' })
    expect(await dot.setCustomStatus({ text: 'hi' })).toEqual({ ok: true })
    expect(dot.me).toMatchObject({ custom_status: { text: 'hi' } })
    expect(await dot.setCustomStatus({ text: 'x'.repeat(141) })).toMatchObject({
      ok: false,
      code: 'text_too_long',
    })
    expect(diary.failures).toEqual([])
  })

  test('[S1] the own view comes with the heartbeats, also when it was changed elsewhere', async () => {
    const server = await serve({ heartbeat_interval_ms: 100 })
    const { dot, diary } = open(server)
    await diary.until('me', () => dot.me?.availability === 'auto')
    const phone = await connectBare(server.url, 'alice', { deviceId: 'phone' })
    others.push(phone)
    phone.send({ type: 'set_availability', status: 'busy' })
    await diary.until('busy', () => dot.me?.availability === 'busy')
    expect(dot.me?.sessions).toHaveLength(2)
  })

  test('[W1] watching more and fewer people loses nobody', async () => {
    const server = await serve()
    const { dot, diary, streams } = open(server)
    const stop = dot.watch('bob')
    await diary.until('bob', () => dot.get('bob') !== undefined)
    dot.watch('carol')
    await diary.until('carol', () => dot.get('carol') !== undefined)
    await arrive(server, 'bob')
    await diary.until('bob', () => dot.get('bob')?.status === 'online')
    stop()
    await arrive(server, 'carol')
    await diary.until('carol', () => dot.get('carol')?.status === 'online')
    expect(diary.people.map(({ user_id, status }) => `${user_id} ${status}`)).toEqual([
      'bob offline',
      'carol offline',
      'bob online',
      'carol online',
    ])
    expect(streams().map(({ path }) => path)).toEqual([
      '/api/v1/stream?user_ids=bob',
      '/api/v1/stream?user_ids=bob,carol',
      '/api/v1/stream?user_ids=carol',
    ])
  })

  test('[W1] ids of any kind and in any number', async () => {
    const ids = Array.from({ length: 700 }, (_, index) =>
      index % 2 ? `u${index}` : `${index}&=#?%/日本語👩‍🚀`,
    )
    const { dot, diary, streams } = open(await serve())
    dot.watch(ids)
    await diary.until('everybody', () => ids.every((id) => dot.get(id) !== undefined))
    expect(streams().length).toBeGreaterThan(1)
    expect(diary.failures).toEqual([])
  })

  test('[W1] past the limit the app is told, and those who were watched are still', async () => {
    const server = await serve({ watch_limit: 2 })
    const { dot, diary } = open(server)
    dot.watch(['a', 'b'])
    await diary.until('b', () => dot.get('b') !== undefined)
    dot.watch(['c'])
    await diary.until('a failure', () => diary.failures.length > 0)
    expect(diary.failures).toMatchObject([{ code: 'watch_limit' }])
    await arrive(server, 'a')
    await diary.until('a', () => dot.get('a')?.status === 'online')
  })

  test('[W9] a new connection goes on from what is known', async () => {
    const first = await serve()
    const { dot, diary, streams } = open(first)
    await arrive(first, 'bob')
    dot.watch(['bob', 'carol'])
    await diary.until('both', () => dot.get('bob')?.status === 'online' && dot.get('carol') !== undefined)
    const version = dot.get('bob')!.version
    await servers.pop()!.stop()
    await diary.until('stale', () => dot.state === 'stale')
    const server = await serve({ port: Number(new URL(first.url).port) })
    await diary.until('live', () => dot.get('carol')?.stale === false, 15_000)
    const resumed = streams().filter(({ lastEventId }) => lastEventId !== undefined)
    expect(resumed.at(-1)?.lastEventId).toBe(`${version.toString(36)}.0`)
    await arrive(server, 'carol')
    await diary.until('carol', () => dot.get('carol')?.status === 'online')
  }, 30_000)

  test('[D2] leaving is seen at once, and coming back too', async () => {
    const server = await serve({ offline_delay_ms: 60_000 })
    const bob = await arrive(server, 'bob')
    bob.send({ type: 'watch', user_ids: ['alice'] })
    const { dot, diary } = open(server)
    await bob.sees('alice', ({ status }) => status === 'online')
    await diary.until('live', () => dot.state === 'live')
    await dot.leave()
    await bob.sees('alice', ({ status, version }) => status === 'offline' && version > 0)
    const since = bob.heard.length
    dot.join()
    await bob.sees('alice', ({ status }) => status === 'online', { since })
    await diary.until('live', () => dot.state === 'live')
  })

  test('[C6] a token that expires is replaced', async () => {
    const secret = 'a secret for this test, long enough'
    const server = await serve({ dev: false, jwt_secret: secret })
    const sign = (name: string, seconds: number) =>
      new SignJWT({ sub: name })
        .setProtectedHeader({ alg: 'HS256' })
        .setExpirationTime(new Date(Date.now() + seconds * 1000))
        .sign(new TextEncoder().encode(secret))
    let tokens = 0
    const renewed = Promise.withResolvers<void>()
    const { dot, diary } = open(server, {
      token() {
        if (++tokens === 2) renewed.resolve()
        return sign('alice', tokens === 1 ? 2 : 3600)
      },
    })
    dot.watch('bob')
    await renewed.promise
    const bob = await connectBare(server.url, 'bob', { token: await sign('bob', 3600) })
    others.push(bob)
    await diary.until('bob', () => dot.get('bob')?.status === 'online')
    expect(diary.states).toEqual(['live'])
  })

  test('[C6] a token that is none is said', async () => {
    const server = await serve({ dev: false, jwt_secret: 'a secret for this test, long enough' })
    const { diary } = open(server, { token: 'nonsense' })
    await diary.until('a failure', () => diary.failures.length > 0)
    expect(diary.failures[0]).toMatchObject({ code: 'unauthorized' })
  })
})
