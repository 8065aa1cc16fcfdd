// The public API over HTTP, against a real server: an app sees the same as over a WebSocket.

import { describe, expect, test } from 'bun:test'
import { SignJWT } from 'jose'
import { connect as connectBare } from '../../../../testing/clients/client.ts'
import {
  arrive,
  endScenesAfterEach,
  others,
  serve,
  servers,
  withEventLog,
} from '../../../../testing/clients/client-scene.ts'
import { createPatientClock } from '../../../../testing/clients/patient-clock.ts'
import { freePort } from '../../../../testing/services/ports.ts'
import { connectWith } from '../connect.ts'
import { ambientRuntime } from '../platform.ts'
import type { ConnectOptions } from '../types.ts'

endScenesAfterEach()

/** One every 100 ms: together longer than the TTL of 2 s. */
const BEATS = 25

/** Records every request, and does not pause between attempts. */
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
  return { ...withEventLog(dot), requests, streams, hasBeaten: beatsOver.promise }
}

describe('without WebSockets', () => {
  test('[D8] after three sockets that cannot be opened, HTTP is used', async () => {
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
    const { dot, log } = open(server, {
      transport: 'auto',
      WebSocket: BlockedSocket as unknown as typeof WebSocket,
      platform: 'tablet',
    })
    dot.watch(['bob', 'carol'])
    await log.until('bob', () => dot.get('bob')?.status === 'online')
    expect(dialled).toBe(3)
    await bob.sees('alice', ({ status, devices }) => status === 'online' && devices[0] === 'tablet')
    await arrive(server, 'carol')
    await log.until('carol', () => dot.get('carol')?.status === 'online')
    expect(log.states).toEqual(['live'])
  })

  test('[D1] heartbeats keep the user online past the TTL, and idle is visible', async () => {
    const settings = { heartbeat_interval_ms: 100, heartbeat_ttl_ms: 2_000, offline_delay_ms: 0 }
    const server = await serve(settings, createPatientClock())
    const bob = await arrive(server, 'bob')
    const beating = setInterval(() => bob.send('{"type":"heartbeat","activity":"active"}'), 100)
    bob.send({ type: 'watch', user_ids: ['alice'] })
    await bob.sees('alice', ({ status }) => status === 'offline')
    const { dot, hasBeaten } = open(server)
    await bob.sees('alice', ({ status }) => status === 'online')

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

  test('[S1, S3] requests are answered, and refusals have a code', async () => {
    const { dot, log } = open(await serve())
    expect(await dot.setAvailability('busy')).toEqual({ ok: true })
    expect(dot.me).toMatchObject({ user_id: 'alice', availability: 'busy' })
    expect(await dot.setCustomStatus({ text: 'hi' })).toEqual({ ok: true })
    expect(dot.me).toMatchObject({ custom_status: { text: 'hi' } })
    expect(await dot.setCustomStatus({ text: 'x'.repeat(141) })).toMatchObject({
      ok: false,
      code: 'text_too_long',
    })
    expect(log.failures).toEqual([])
  })

  test('[S1] the own view comes with heartbeats, changes by other devices included', async () => {
    const server = await serve({ heartbeat_interval_ms: 100 })
    const { dot, log } = open(server)
    await log.until('me', () => dot.me?.availability === 'auto')
    const phone = await connectBare(server.url, 'alice', { deviceId: 'phone' })
    others.push(phone)
    phone.send({ type: 'set_availability', status: 'busy' })
    await log.until('busy', () => dot.me?.availability === 'busy')
    expect(dot.me?.sessions).toHaveLength(2)
  })

  test('[W1] watching more and fewer users misses no change', async () => {
    const server = await serve()
    const { dot, log, streams } = open(server)
    const stop = dot.watch('bob')
    await log.until('bob', () => dot.get('bob') !== undefined)
    dot.watch('carol')
    await log.until('carol', () => dot.get('carol') !== undefined)
    await arrive(server, 'bob')
    await log.until('bob', () => dot.get('bob')?.status === 'online')
    stop()
    await arrive(server, 'carol')
    await log.until('carol', () => dot.get('carol')?.status === 'online')
    expect(log.people.map(({ user_id, status }) => `${user_id} ${status}`)).toEqual([
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

  test('[W1] ids with any characters and in any number are watched', async () => {
    const ids = Array.from({ length: 700 }, (_, index) =>
      index % 2 ? `u${index}` : `${index}&=#?%/日本語👩‍🚀`,
    )
    const { dot, log, streams } = open(await serve())
    dot.watch(ids)
    await log.until('all', () => ids.every((id) => dot.get(id) !== undefined))
    expect(streams().length).toBeGreaterThan(1)
    expect(log.failures).toEqual([])
  })

  test('[W1] over the watch limit there is an error, and the others stay watched', async () => {
    const server = await serve({ watch_limit: 2 })
    const { dot, log } = open(server)
    dot.watch(['a', 'b'])
    await log.until('b', () => dot.get('b') !== undefined)
    dot.watch(['c'])
    await log.until('a failure', () => log.failures.length > 0)
    expect(log.failures).toMatchObject([{ code: 'watch_limit' }])
    await arrive(server, 'a')
    await log.until('a', () => dot.get('a')?.status === 'online')
  })

  test('[W9] a new stream resumes from the known versions', async () => {
    const port = await freePort()
    const first = await serve({ port })
    const { dot, log, streams } = open(first)
    await arrive(first, 'bob')
    dot.watch(['bob', 'carol'])
    await log.until('both', () => dot.get('bob')?.status === 'online' && dot.get('carol') !== undefined)
    const version = dot.get('bob')!.version
    await servers.pop()!.stop()
    await log.until('stale', () => dot.state === 'stale')
    const server = await serve({ port })
    await log.until('live', () => dot.get('carol')?.stale === false)
    const resumed = streams().filter(({ lastEventId }) => lastEventId !== undefined)
    expect(resumed.at(-1)?.lastEventId).toBe(`${version.toString(36)}.0`)
    await arrive(server, 'carol')
    await log.until('carol', () => dot.get('carol')?.status === 'online')
  })

  test('[D2] leave and join are visible at once', async () => {
    const server = await serve({ offline_delay_ms: 60_000 })
    const bob = await arrive(server, 'bob')
    bob.send({ type: 'watch', user_ids: ['alice'] })
    const { dot, log } = open(server)
    await bob.sees('alice', ({ status }) => status === 'online')
    await log.until('live', () => dot.state === 'live')
    await dot.leave()
    await bob.sees('alice', ({ status, version }) => status === 'offline' && version > 0)
    const since = bob.heard.length
    dot.join()
    await bob.sees('alice', ({ status }) => status === 'online', { since })
    await log.until('live', () => dot.state === 'live')
  })

  test('[C6] an expired token is replaced', async () => {
    const secret = 'a secret for this test, long enough'
    const server = await serve({ dev: false, jwt_secret: secret })
    const sign = (name: string, seconds: number) =>
      new SignJWT({ sub: name })
        .setProtectedHeader({ alg: 'HS256' })
        .setExpirationTime(new Date(Date.now() + seconds * 1000))
        .sign(new TextEncoder().encode(secret))
    let tokens = 0
    const renewed = Promise.withResolvers<void>()
    const { dot, log } = open(server, {
      token() {
        if (++tokens === 2) renewed.resolve()
        return sign('alice', tokens === 1 ? 2 : 3600)
      },
    })
    dot.watch('bob')
    await renewed.promise
    const bob = await connectBare(server.url, 'bob', { token: await sign('bob', 3600) })
    others.push(bob)
    await log.until('bob', () => dot.get('bob')?.status === 'online')
  })

  test('[C6] an invalid token is an error', async () => {
    const server = await serve({ dev: false, jwt_secret: 'a secret for this test, long enough' })
    const { log } = open(server, { token: 'nonsense' })
    await log.until('a failure', () => log.failures.length > 0)
    expect(log.failures[0]).toMatchObject({ code: 'unauthorized' })
  })
})
