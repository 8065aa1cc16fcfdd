// Every call of the service by a client that is generated from the .proto, against a real server.
import { describe, expect, test } from 'bun:test'
import { call as callHttp } from '../http/calls.ts'
import { useGrpcScene } from './scene.ts'

const scene = useGrpcScene()
const PHONE = { device_id: 'phone', platform: 'PLATFORM_MOBILE', activity: 'ACTIVITY_ACTIVE' }

describe('sessions', () => {
  test('[C5, D6] a heartbeat makes its user present, and a goodbye ends that', async () => {
    const { grpc } = await scene.server()
    const alice = scene.client(grpc, 'dev:alice')
    const bob = scene.client(grpc, 'dev:bob')
    const answer = await alice.call('RecordHeartbeat', PHONE)
    expect(answer).toMatchObject({
      user_id: 'alice',
      heartbeat_interval_ms: '15000',
      self: {
        presence: { status: 'STATUS_ONLINE', devices: ['PLATFORM_MOBILE'] },
        sessions: [{ device_id: 'phone' }],
      },
    })
    const { presences } = await bob.call('GetPresence', { user_ids: ['alice', 'unknown'] })
    expect(presences).toMatchObject([
      { user_id: 'alice', status: 'STATUS_ONLINE', source: 'SOURCE_LIVE' },
      { user_id: 'unknown', status: 'STATUS_OFFLINE', source: 'SOURCE_DB' },
    ])
    // The second changes nothing, so there is no own view to tell.
    expect(await alice.call('RecordHeartbeat', PHONE)).not.toHaveProperty('self')
    expect(await alice.call('Leave', { device_id: 'phone' })).toEqual({})
    expect(await bob.call('GetPresence', { user_ids: ['alice'] })).toMatchObject({
      presences: [{ status: 'STATUS_OFFLINE', last_seen: expect.any(String) }],
    })
  })

  test('[C4, C5] a backend records heartbeats of its users in batches, and is told which were refused', async () => {
    const { grpc } = await scene.server()
    const backend = scene.client(grpc, 'dev')
    const upload = backend.open('RecordHeartbeats')
    upload.send({
      heartbeats: [
        { user_id: 'alice', ...PHONE },
        { user_id: 'not an id', ...PHONE },
      ],
    })
    upload.send({ heartbeats: [PHONE, { user_id: 'bob', device_id: 'd', activity: 'ACTIVITY_IDLE' }] })
    upload.send({ heartbeats: [{ user_id: 'carol', device_id: 'd' }] })
    upload.finish()
    expect(await upload.ended).toMatchObject({ status: 'OK' })
    expect(upload.heard[0]).toMatchObject({
      accepted: '2',
      rejected: '3',
      rejections: [
        { index: '1', code: 'invalid_id' },
        { index: '2', code: 'bad_request' },
        { index: '4', code: 'bad_request' },
      ],
    })
    expect(await backend.call('GetPresence', { user_ids: ['alice', 'bob', 'carol'] })).toMatchObject({
      presences: [{ status: 'STATUS_ONLINE' }, { status: 'STATUS_AWAY' }, { status: 'STATUS_OFFLINE' }],
    })
    await backend.call('Leave', { user_id: 'bob', device_id: 'd' })
    expect(await backend.call('GetPresence', { user_ids: ['bob'] })).toMatchObject({
      presences: [{ status: 'STATUS_OFFLINE' }],
    })
  })
})

