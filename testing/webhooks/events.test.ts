// Webhooks on a lone server with a real receiver: which events come, by filter and in order, and how they are signed.
import { describe, expect, test } from 'bun:test'
import type { Problem, WebhookEvent } from '@greendot/protocol'
import { call, useScene } from '../e2e/scene.ts'
import { until, WAIT_MS } from '../services/within.ts'
import { addHook, editHook, getHook, removeHook, testHook } from './hooks.ts'
import { startReceiver, typesOf } from './receiver.ts'

const scene = useScene()
const QUICK = { offline_delay_ms: 0 }
const choose = (url: string, userId: string, status: string) =>
  call(url, `dev:${userId}`, 'PUT', '/api/v1/presence/availability', { status })
const of = (events: WebhookEvent[], userId: string) => events.filter((event) => event.user_id === userId)
const has = (userId: string, type: string) => (events: WebhookEvent[]) =>
  of(events, userId).some((event) => event.type === type)

describe('events', () => {
  test('[X5] tell what others are shown, in the order of each user, with versions that grow', async () => {
    const { url } = await scene.server(QUICK)
    const receiver = startReceiver(scene.onEnd)
    const { id, secret } = await addHook(url, { url: receiver.url })
    receiver.know(secret)
    const anna = await scene.person(url, 'anna', { platform: 'mobile' })
    await receiver.gets('the arrival', has('anna', 'user.online'))
    const [online] = receiver.events
    expect(online).toMatchObject({
      type: 'user.online',
      user_id: 'anna',
      old_status: 'offline',
      new_status: 'online',
      devices: ['mobile'],
      custom_status: null,
    })
    expect(online!.id).toStartWith('evt_')
    await choose(url, 'anna', 'away')
    await call(url, 'dev:anna', 'PUT', '/api/v1/presence/status', { text: 'lunch', emoji: '🍜' })
    await choose(url, 'anna', 'busy')
    await choose(url, 'anna', 'invisible')
    await scene.person(url, 'anna', { platform: 'web', deviceId: 'second' })
    await choose(url, 'anna', 'online')
    anna.send({ type: 'leave' })
    // The first one went when the user became invisible.
    const gone = (events: WebhookEvent[]) => events.filter(({ type }) => type === 'device.disconnected')
    await receiver.gets('the device that left', (events) => gone(events).length === 2)
    await until(WAIT_MS, 'nothing that waits', async () => (await getHook(url, id)).pending === 0)
    const told = receiver.events
    const steps = told.filter(({ type }) => type === 'status.changed')
    expect(steps.map((event) => [event.old_status, event.new_status, event.custom_status?.text])).toEqual([
      ['offline', 'online', undefined],
      ['online', 'away', undefined],
      ['away', 'away', 'lunch'],
      ['away', 'busy', 'lunch'],
      ['busy', 'offline', 'lunch'],
      ['offline', 'online', 'lunch'],
    ])
    const versions = told.map(({ version }) => version)
    expect(versions).toEqual([...versions].sort((one, other) => one - other))
    const devices = told.flatMap((event) => ('platform' in event ? [`${event.type} ${event.platform}`] : []))
    expect(devices.slice(0, 2)).toEqual(['device.connected mobile', 'device.disconnected mobile'])
    expect(devices.slice(2, 4).sort()).toEqual(['device.connected mobile', 'device.connected web'])
    expect(devices.slice(4)).toEqual(['device.disconnected mobile'])
    expect(receiver.forged()).toBe(0)
    expect(receiver.headers().get('webhook-id')).toStartWith('msg_')
    expect(await getHook(url, id)).toMatchObject({
      pending: 0,
      failed: 0,
      failing_since: null,
      enabled: true,
    })
  })

  test('[X5] come by the events and the filter that were asked for', async () => {
    const { url } = await scene.server(QUICK)
    const contacts = { user_ids: ['bea'] }
    await call(url, 'dev', 'PUT', '/api/v1/users/carl/contacts', contacts)
    const filters = [
      { events: ['user.online'] },
      { filter: { user_ids: ['anna'] } },
      { filter: { contacts_of: 'carl' } },
      { filter: { platforms: ['tablet'] } },
    ] as const
    const receivers = filters.map(() => startReceiver(scene.onEnd))
    for (const [at, wanted] of filters.entries())
      await addHook(url, { url: receivers[at]!.url, ...(wanted as object) })
    await scene.person(url, 'bea', { platform: 'tablet' })
    await scene.person(url, 'anna', { platform: 'web' })
    const [byEvent, byUser, byContact, byPlatform] = receivers
    await byEvent!.gets('both arrivals', (events) => events.length === 2)
    for (const [receiver, userId] of [
      [byUser, 'anna'],
      [byContact, 'bea'],
      [byPlatform, 'bea'],
    ] as const) {
      await receiver!.gets(`the arrival of ${userId}`, has(userId, 'device.connected'))
      expect(typesOf(receiver!.events)).toEqual(['user.online', 'status.changed', 'device.connected'])
      expect(of(receiver!.events, userId)).toHaveLength(3)
    }
    expect(typesOf(byEvent!.events)).toEqual(['user.online', 'user.online'])
  })

  test('[X5] end with the webhook, and begin again with the next one', async () => {
    const { url } = await scene.server(QUICK)
    const [first, second] = [startReceiver(scene.onEnd), startReceiver(scene.onEnd)]
    const { id } = await addHook(url, { url: first.url })
    await scene.person(url, 'anna')
    await first.gets('the arrival', has('anna', 'user.online'))
    await editHook(url, id, { enabled: false })
    await scene.person(url, 'bea')
    expect(await editHook(url, id, { enabled: true })).toMatchObject({ enabled: true, pending: 0 })
    await scene.person(url, 'carl')
    await first.gets('the next arrival', has('carl', 'user.online'))
    expect((await removeHook(url, id)).status).toBe(204)
    expect((await removeHook(url, id)).status).toBe(404)
    await scene.person(url, 'dora')
    await addHook(url, { url: second.url })
    await scene.person(url, 'emil')
    await second.gets('the arrival after that', has('emil', 'user.online'))
    expect([...of(first.events, 'bea'), ...of(first.events, 'dora'), ...of(second.events, 'dora')]).toEqual(
      [],
    )
  })
})

