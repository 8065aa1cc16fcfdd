// What users say about themselves: availability, invisibility, custom status. Others see exactly
// what the rules allow on every way to look, expiries happen by themselves, and choices outlive
// the process.
import { describe, expect, test } from 'bun:test'
import type { OwnPresence, Presence, QueriedPresence } from '@greendot/protocol'
import { createPatientClock } from '../clients/patient-clock.ts'
import { hidden } from './audience/audience.ts'
import { ask, call, isOffline, isOnline, isStatus, type Person, read, useScene, watch } from './scene.ts'

/** Long enough to be seen before it ends, on a busy machine too. */
const SOON_MS = 1_000
/** For a server in a process of its own, which has no patient clock. */
const LATER_MS = 3_000
/** Position in what a watcher heard: after the welcome and the first states. */
const SNAPSHOT = 2
const isBusy = isStatus('busy')
const isAfter =
  (before: Presence) =>
  ({ version }: Presence) =>
    version > before.version

const scene = useScene()
const clock = createPatientClock()

async function aliceAndBob(url: string) {
  const alice = await scene.person(url, 'alice')
  await watch(alice, ['bob', 'marker'])
  const bob = await scene.person(url, 'bob', { platform: 'web' })
  await alice.sees('bob', isOnline)
  return { alice, bob }
}

/** The newest own view of a session that is accepted. */
async function selfOf(person: Person, accept: (own: OwnPresence) => boolean): Promise<OwnPresence> {
  return (await person.next('self', ({ presence }) => accept(presence))).presence
}

describe('custom status', () => {
  test('[S3] is pushed, and disappears by itself when it expires', async () => {
    const { url } = await scene.server({}, clock)
    const { alice, bob } = await aliceAndBob(url)
    const expiresAt = clock.now() + SOON_MS
    await ask(bob, { type: 'set_custom_status', text: 'In a meeting', emoji: '📅', expires_at: expiresAt })
    const set = await alice.sees('bob', ({ custom_status }) => custom_status !== null)
    expect(set.presence.custom_status).toEqual({ text: 'In a meeting', emoji: '📅', expires_at: expiresAt })
    const gone = await alice.sees('bob', isAfter(set.presence))
    expect(gone.at).toBeGreaterThanOrEqual(expiresAt)
    expect(gone.presence).toMatchObject({
      status: 'online',
      custom_status: null,
      version: set.presence.version + 1,
    })
    expect((await selfOf(bob, (own) => own.custom_status === null)).custom_status).toBeNull()
  })

  test('[S3] of an offline user expires for watchers too', async () => {
    const { url } = await scene.server({}, clock)
    const alice = await scene.person(url, 'alice')
    await watch(alice, ['bob'])
    const since = alice.heard.length
    const expiresAt = clock.now() + SOON_MS
    const answer = await call<OwnPresence>(url, 'dev:bob', 'PUT', '/api/v1/presence/status', {
      text: 'Back on Monday',
      expires_at: new Date(expiresAt).toISOString(),
    })
    expect(answer.status).toBe(200)
    await alice.sees('bob', ({ custom_status }) => custom_status?.text === 'Back on Monday')
    const gone = await alice.sees('bob', ({ custom_status }) => custom_status === null, { since })
    expect(gone.at).toBeGreaterThanOrEqual(expiresAt)
    expect(gone.presence.status).toBe('offline')
  })

  test('[S3] is cleared by nulls or DELETE', async () => {
    const { url } = await scene.server()
    const { alice, bob } = await aliceAndBob(url)
    const hasText = (text: string | null) => (presence: Presence) =>
      (presence.custom_status?.text ?? null) === text
    await ask(bob, { type: 'set_custom_status', text: 'first' })
    await alice.sees('bob', hasText('first'))
    let since = alice.heard.length
    await ask(bob, { type: 'set_custom_status', text: null, emoji: null })
    await alice.sees('bob', hasText(null), { since })
    await call(url, 'dev:bob', 'PUT', '/api/v1/presence/status', { text: 'second' })
    await alice.sees('bob', hasText('second'), { since })
    since = alice.heard.length
    expect((await call(url, 'dev:bob', 'DELETE', '/api/v1/presence/status')).status).toBe(200)
    await alice.sees('bob', hasText(null), { since })
  })
})

