// The app's backend speaks for its users: availability and custom status by the routes that name the
// user. Everybody sees it, the user's own devices included, exactly as if they had said it themselves.
import { describe, expect, test } from 'bun:test'
import type { OwnPresence } from '@greendot/protocol'
import { SERVER_KEY, says } from './audience.ts'
import { call, isOffline, isOnline, isStatus, type Person, useScene, watch } from './scene.ts'

const scene = useScene()

const AVAILABILITY = '/api/v1/users/bob/availability'
const STATUS = '/api/v1/users/bob/status'
/** Long enough to be seen before it ends, on a busy machine too. */
const SOON_MS = 1_000

async function aliceAndBob(url: string) {
  const alice = await scene.person(url, 'alice')
  await watch(alice, ['bob', 'marker'])
  const bob = await scene.person(url, 'bob', { deviceId: 'laptop', platform: 'web' })
  await alice.sees('bob', isOnline)
  return { alice, bob }
}

const put = (url: string, path: string, body: object) => call<OwnPresence>(url, SERVER_KEY, 'PUT', path, body)

const nextSelf = async (person: Person, accept: (own: OwnPresence) => boolean) =>
  (await person.next('self', ({ presence }) => accept(presence))).presence

describe('availability', () => {
  test('[S1] is chosen for somebody, seen by all, and answered with their own view', async () => {
    const { url } = await scene.server()
    const { alice, bob } = await aliceAndBob(url)
    const answer = await put(url, AVAILABILITY, { status: 'busy' })
    expect(answer).toMatchObject({
      status: 200,
      body: { user_id: 'bob', status: 'busy', availability: 'busy' },
    })
    await alice.sees('bob', isStatus('busy'))
    expect(await nextSelf(bob, (own) => own.availability === 'busy')).toEqual(answer.body)

    const { body } = await put(url, AVAILABILITY, { status: 'invisible' })
    expect(body).toMatchObject({ status: 'online', availability: 'invisible' })
    await alice.sees('bob', isOffline, { since: 2 })
    const since = alice.heard.length
    await put(url, AVAILABILITY, { status: 'online' })
    await alice.sees('bob', isOnline, { since })
    expect((await nextSelf(bob, (own) => own.availability === 'auto')).status).toBe('online')
  })

  test('[S1] expires by itself', async () => {
    const { url } = await scene.server()
    const { alice } = await aliceAndBob(url)
    const expiresAt = Date.now() + SOON_MS
    const { body } = await put(url, AVAILABILITY, {
      status: 'away',
      expires_at: new Date(expiresAt).toISOString(),
    })
    expect(body).toMatchObject({ availability: 'away', availability_expires_at: expiresAt })
    await alice.sees('bob', isStatus('away'))
    const { at } = await alice.sees('bob', isOnline, { since: alice.heard.length })
    expect(at).toBeGreaterThanOrEqual(expiresAt)
  })

  test('[S1] the later word holds, whoever said it', async () => {
    const { url } = await scene.server()
    await aliceAndBob(url)
    const own = (status: string) =>
      call<OwnPresence>(url, 'dev:bob', 'PUT', '/api/v1/presence/availability', { status })
    for (let round = 0; round < 10; round++) {
      await put(url, AVAILABILITY, { status: 'busy' })
      expect((await own('away')).body.availability).toBe('away')
      expect((await put(url, AVAILABILITY, { status: 'busy' })).body.availability).toBe('busy')
    }
  })
})

describe('custom status', () => {
  test('[S3] is set, seen by all, replaced, and cleared by DELETE', async () => {
    const { url } = await scene.server()
    const { alice, bob } = await aliceAndBob(url)
    const set = await put(url, STATUS, { text: 'On a call', emoji: '📞' })
    const custom = { text: 'On a call', emoji: '📞', expires_at: null }
    expect(set).toMatchObject({ status: 200, body: { custom_status: custom } })
    expect((await alice.sees('bob', says('On a call'))).presence.custom_status).toEqual(custom)
    expect(await nextSelf(bob, (own) => own.custom_status !== null)).toEqual(set.body)
    await put(url, STATUS, { text: 'Lunch' })
    await alice.sees('bob', says('Lunch'))
    const since = alice.heard.length
    const cleared = await call<OwnPresence>(url, SERVER_KEY, 'DELETE', STATUS)
    expect(cleared).toMatchObject({ status: 200, body: { custom_status: null } })
    await alice.sees('bob', says(null), { since })
  })

  test('[S3] expires by itself, also of somebody who never came', async () => {
    const { url } = await scene.server()
    const alice = await scene.person(url, 'alice')
    await watch(alice, ['bob'])
    const expiresAt = Date.now() + SOON_MS
    await put(url, STATUS, { text: 'Back on Monday', expires_at: expiresAt })
    const { presence } = await alice.sees('bob', says('Back on Monday'))
    expect(presence).toMatchObject({ status: 'offline', devices: [], last_seen: null })
    const { at } = await alice.sees('bob', says(null), { since: alice.heard.length })
    expect(at).toBeGreaterThanOrEqual(expiresAt)
  })
})

describe('refusals', () => {
  const BAD: readonly [string, object, string][] = [
    [AVAILABILITY, { status: 'asleep' }, 'invalid_status'],
    [AVAILABILITY, { status: 'auto' }, 'invalid_status'],
    [AVAILABILITY, {}, 'invalid_status'],
    [AVAILABILITY, { status: 'busy', expires_at: 1 }, 'invalid_expiry'],
    [AVAILABILITY, { status: 'busy', expires_at: 'soon' }, 'invalid_expiry'],
    [STATUS, { text: 'x'.repeat(141) }, 'text_too_long'],
    [STATUS, { emoji: 'é'.repeat(17) }, 'text_too_long'],
    [STATUS, { text: 7 }, 'bad_request'],
    [STATUS, { text: 'x', expires_at: 1 }, 'invalid_expiry'],
    [AVAILABILITY.replace('bob', 'no%20spaces'), { status: 'busy' }, 'invalid_id'],
    [STATUS.replace('bob', 'no%20spaces'), { text: 'x' }, 'invalid_id'],
  ]

  test('[S1][S3] bad values and user tokens change nothing', async () => {
    const { url } = await scene.server()
    const { alice } = await aliceAndBob(url)
    const since = alice.heard.length
    for (const [path, body, code] of BAD) {
      expect(await put(url, path, body)).toMatchObject({ status: 400, body: { code } })
    }
    for (const token of ['dev:bob', 'dev:alice']) {
      const answers = await Promise.all([
        call(url, token, 'PUT', AVAILABILITY, { status: 'busy' }),
        call(url, token, 'PUT', STATUS, { text: 'x' }),
        call(url, token, 'DELETE', STATUS),
      ])
      for (const answer of answers) expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden' } })
    }
    await scene.mark(alice, url)
    expect(alice.sightings('bob', since)).toEqual([])
  })
})
