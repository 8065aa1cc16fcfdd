// The app disconnects a user of one server: every connection ends and says why, tokens from before are refused at every
// door for as long as the app said, and a restart changes nothing of that.
import { describe, expect, test } from 'bun:test'
import { CLOSE, type Presence } from '@greendot/protocol'
import { openClient } from '../clients/client.ts'
import { createPatientClock } from '../clients/patient-clock.ts'
import { SERVER_KEY, secondsFromNow, securedSettings, sign } from '../http/tokens.ts'
import { until, WAIT_MS, within } from '../services/within.ts'
import { call, isOffline, isOnline, useScene, watch } from './scene.ts'
import { openStream } from './stream-client.ts'

const scene = useScene()
const UNTIL = '2099-01-01'

const disconnect = (url: string, userId: string, body: object = {}, key = 'dev') =>
  call<{ code?: string }>(url, key, 'POST', `/api/v1/users/${userId}/disconnect`, body)

const beat = (url: string, token: string, deviceId = 'phone') =>
  call<{ code?: string; detail?: string }>(url, token, 'POST', '/api/v1/heartbeat', {
    device_id: deviceId,
    activity: 'active',
  })

describe('a disconnect', () => {
  test('[C6, D2] ends every session at once, without a delay, and tells each why', async () => {
    const { url } = await scene.server({ offline_delay_ms: 600_000 })
    const alice = await scene.person(url, 'alice')
    await watch(alice, ['bob'])
    const laptop = await scene.person(url, 'bob', { deviceId: 'laptop' })
    const phone = await scene.person(url, 'bob', { deviceId: 'phone' })
    expect((await beat(url, 'dev:bob', 'watch')).status).toBe(200)
    const stream = await openStream(url, 'bob', ['alice'])
    scene.onEnd(stream.close)
    await alice.sees('bob', ({ devices }) => devices.length > 0)
    expect((await disconnect(url, 'bob', { reason: 'signed out everywhere' })).status).toBe(204)
    for (const device of [laptop, phone]) {
      expect(await device.next('error')).toMatchObject({
        code: 'forbidden',
        message: 'signed out everywhere',
      })
      expect((await device.closed).code).toBe(CLOSE.disconnected)
    }
    expect((await within(WAIT_MS, 'the end of the stream', stream.ended)).how).toBe('whole')
    await alice.sees('bob', (seen) => isOffline(seen) && seen.version > 0)
    expect(await beat(url, 'dev:bob', 'watch')).toMatchObject({
      status: 403,
      body: { code: 'forbidden', detail: 'signed out everywhere' },
    })
    // Another device was not there, so it is not meant.
    expect((await beat(url, 'dev:bob', 'new')).status).toBe(200)
  })

  test('[C6, D7] of one device leaves the others', async () => {
    const { url } = await scene.server({ offline_delay_ms: 600_000 })
    const laptop = await scene.person(url, 'bob', { deviceId: 'laptop', platform: 'desktop' })
    const phone = await scene.person(url, 'bob', { deviceId: 'phone', platform: 'mobile' })
    await disconnect(url, 'bob', { device_id: 'phone' })
    expect((await phone.closed).code).toBe(CLOSE.disconnected)
    const { presence } = await laptop.next('self', (frame) => frame.presence.sessions.length === 1)
    expect(presence).toMatchObject({ status: 'online', devices: ['desktop'] })
  })

  test('[C6] without until lets the user come back', async () => {
    const { url } = await scene.server()
    const first = await scene.person(url, 'bob')
    await disconnect(url, 'bob')
    expect((await first.closed).code).toBe(CLOSE.disconnected)
    const again = await scene.person(url, 'bob')
    expect(again.welcome.self).toMatchObject({ status: 'online' })
  })

  test('[C6] is refused where it is malformed, and for user tokens, and changes nothing', async () => {
    const { url } = await scene.server()
    const bob = await scene.person(url, 'bob')
    const cases: [object, string][] = [
      [{ until: 1 }, 'invalid_expiry'],
      [{ until: 'soon' }, 'invalid_expiry'],
      [{ device_id: 'not an id' }, 'invalid_id'],
      [{ reason: 'x'.repeat(141) }, 'text_too_long'],
      [{ reason: 7 }, 'bad_request'],
      [{ untill: UNTIL }, 'bad_request'],
    ]
    for (const [body, code] of cases)
      expect((await disconnect(url, 'bob', body)).body.code).toBe(code as never)
    expect((await disconnect(url, 'bob', {}, 'dev:bob')).status).toBe(403)
    bob.send({ type: 'heartbeat', activity: 'active', ref: 1 })
    await bob.next('ok')
  })

  test('[X6] is in the export of the user, and goes with an erasure', async () => {
    const { url } = await scene.server()
    await disconnect(url, 'bob', { reason: 'fraud', until: UNTIL })
    const exported = () => call<{ disconnects: object[] }>(url, 'dev', 'GET', '/api/v1/users/bob/export')
    expect((await exported()).body.disconnects).toMatchObject([
      { device_id: null, reason: 'fraud', until: Date.parse(UNTIL) },
    ])
    await call(url, 'dev', 'DELETE', '/api/v1/users/bob')
    expect((await exported()).body.disconnects).toEqual([])
  })
})