describe('availability', () => {
  test('[S1] timed busy returns to automatic by itself', async () => {
    const { url } = await scene.server({}, clock)
    const { alice, bob } = await aliceAndBob(url)
    const expiresAt = clock.now() + SOON_MS
    await ask(bob, { type: 'set_availability', status: 'busy', expires_at: expiresAt })
    const busy = await alice.sees('bob', isBusy)
    expect(await selfOf(bob, (own) => own.availability === 'busy')).toMatchObject({
      availability_expires_at: expiresAt,
    })
    const { presence, at } = await alice.sees('bob', isAfter(busy.presence))
    expect(presence.status).toBe('online')
    expect(at).toBeGreaterThanOrEqual(expiresAt)
    expect(await selfOf(bob, (own) => own.availability === 'auto')).toMatchObject({
      status: 'online',
      availability_expires_at: null,
    })
  })

  test('[S1] the alias set_status, HTTP, and back to automatic with online', async () => {
    const { url } = await scene.server()
    const { alice, bob } = await aliceAndBob(url)
    await ask(bob, { type: 'set_status', status: 'away' })
    await alice.sees('bob', isStatus('away'))
    const answer = await call<OwnPresence>(url, 'dev:bob', 'PUT', '/api/v1/presence/availability', {
      status: 'busy',
    })
    expect(answer).toMatchObject({ status: 200, body: { status: 'busy', availability: 'busy' } })
    await alice.sees('bob', isBusy)

    // Chosen by hand, it stands whatever the devices do.
    const since = alice.heard.length
    bob.be('idle')
    await ask(bob, { type: 'unwatch', user_ids: [] })
    await scene.mark(alice, url)
    expect(alice.sightings('bob', since)).toEqual([])

    await ask(bob, { type: 'set_availability', status: 'online' })
    const { presence } = await alice.sees('bob', isStatus('away'), { since })
    expect(presence.version).toBe(alice.sightings('bob').at(-2)!.presence.version + 1)
    expect((await selfOf(bob, (own) => own.availability === 'auto')).status).toBe('away')
  })
})

describe('invisible', () => {
  /** Bob by every way to read him. */
  async function looks(url: string): Promise<Presence[]> {
    const newcomer = await scene.person(url, 'newcomer')
    const [state] = await watch(newcomer, ['bob'])
    const queried = await call<QueriedPresence[]>(url, 'dev', 'GET', '/api/v1/presence?user_ids=bob')
    const posted = await call<QueriedPresence[]>(url, 'dev:eve', 'POST', '/api/v1/presence/query', {
      user_ids: ['bob'],
    })
    const batch = await call<Record<string, string>>(url, 'dev:eve', 'GET', '/presence/batch?user_ids=bob')
    expect(batch.body).toEqual({ bob: 'offline' })
    newcomer.close()
    const read = [...queried.body, ...posted.body].map(({ source, ...presence }) => {
      expect(source).toBe('db')
      return presence
    })
    return [state!, ...read]
  }

  test('[S2] looks like leaving at that moment, on every way to look', async () => {
    const { url } = await scene.server()
    const { alice, bob } = await aliceAndBob(url)
    const second = await scene.person(url, 'bob', { deviceId: 'phone', platform: 'mobile' })
    await alice.sees('bob', ({ devices }) => devices.length === 2)
    await ask(bob, { type: 'set_custom_status', text: 'Hello' })
    await alice.sees('bob', ({ custom_status }) => custom_status !== null)
    const before = Date.now()
    await ask(bob, { type: 'set_availability', status: 'invisible' })
    const { presence, at } = await alice.sees('bob', isOffline, { since: SNAPSHOT })
    expect(presence).toMatchObject({ devices: [], custom_status: { text: 'Hello' } })
    expect(presence.last_seen).toBeWithin(before, at + 1)
    expect(await looks(url)).toEqual([presence, presence, presence])

    for (const session of [bob, second]) {
      const own = await selfOf(session, ({ availability }) => availability === 'invisible')
      expect(own).toMatchObject({ status: 'online', devices: ['mobile', 'web'] })
      expect(own.sessions).toHaveLength(2)
    }
  })

  test('[S2] after it watchers see no change, whatever the user does', async () => {
    const { url } = await scene.server({ offline_delay_ms: 100 })
    const { alice, bob } = await aliceAndBob(url)
    await ask(bob, { type: 'set_availability', status: 'invisible' })
    const { presence } = await alice.sees('bob', isOffline, { since: SNAPSHOT })
    const since = alice.heard.length

    bob.be('idle')
    await ask(bob, { type: 'set_custom_status', text: 'hidden' })
    await call(url, 'dev:bob', 'PUT', '/api/v1/presence/status', { text: 'hidden again' })
    const second = await scene.person(url, 'bob', { platform: 'mobile' })
    expect(second.welcome.self).toMatchObject({ availability: 'invisible', status: 'online' })
    const marker = await scene.person(url, 'marker')
    await alice.sees('marker', isOnline, { since })
    second.send({ type: 'leave' })
    bob.close()
    await bob.closed
    marker.close()
    await alice.sees('marker', isOffline, { since })
    const third = await scene.person(url, 'bob')
    await scene.mark(alice, url)

    expect(alice.sightings('bob', since)).toEqual([])
    expect(await looks(url)).toEqual([presence, presence, presence])

    await ask(third, { type: 'set_availability', status: 'online' })
    const back = await alice.sees('bob', isOnline, { since })
    expect(back.presence).toMatchObject({
      version: presence.version + 1,
      custom_status: { text: 'hidden again' },
    })
  })

  test('[S2] a user who arrives invisible looks like an unknown user', async () => {
    const { url } = await scene.server()
    await call(url, 'dev:bob', 'PUT', '/api/v1/presence/availability', { status: 'invisible' })
    const alice = await scene.person(url, 'alice')
    const [state] = await watch(alice, ['bob', 'marker'])
    const bob = await scene.person(url, 'bob')
    expect(bob.welcome.self).toMatchObject({ status: 'online', availability: 'invisible' })
    await scene.mark(alice, url)
    expect(alice.sightings('bob')).toHaveLength(1)
    expect(state).toEqual(hidden('bob'))
    expect(await read(url, 'bob')).toEqual({ ...hidden('bob'), source: 'db' })
    // The same as of an unknown user.
    expect(await read(url, 'never-seen')).toEqual({ ...hidden('never-seen'), source: 'db' })
  })
})

