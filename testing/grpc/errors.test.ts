// What is refused over gRPC, with which status and which code, and that nothing changes by it.
import { describe, expect, test } from 'bun:test'
import { BODY_BYTES_MAX } from '@greendot/protocol'
import { call as callHttp } from '../http/calls.ts'
import { SERVER_KEY, secondsFromNow, securedSettings, sign, userToken } from '../http/tokens.ts'
import { until, WAIT_MS } from '../services/within.ts'
import { connectGrpc, type Json } from './client.ts'
import { refusalOf, useGrpcScene } from './scene.ts'

const scene = useGrpcScene()
const PHONE = { device_id: 'phone', activity: 'ACTIVITY_ACTIVE' }

test('[C5, C6] tokens are checked as over HTTP: signed ones, server keys, and none', async () => {
  const { grpc } = await scene.server(securedSettings)
  const read = (token: string | null) => scene.client(grpc, token).call('GetPresence', { user_ids: ['bob'] })
  expect(await read(userToken('alice'))).toHaveProperty('presences')
  expect(await read(SERVER_KEY)).toHaveProperty('presences')
  const refused = { status: 'UNAUTHENTICATED', reason: 'unauthorized' }
  expect(await refusalOf(read(null))).toMatchObject(refused)
  expect(await refusalOf(read('dev'))).toMatchObject(refused)
  const expired = sign({ sub: 'alice', exp: secondsFromNow(-10) })
  expect(await refusalOf(read(expired))).toMatchObject({ status: 'UNAUTHENTICATED', reason: 'token_expired' })
  const call = scene.client(grpc, null).open('Watch')
  expect(await call.ended).toMatchObject(refused)
  const upload = scene.client(grpc, null).open('RecordHeartbeats')
  expect(await upload.ended).toMatchObject(refused)
})

const INVALID = 'INVALID_ARGUMENT'
const DENIED = 'PERMISSION_DENIED'
const longText = 'x'.repeat(141)
const ids = (count: number) => Array.from({ length: count }, (_, n) => `u${n}`)
const refusals: [
  what: string,
  token: string,
  method: string,
  request: Json,
  status: string,
  reason: string,
][] = [
  ['an invalid id', 'dev:alice', 'GetPresence', { user_ids: ['a b'] }, INVALID, 'invalid_id'],
  ['too many ids', 'dev:alice', 'GetPresence', { user_ids: ids(1_001) }, INVALID, 'too_many_ids'],
  ['a viewer of a user', 'dev:alice', 'GetPresence', { viewer_id: 'bob' }, DENIED, 'forbidden'],
  [
    'a heartbeat without activity',
    'dev:alice',
    'RecordHeartbeat',
    { device_id: 'd' },
    INVALID,
    'bad_request',
  ],
  ['a heartbeat without device', 'dev:alice', 'RecordHeartbeat', { activity: 2 }, INVALID, 'invalid_id'],
  ['an unknown platform', 'dev:alice', 'RecordHeartbeat', { ...PHONE, platform: 99 }, INVALID, 'bad_request'],
  [
    'the heartbeat of another',
    'dev:alice',
    'RecordHeartbeat',
    { ...PHONE, user_id: 'bob' },
    DENIED,
    'forbidden',
  ],
  ['a backend that names no user', 'dev', 'RecordHeartbeat', PHONE, INVALID, 'bad_request'],
  ['no availability', 'dev:alice', 'SetAvailability', {}, INVALID, 'invalid_status'],
  [
    'an expiry in the past',
    'dev:alice',
    'SetAvailability',
    { availability: 3, expires_at: '1' },
    INVALID,
    'invalid_expiry',
  ],
  ['a long text', 'dev:alice', 'SetCustomStatus', { text: longText }, INVALID, 'text_too_long'],
  [
    'the status of another',
    'dev:alice',
    'SetCustomStatus',
    { user_id: 'bob', text: 'x' },
    DENIED,
    'forbidden',
  ],
  ['the goodbye of another', 'dev:alice', 'Leave', { user_id: 'bob', device_id: 'd' }, DENIED, 'forbidden'],
  ['a goodbye of no device', 'dev:alice', 'Leave', {}, INVALID, 'invalid_id'],
]
test('[C5] bad requests are refused with the code that HTTP has', async () => {
  const { grpc, url } = await scene.server()
  for (const [what, token, method, request, status, reason] of refusals) {
    const ended = await refusalOf(scene.client(grpc, token).call(method, request))
    expect([what, ended]).toEqual([what, expect.objectContaining({ status, reason })])
  }
  const { body } = await callHttp<object[]>(url, 'GET', '/api/v1/presence?user_ids=alice,bob', {
    token: 'dev',
  })
  expect(body).toMatchObject([{ version: 0 }, { version: 0 }])
})