describe('tokens from before', () => {
  const token = (issuedAt: number | null) =>
    sign({ sub: 'bob', exp: secondsFromNow(3_600), ...(issuedAt === null ? {} : { iat: issuedAt }) })

  async function isWelcome(url: string, bearer: string): Promise<boolean> {
    const client = openClient(url, 'bob', { token: bearer })
    scene.onEnd(client.close)
    const welcome = client.next('welcome').then(
      () => true,
      () => false,
    )
    const refused = client.closed.then(({ code }) => {
      expect(code).toBe(CLOSE.badToken)
      return false
    })
    return Promise.race([welcome, refused])
  }

  test('[C6] are refused by every door until then, and newer ones are not, also after kill -9', async () => {
    const settings = { ...securedSettings, metrics_open: true }
    const first = await scene.process(settings)
    const [old, undated, fresh] = [token(secondsFromNow(-60)), token(null), token(secondsFromNow(60))]
    expect(await isWelcome(first.url, old)).toBe(true)
    expect((await disconnect(first.url, 'bob', { until: UNTIL }, SERVER_KEY)).status).toBe(204)
    await first.kill()
    const second = await scene.process(settings, first.folder)
    for (const bearer of [old, undated]) {
      expect(await isWelcome(second.url, bearer)).toBe(false)
      expect(await beat(second.url, bearer)).toMatchObject({ status: 401, body: { code: 'unauthorized' } })
      const stream = await fetch(`${second.url}/api/v1/stream?user_ids=alice&token=${bearer}`)
      expect(stream.status).toBe(401)
      await stream.body?.cancel()
    }
    expect(await isWelcome(second.url, fresh)).toBe(true)
    expect((await beat(second.url, fresh)).status).toBe(200)
  })

  test('[C6] are accepted again when the time is over', async () => {
    const { url } = await scene.server(securedSettings, createPatientClock())
    const old = token(secondsFromNow(-60))
    await disconnect(url, 'bob', { until: Date.now() + 1_500 }, SERVER_KEY)
    expect((await beat(url, old)).status).toBe(401)
    await until(WAIT_MS, 'the end of the refusal', async () => (await beat(url, old)).status === 200)
  })
})

describe('sessions of foreign gateways', () => {
  test('[C4, C6] end too, and their gateway is told to close them', async () => {
    const { url } = await scene.server({ offline_delay_ms: 600_000 })
    const batch = { gateway_id: 'chat-1', sessions: [{ user_id: 'bob', device_id: 'd', activity: 'active' }] }
    const report = (body: object) =>
      call<{ accepted: number; rejected: object[] }>(url, 'dev', 'POST', '/api/v1/heartbeats', body)
    const status = async () =>
      (await call<Presence>(url, 'dev', 'GET', '/api/v1/presence/bob')).body as Presence
    await report(batch)
    expect(isOnline(await status())).toBe(true)
    await disconnect(url, 'bob', { reason: 'banned' })
    expect(isOffline(await status())).toBe(true)
    const rejected = [{ index: 0, code: 'forbidden', message: 'banned' }]
    expect((await report(batch)).body).toEqual({ accepted: 0, rejected })
    expect(isOffline(await status())).toBe(true)
  })
})