describe('a foreign gateway', () => {
  test('[C4, C5] reports its sessions and those that are over in one stream, and is told which were refused', async () => {
    const { grpc } = await scene.server({ offline_delay_ms: 0 })
    const backend = scene.client(grpc, 'dev')
    const upload = backend.open('RecordHeartbeats')
    const named = (user_id: string, rest: object = {}) => ({ user_id, ...PHONE, ...rest })
    upload.send({ gateway_id: 'chat-1', heartbeats: [named('alice'), named('not an id'), named('bob')] })
    upload.send({
      gateway_id: 'chat-1',
      heartbeats: [named('carol', { activity: 'ACTIVITY_IDLE', at: Date.now() }), named('dave', { at: 1 })],
      disconnected: [{ user_id: 'bob', device_id: 'phone' }, { user_id: 'bob' }],
    })
    upload.finish()
    expect(await upload.ended).toMatchObject({ status: 'OK' })
    expect(upload.heard[0]).toMatchObject({
      accepted: '4',
      rejected: '3',
      rejections: [
        { index: '1', code: 'invalid_id' },
        { index: '4', code: 'bad_request' },
        { index: '6', code: 'invalid_id' },
      ],
    })
    expect(await backend.call('GetPresence', { user_ids: ['alice', 'carol', 'bob'] })).toMatchObject({
      presences: [{ status: 'STATUS_ONLINE' }, { status: 'STATUS_AWAY' }, { status: 'STATUS_OFFLINE' }],
    })
  })

  test('[C4, C6] needs a server key, and a name to end sessions', async () => {
    const { grpc } = await scene.server()
    const user = scene.client(grpc, 'dev:alice').open('RecordHeartbeats')
    user.send({ gateway_id: 'chat-1', heartbeats: [PHONE] })
    expect(await user.ended).toMatchObject({ status: 'PERMISSION_DENIED', reason: 'forbidden' })
    const nameless = scene.client(grpc, 'dev').open('RecordHeartbeats')
    nameless.send({ disconnected: [{ user_id: 'bob', device_id: 'phone' }] })
    expect(await nameless.ended).toMatchObject({ status: 'INVALID_ARGUMENT', reason: 'bad_request' })
  })
})

describe('settings', () => {
  test('[C5, S2] an availability and a custom status are set, for oneself and by the backend', async () => {
    const { grpc, url } = await scene.server()
    const alice = scene.client(grpc, 'dev:alice')
    const backend = scene.client(grpc, 'dev')
    await alice.call('RecordHeartbeat', PHONE)
    expect(await alice.call('SetAvailability', { availability: 'AVAILABILITY_BUSY' })).toMatchObject({
      self: { availability: 'AVAILABILITY_BUSY', presence: { status: 'STATUS_BUSY' } },
    })
    const status = { text: 'In a meeting', emoji: '📅', expires_at: '4102416000000' }
    expect(await backend.call('SetCustomStatus', { user_id: 'alice', ...status })).toMatchObject({
      self: { presence: { custom_status: status } },
    })
    const overHttp = await callHttp<object>(url, 'GET', '/api/v1/presence/alice', { token: 'dev' })
    expect(overHttp.body).toMatchObject({
      status: 'busy',
      custom_status: { text: 'In a meeting', emoji: '📅', expires_at: 4102416000000 },
    })
    const cleared = await alice.call('SetCustomStatus', {})
    expect(cleared).not.toHaveProperty('self.presence.custom_status')
    await alice.call('SetAvailability', { availability: 'AVAILABILITY_INVISIBLE' })
    const bob = scene.client(grpc, 'dev:bob')
    expect(await bob.call('GetPresence', { user_ids: ['alice'] })).toMatchObject({
      presences: [{ status: 'STATUS_OFFLINE' }],
    })
  })

  test('[C5, S6] a backend sees every user, and on behalf of a viewer what that viewer sees', async () => {
    const { grpc, url } = await scene.server()
    const backend = scene.client(grpc, 'dev')
    await callHttp(url, 'PUT', '/api/v1/users/alice/settings', {
      token: 'dev',
      body: { status_visibility: 'nobody' },
    })
    await backend.call('RecordHeartbeat', { user_id: 'alice', ...PHONE })
    const read = async (request: object) =>
      (await backend.call('GetPresence', { user_ids: ['alice'], ...request })).presences
    expect(await read({})).toMatchObject([{ status: 'STATUS_ONLINE' }])
    expect(await read({ viewer_id: 'bob' })).toEqual([
      { user_id: 'alice', status: 'STATUS_OFFLINE', source: 'SOURCE_DB' },
    ])
  })
})