describe('signatures', () => {
  test('[X5] [C6] the secret is shown once, and both are good while it is replaced', async () => {
    const { url } = await scene.server(QUICK)
    const receiver = startReceiver(scene.onEnd)
    const secret = `whsec_${Buffer.from('a secret of thirty-two bytes, ok').toString('base64')}`
    const added = await addHook(url, { url: receiver.url, secret })
    expect(added.secret).toBe(secret)
    expect(JSON.stringify(await getHook(url, added.id))).not.toContain('whsec_')
    receiver.know(secret)
    expect(await testHook(url, added.id)).toEqual({ delivered: true, status: 204, because: null })
    const rotated = await editHook(url, added.id, { rotate_secret: true })
    expect(rotated.secret).toStartWith('whsec_')
    expect(rotated.secret).not.toBe(secret)
    expect(rotated.old_secret_until).toBeGreaterThan(Date.now())
    for (const known of [secret, rotated.secret!]) {
      receiver.know(known)
      expect((await testHook(url, added.id)).delivered).toBe(true)
    }
    receiver.know(`whsec_${Buffer.from('another secret of thirty-two byt').toString('base64')}`)
    expect(await testHook(url, added.id)).toEqual({
      delivered: false,
      status: 401,
      because: 'the endpoint answered 401',
    })
    expect(JSON.stringify(await getHook(url, added.id))).not.toContain('whsec_')
  })
})