test('[C5] subscriptions are refused with the code that streams have', async () => {
  const { grpc } = await scene.server({ watch_limit: 3 })
  const subscribe = (token: string, userIds: string[]) =>
    scene.client(grpc, token).open('SubscribePresence', { user_ids: userIds }).ended
  expect(await subscribe('dev', ['bob'])).toMatchObject({ status: DENIED, reason: 'forbidden' })
  expect(await subscribe('dev:alice', [])).toMatchObject({ status: INVALID, reason: 'bad_request' })
  expect(await subscribe('dev:alice', ['a,b'])).toMatchObject({ status: INVALID, reason: 'invalid_id' })
  expect(await subscribe('dev:alice', ids(4))).toMatchObject({ status: INVALID, reason: 'watch_limit' })
  expect(await subscribe('dev:alice', ids(1_001))).toMatchObject({ status: INVALID, reason: 'too_many_ids' })
})

describe('bytes that are no message', () => {
  /** Field 1, a string of these bytes. */
  const text = (...bytes: number[]) => Uint8Array.from([0x0a, bytes.length, ...bytes])
  const cases: [string, Uint8Array][] = [
    ['noise', Uint8Array.from([0xff, 0xff, 0xff])],
    ['text that ends early', Uint8Array.from([0x0a, 100, 1])],
    ['an id that is not UTF-8', text(0x61, 0xff)],
    ['half of a surrogate pair', text(0xed, 0xa0, 0x80)],
    ['groups within groups', new Uint8Array(200_000).fill(0x0b)],
  ]
  test.each(cases)('[C5] %s is refused as a bad request', async (_, bytes) => {
    const { grpc } = await scene.server({ log_level: 'silent' })
    const alice = scene.client(grpc, 'dev:alice')
    expect(await refusalOf(alice.callRaw('GetPresence', bytes))).toMatchObject({ status: INVALID })
    expect(await alice.call('GetPresence', { user_ids: ['\ufffd'] })).toHaveProperty('presences')
  })

  test('[C5] a message over the limit is refused', async () => {
    const { grpc } = await scene.server()
    const alice = scene.client(grpc, 'dev:alice')
    const refused = await refusalOf(alice.callRaw('GetPresence', new Uint8Array(BODY_BYTES_MAX + 1)))
    expect(refused.status).toBe('RESOURCE_EXHAUSTED')
  })
})

describe('limits', () => {
  test('[C5, R5] reads and writes of a user count together over HTTP and gRPC, and a server key is not counted', async () => {
    const { grpc, url } = await scene.server({
      poll_burst: 2,
      write_burst: 1,
      poll_every_ms: 60_000,
      write_every_ms: 60_000,
    })
    const alice = scene.client(grpc, 'dev:alice')
    const read = () => alice.call('GetPresence', { user_ids: ['bob'] })
    await read()
    await callHttp(url, 'GET', '/api/v1/presence/bob', { token: 'dev:alice' })
    const limited = { status: 'RESOURCE_EXHAUSTED', reason: 'rate_limited', retrySeconds: expect.any(Number) }
    expect(await refusalOf(read())).toMatchObject(limited)
    await alice.call('RecordHeartbeat', PHONE)
    // One that changes nothing is no write.
    await alice.call('RecordHeartbeat', PHONE)
    expect(await refusalOf(alice.call('SetCustomStatus', { text: 'x' }))).toMatchObject(limited)
    const backend = scene.client(grpc, 'dev')
    for (let n = 0; n < 5; n++) await backend.call('GetPresence', { user_ids: ['bob'] })
  })

  test('[C5] the streams of a user are limited, and one that ends makes room', async () => {
    const { grpc, url } = await scene.server({ sessions_per_user: 2 })
    const alice = scene.client(grpc, 'dev:alice')
    const first = alice.open('SubscribePresence', { user_ids: ['bob'] })
    const second = alice.open('Watch', { watch: { user_ids: ['bob'] } })
    await Promise.all([first.next(() => true), second.next(() => true)])
    const overHttp = await fetch(`${url}/api/v1/stream?user_ids=bob&token=dev:alice`)
    expect(await overHttp.json()).toMatchObject({
      code: 'rate_limited',
      detail: 'too many streams; close some',
    })
    first.cancel()
    await until(WAIT_MS, 'the end of the first stream', async () => (await stats(url)).streams === 1)
    const next = alice.open('SubscribePresence', { user_ids: ['bob'] })
    await next.next(() => true)
    next.cancel()
    second.cancel()
  })

  test('[C5] a client that asks too fast is told to slow down', async () => {
    const { grpc } = await scene.server({ frames_per_second: 5 })
    const call = scene.client(grpc, 'dev:alice').open('Watch')
    for (let n = 0; n < 50; n++) call.send({ unwatch: { user_ids: ['bob'] } })
    expect(await call.ended).toMatchObject({ status: 'RESOURCE_EXHAUSTED', reason: 'rate_limited' })
  })

  test('[C5] a client that goes away leaves no stream behind', async () => {
    const { grpc, url } = await scene.server()
    const client = connectGrpc(grpc, 'dev:alice')
    const call = client.open('SubscribePresence', { user_ids: ['bob'] })
    await call.next(() => true)
    expect((await stats(url)).streams).toBe(1)
    client.close()
    call.cancel()
    await until(WAIT_MS, 'the end of the stream', async () => (await stats(url)).streams === 0)
  })
})

const stats = async (url: string) =>
  (await callHttp<{ streams: number }>(url, 'GET', '/api/v1/stats', { token: 'dev' })).body
