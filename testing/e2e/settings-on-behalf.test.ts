// The app's backend speaks for its users: availability and custom status by the routes that name the
// user. Watchers and the user's own devices see it as if the user had set it.
import { describe, expect, test } from 'bun:test'
import type { OwnPresence } from '@greendot/protocol'
import { SERVER_KEY, says } from './audience/audience.ts'
import { call, isOffline, isOnline, isStatus, type Person, useScene, watch } from './scene.ts'

const scene = useScene()

const AVAILABILITY = '/api/v1/users/bob/availability'
const STATUS = '/api/v1/users/bob/status'

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
  test('[S1] is set by the backend, seen by watchers, and answered with the own view', async () => {
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
})

describe('custom status', () => {
  test('[S3] is set, seen by watchers, replaced, and cleared by DELETE', async () => {
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
})