describe('requests about webhooks', () => {
  const ask = (url: string, method: string, path: string, body?: object) =>
    call<Problem>(url, 'dev', method, `/api/v1/webhooks${path}`, body)
  const good = { url: 'https://example.com/hook', events: ['user.online'] }

  test.each([
    ['a URL without a scheme', { ...good, url: 'example.com' }, 'url is not a URL'],
    ['another scheme', { ...good, url: 'ftp://example.com/' }, 'https://'],
    ['a password in the URL', { ...good, url: 'https://me:pw@example.com/' }, 'password'],
    ['a fragment', { ...good, url: 'https://example.com/#part' }, 'fragment'],
    ['a long URL', { ...good, url: `https://example.com/${'x'.repeat(2048)}` }, '2048'],
    ['a number for a URL', { ...good, url: 7 }, 'url'],
    ['no events', { ...good, events: [] }, 'events'],
    ['an unknown event', { ...good, events: ['user.onlin'] }, 'events'],
    ['an event twice', { ...good, events: ['user.online', 'user.online'] }, 'each once'],
    ['a short secret', { ...good, secret: 'hunter2' }, 'whsec_'],
    ['a wrong id', { ...good, filter: { user_ids: ['a b'] } }, 'an id is'],
    ['an unknown platform', { ...good, filter: { platforms: ['fridge'] } }, 'platforms'],
    ['an unknown field of the filter', { ...good, filter: { viewer: 'anna' } }, 'viewer_id'],
    ['a list for a filter', { ...good, filter: [] }, 'filter'],
    ['an unknown field', { ...good, filters: {} }, 'filter'],
    ['a missing field', { url: good.url }, 'events'],
  ])('[X5] with %s are refused and add nothing', async (_, body, sentence) => {
    const { url } = await scene.server()
    const answer = await ask(url, 'POST', '', body)
    expect(answer.status).toBe(400)
    expect(answer.body.detail).toContain(sentence)
    expect((await ask(url, 'GET', '')).body).toEqual({ webhooks: [] } as never)
  })

  test('[X5] a webhook that does not exist, an edit of two kinds, and too many', async () => {
    const { url } = await scene.server()
    for (const [method, path] of [
      ['GET', '/wh_none'],
      ['PATCH', '/wh_none'],
      ['DELETE', '/wh_none'],
      ['POST', '/wh_none/test'],
      ['GET', '/wh_none/failures'],
      ['POST', '/wh_none/replay'],
    ] as const)
      expect((await ask(url, method, path, method === 'PATCH' ? {} : undefined)).body.code).toBe('not_found')
    const { id } = await addHook(url, { url: good.url })
    const secret = `whsec_${'A'.repeat(40)}`
    expect((await ask(url, 'PATCH', `/${id}`, { secret, rotate_secret: true })).body.code).toBe('bad_request')
    expect((await ask(url, 'GET', `/${id}/failures?after=x`)).body.code).toBe('bad_request')
    expect((await ask(url, 'GET', `/${id}/failures?limit=0`)).body.code).toBe('bad_request')
    for (let count = 1; count < 100; count++) await addHook(url, { url: good.url })
    expect((await ask(url, 'POST', '', good)).body.detail).toContain('100 webhooks')
  })

  test('[X5] [C6] outside dev mode only public addresses over https can be named', async () => {
    const { url } = await scene.server({ webhook_private_addresses: false })
    for (const bad of [
      'http://example.com/',
      'https://127.0.0.1/',
      'https://[::1]/',
      'https://localhost/',
      'https://10.1.2.3/',
      'https://2130706433/',
      'https://0x7f.1/',
      'https://metadata.google.internal/',
    ])
      expect((await ask(url, 'POST', '', { ...good, url: bad })).status).toBe(400)
    const { id } = await addHook(url, { url: 'https://example.com/' })
    expect((await ask(url, 'PATCH', `/${id}`, { url: 'https://192.168.0.1/' })).status).toBe(400)
  })
})