describe('watching', () => {
  test('[C5, W1] a subscription tells a snapshot and then changes', async () => {
    const { grpc } = await scene.server()
    const bob = scene.client(grpc, 'dev:bob')
    const alice = scene.client(grpc, 'dev:alice')
    const call = bob.open('SubscribePresence', { user_ids: ['alice', 'carol'] })
    expect(await call.next(() => true)).toEqual({
      snapshot: {
        states: [
          { user_id: 'alice', status: 'STATUS_OFFLINE' },
          { user_id: 'carol', status: 'STATUS_OFFLINE' },
        ],
        complete: true,
      },
    })
    await alice.call('RecordHeartbeat', PHONE)
    const online = await call.next(({ changes }) => JSON.stringify(changes ?? '').includes('STATUS_ONLINE'))
    expect(online).toMatchObject({
      changes: { changes: [{ user_id: 'alice', devices: ['PLATFORM_MOBILE'] }] },
    })
    call.cancel()
    expect(await call.ended).toMatchObject({ status: 'CANCELLED' })
  })

  test('[C5] known versions are left out of the snapshot', async () => {
    const { grpc } = await scene.server()
    const backend = scene.client(grpc, 'dev')
    await backend.call('RecordHeartbeat', { user_id: 'alice', ...PHONE })
    const { presences } = await backend.call('GetPresence', { user_ids: ['alice'] })
    const [{ version }] = presences as [{ version: string }]
    const call = scene.client(grpc, 'dev:bob').open('SubscribePresence', {
      user_ids: ['alice', 'carol'],
      known: { alice: version, carol: '0' },
    })
    expect(await call.next(() => true)).toEqual({ snapshot: { complete: true } })
    call.cancel()
  })

  test('[C5] the list of a watch changes in flight, contacts included, and a refusal does not end it', async () => {
    const { grpc, url } = await scene.server({ watch_limit: 2 })
    const backend = scene.client(grpc, 'dev')
    const contacts = (method: 'POST' | 'DELETE', userIds: string[]) =>
      callHttp(url, method, '/api/v1/users/bob/contacts', { token: 'dev', body: { user_ids: userIds } })
    await contacts('POST', ['carol'])
    const call = scene.client(grpc, 'dev:bob').open('Watch')
    const done = (ref: string) =>
      call.next((answer) => JSON.stringify(answer) === `{"done":{"ref":"${ref}"}}`)
    const told = (text: string) => call.next((answer) => JSON.stringify(answer).includes(text))
    call.send({ ref: '1', watch: { user_ids: ['alice'] } })
    await done('1')
    call.send({ ref: '2', watch_contacts: {} })
    await done('2')
    expect(JSON.stringify(call.heard)).toContain('"user_id":"carol"')
    call.send({ ref: '3', watch: { user_ids: ['dave'] } })
    expect(await told('"ref":"3"')).toMatchObject({ refused: { code: 'watch_limit' } })
    call.send({ ref: '4' })
    expect(await told('"ref":"4"')).toMatchObject({ refused: { code: 'unknown_type' } })
    call.send({ ref: '5', unwatch: { user_ids: ['alice'] } })
    await done('5')
    call.send({ ref: '6', watch: { user_ids: ['dave'] } })
    await done('6')
    for (const user_id of ['alice', 'dave']) await backend.call('RecordHeartbeat', { user_id, ...PHONE })
    expect(await told('"user_id":"dave","status":"STATUS_ONLINE"')).toHaveProperty('changes')
    expect(JSON.stringify(call.heard)).not.toContain('"user_id":"alice","status":"STATUS_ONLINE"')
    await contacts('DELETE', ['carol'])
    expect(await told('contacts_removed')).toEqual({ contacts_removed: { user_ids: ['carol'] } })
    call.finish()
    expect(await call.ended).toMatchObject({ status: 'OK' })
  })
})
