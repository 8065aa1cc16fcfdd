// How streams end that the server ends, and what a reader gets that is too slow.
import { describe, expect, test } from 'bun:test'
import { createPatientClock } from '../clients/patient-clock.ts'
import { spawnServer } from '../clients/server.ts'
import { call as callHttp } from '../http/calls.ts'
import { secondsFromNow, securedSettings, sign } from '../http/tokens.ts'
import { until, WAIT_MS } from '../services/within.ts'
import { connectGrpc } from './client.ts'
import { useGrpcScene } from './scene.ts'

const scene = useGrpcScene()

describe('a slow reader', () => {
  test('[C5, W6] gets the newest state of every user, and not all that were in between', async () => {
    const users = Array.from({ length: 60 }, (_, n) => `user-${n}`)
    // The client keeps some messages that it does not hand on; the rest must be more than that.
    const ROUNDS = 40
    const { grpc, url } = await scene.server()
    const quick = scene.client(grpc, 'dev:quick').open('SubscribePresence', { user_ids: users })
    const slow = scene.client(grpc, 'dev:slow').open('SubscribePresence', { user_ids: users })
    await Promise.all([quick.next(() => true), slow.next(() => true)])
    slow.pause()
    // Long texts fill what waits for the slow reader.
    const textOf = (round: number) => `${round} ${'🟢'.repeat(130)}`
    const tells = (userId: string, round: number) => (answer: object) =>
      JSON.stringify(answer).includes(`"user_id":"${userId}"`) &&
      JSON.stringify(answer).includes(`"${round} `)
    for (let round = 1; round <= ROUNDS; round++) {
      const body = { text: textOf(round) }
      await Promise.all(
        users.map((user) => callHttp(url, 'PUT', `/api/v1/users/${user}/status`, { token: 'dev', body })),
      )
      await quick.next(tells(users.at(-1)!, round))
    }
    const { body } = await callHttp<{ slow_readers: number }>(url, 'GET', '/api/v1/stats', { token: 'dev' })
    expect(body.slow_readers).toBe(1)
    slow.resume()
    const newest = () => {
      const texts = new Map<string, string>()
      for (const { changes } of slow.heard)
        for (const { user_id, custom_status } of (changes as Changes | undefined)?.changes ?? [])
          texts.set(user_id, custom_status.text)
      return texts
    }
    await slow.next(() => users.every((user) => newest().get(user) === textOf(ROUNDS)))
    expect(slow.heard.length).toBeLessThan(ROUNDS)
    slow.cancel()
    quick.cancel()
  })
})

interface Changes {
  changes: { user_id: string; custom_status: { text: string } }[]
}

describe('the server ends a stream', () => {
  test('[C5, C7] with UNAVAILABLE and a hint when it stops', async () => {
    const server = await spawnServer({ grpc_port: 0, drain_ms: 200 })
    const [alice, backend] = [connectGrpc(server.grpc!, 'dev:alice'), connectGrpc(server.grpc!, 'dev')]
    const subscription = alice.open('SubscribePresence', { user_ids: ['bob'] })
    const watch = alice.open('Watch', { ref: '1', watch: { user_ids: ['bob'] } })
    const upload = backend.open('RecordHeartbeats')
    upload.send({ heartbeats: [{ user_id: 'bob', device_id: 'd', activity: 'ACTIVITY_ACTIVE' }] })
    await Promise.all(
      [subscription, watch].map((call) => call.next((one) => JSON.stringify(one).includes('ONLINE'))),
    )
    server.signal('SIGTERM')
    const going = { status: 'UNAVAILABLE', reason: 'unavailable', retrySeconds: 1 }
    const ends = await Promise.all([subscription.ended, watch.ended, upload.ended])
    for (const end of ends) expect(end).toMatchObject(going)
    expect(ends[0]!.message).toContain('connect again')
    expect(await server.exited).toBe(0)
    for (const client of [alice, backend]) client.close()
    await server.stop()
  })

  test('[C5, C6] with PERMISSION_DENIED and the reason when the app disconnects the user', async () => {
    const { grpc, url } = await scene.server()
    const alice = scene.client(grpc, 'dev:alice')
    const call = alice.open('SubscribePresence', { user_ids: ['bob'] })
    await call.next(() => true)
    const body = { reason: 'signed out', until: '2099-01-01' }
    await callHttp(url, 'POST', '/api/v1/users/alice/disconnect', { token: 'dev', body })
    expect(await call.ended).toMatchObject({ status: 'PERMISSION_DENIED', message: 'signed out' })
    const again = alice.open('SubscribePresence', { user_ids: ['bob'] })
    expect(await again.ended).toMatchObject({ status: 'UNAUTHENTICATED', reason: 'unauthorized' })
  })

  test('[C5, C6] with UNAUTHENTICATED when an upload goes on with a token that is refused', async () => {
    const { grpc, url } = await scene.server({ offline_delay_ms: 0 })
    const upload = scene.client(grpc, 'dev:alice').open('RecordHeartbeats')
    const beat = (device_id: string) =>
      upload.send({ heartbeats: [{ device_id, activity: 'ACTIVITY_ACTIVE' }] })
    const status = async () =>
      (await callHttp<{ status: string }>(url, 'GET', '/api/v1/presence/alice', { token: 'dev' })).body.status
    beat('old')
    await until(WAIT_MS, 'the first heartbeat', async () => (await status()) === 'online')
    const body = { until: '2099-01-01' }
    await callHttp(url, 'POST', '/api/v1/users/alice/disconnect', { token: 'dev', body })
    beat('new')
    expect(await upload.ended).toMatchObject({ status: 'UNAUTHENTICATED', reason: 'unauthorized' })
    expect(await status()).toBe('offline')
  })

  test('[C5, C6] with UNAUTHENTICATED when its token expires', async () => {
    const { grpc } = await scene.server(securedSettings, { clock: createPatientClock() })
    const alice = scene.client(grpc, sign({ sub: 'alice', exp: secondsFromNow(2) }))
    const call = alice.open('SubscribePresence', { user_ids: ['bob'] })
    expect(await call.ended).toMatchObject({ status: 'UNAUTHENTICATED', reason: 'token_expired' })
  })

  test('[C5, X6] with UNAUTHENTICATED when its user is erased', async () => {
    const { grpc, url } = await scene.server()
    const call = scene.client(grpc, 'dev:alice').open('SubscribePresence', { user_ids: ['bob'] })
    await call.next(() => true)
    await callHttp(url, 'DELETE', '/api/v1/users/alice', { token: 'dev' })
    expect(await call.ended).toMatchObject({ status: 'UNAUTHENTICATED', reason: 'unauthorized' })
  })

  test('[C5] with DEADLINE_EXCEEDED when the time of the client is over, and its place is free again', async () => {
    const { grpc, url } = await scene.server({ sessions_per_user: 1 })
    const alice = scene.client(grpc, 'dev:alice')
    const call = alice.open('SubscribePresence', { user_ids: ['bob'] }, { deadline: Date.now() + 300 })
    expect(await call.ended).toMatchObject({ status: 'DEADLINE_EXCEEDED' })
    const streams = async () =>
      (await callHttp<{ streams: number }>(url, 'GET', '/api/v1/stats', { token: 'dev' })).body.streams
    await until(WAIT_MS, 'the end of the stream', async () => (await streams()) === 0)
  })
})