describe('after a restart', () => {
  test('[S1][S2][S3] choices still stand, and expiries that passed meanwhile have happened', async () => {
    const settings = { offline_delay_ms: 100 }
    const first = await scene.process(settings)
    const put = (url: string, user: string, path: string, body: object) =>
      call<OwnPresence>(url, `dev:${user}`, 'PUT', `/api/v1/presence/${path}`, body)
    await scene.person(first.url, 'hidden')
    await put(first.url, 'hidden', 'availability', { status: 'invisible' })
    await put(first.url, 'hidden', 'status', { text: 'secret' })
    await put(first.url, 'busy', 'availability', { status: 'busy' })
    await put(first.url, 'busy', 'status', { text: 'Deep work', emoji: '🎧' })
    const shortlyAt = Date.now() + SOON_MS
    await put(first.url, 'shortly', 'availability', { status: 'busy', expires_at: shortlyAt })
    await put(first.url, 'shortly', 'status', { text: 'soon over', expires_at: shortlyAt })
    const hiddenBefore = await read(first.url, 'hidden')
    await first.kill()

    const second = await scene.process(settings, first.folder)
    const alice = await scene.person(second.url, 'alice')
    const states = await watch(alice, ['hidden', 'busy', 'shortly', 'marker'])
    expect(states[0]).toMatchObject({ status: 'offline', custom_status: null })
    expect(states[0]!.last_seen).toBe(hiddenBefore.last_seen)
    expect(states[1]).toMatchObject({ status: 'offline', custom_status: { text: 'Deep work', emoji: '🎧' } })

    const hidden = await scene.person(second.url, 'hidden')
    expect(hidden.welcome.self).toMatchObject({
      status: 'online',
      availability: 'invisible',
      custom_status: { text: 'secret' },
    })
    await scene.person(second.url, 'busy')
    await alice.sees('busy', isBusy)
    await alice.sees('shortly', ({ custom_status }) => custom_status === null)
    expect(Date.now()).toBeGreaterThanOrEqual(shortlyAt)
    const shortly = await scene.person(second.url, 'shortly')
    expect(shortly.welcome.self).toMatchObject({ availability: 'auto', custom_status: null })
    await alice.sees('shortly', isOnline)
    await scene.mark(alice, second.url)
    expect(alice.sightings('hidden')).toHaveLength(1)
    expect(await read(second.url, 'hidden')).toMatchObject({
      status: 'offline',
      source: 'db',
      version: states[0]!.version,
    })
  })

  test('[S3] the custom status of a user who was connected at a crash is kept', async () => {
    const first = await scene.process()
    const put = (text: string, expiresAt: number | null = null) =>
      call(first.url, 'dev:bob', 'PUT', '/api/v1/presence/status', { text, expires_at: expiresAt })
    const alice = await scene.person(first.url, 'alice')
    await watch(alice, ['bob', 'carol'])
    await scene.person(first.url, 'bob')
    await put('In a meeting')
    await alice.sees('bob', ({ custom_status }) => custom_status !== null)
    await first.kill()
    const second = await scene.process({}, first.folder)
    expect(await read(second.url, 'bob')).toMatchObject({ custom_status: { text: 'In a meeting' } })
  })

  test('[S3] a custom status that expired while its owner was here stays expired', async () => {
    const first = await scene.process()
    const alice = await scene.person(first.url, 'alice')
    await watch(alice, ['bob'])
    await scene.person(first.url, 'bob')
    await alice.sees('bob', isOnline)
    const { status, body } = await call<OwnPresence>(first.url, 'dev:bob', 'PUT', '/api/v1/presence/status', {
      text: 'brief',
      expires_at: Date.now() + LATER_MS,
    })
    expect(status).toBe(200)
    expect(body.custom_status?.text).toBe('brief')
    const { presence } = await alice.sees('bob', isAfter(body))
    expect(presence).toMatchObject({ status: 'online', custom_status: null })
    await first.kill()
    const second = await scene.process({}, first.folder)
    expect(await read(second.url, 'bob')).toMatchObject({ custom_status: null })
  })
})
