// After how much inactivity a user is away is their own choice. It takes effect on whatever sessions
// are open, comes with every welcome, outlives connections and processes, and null gives it back to
// the server.
import { describe, expect, test } from 'bun:test'
import type { OwnPresence, Settings } from '@greendot/protocol'
import { choose } from './audience/audience.ts'
import { ask, call, isAway, isOffline, isOnline, type Person, useScene, watch } from './scene.ts'

const scene = useScene()

const SOON_MS = 150
const FAR_MS = 3_600_000
const SERVER_DEFAULT_MS = 300_000

const heartbeat = (url: string, userId: string, activity: 'active' | 'idle') =>
  call(url, `dev:${userId}`, 'POST', '/api/v1/heartbeat', {
    device_id: 'phone',
    platform: 'mobile',
    activity,
  })

const awayAfter = async (url: string, userId: string) =>
  (await call<Settings>(url, `dev:${userId}`, 'GET', '/api/v1/presence/settings')).body.away_after_ms

async function watchers(url: string, ...userIds: string[]): Promise<Person> {
  const alice = await scene.person(url, 'alice')
  await watch(alice, [...userIds, 'marker'])
  return alice
}

/** The user is active now, and away long before a user who chose nothing. */
async function expectAwaySoon(alice: Person, person: Person, userId: string): Promise<void> {
  const since = alice.heard.length
  person.be('active')
  await alice.sees(userId, isAway, { since })
}

describe('on open sessions', () => {
  test('[D4] it takes effect on all of them, those that beat over HTTP included', async () => {
    const { url } = await scene.server()
    const alice = await watchers(url, 'bob')
    const bob = await scene.person(url, 'bob', { deviceId: 'laptop', platform: 'web' })
    await heartbeat(url, 'bob', 'active')
    await alice.sees('bob', ({ devices }) => devices.length === 2)
    await choose(url, 'bob', { away_after_ms: SOON_MS })
    // One session that had not heard of it would keep bob online.
    const { presence } = await alice.sees('bob', isAway)
    expect([...presence.devices].sort()).toEqual(['mobile', 'web'])
    const own = await bob.next('self', (frame) => frame.presence.status === 'away')
    expect(own.presence.sessions.map(({ activity }) => activity)).toEqual(['idle', 'idle'])

    for (const wake of [() => bob.be('active'), () => heartbeat(url, 'bob', 'active')]) {
      const since = alice.heard.length
      const activeAt = Date.now()
      wake()
      await alice.sees('bob', isOnline, { since })
      const again = await alice.sees('bob', isAway, { since })
      expect(again.at).toBeGreaterThanOrEqual(activeAt + SOON_MS)
    }
  })

  test('[D4] null returns to the default of the server, and longer is later', async () => {
    const { url } = await scene.server()
    const alice = await watchers(url, 'bob', 'carol', 'dave')
    const people = await Promise.all(['bob', 'carol', 'dave'].map((userId) => scene.person(url, userId)))
    const [bob, carol, dave] = people as [Person, Person, Person]
    for (const userId of ['bob', 'carol', 'dave']) await choose(url, userId, { away_after_ms: SOON_MS })
    expect(await choose(url, 'bob', { away_after_ms: null })).toMatchObject({
      away_after_ms: SERVER_DEFAULT_MS,
    })
    expect(await choose(url, 'dave', { away_after_ms: FAR_MS })).toMatchObject({ away_after_ms: FAR_MS })
    for (const person of [bob, dave]) {
      person.be('active')
      await ask(person, { type: 'unwatch', user_ids: [] })
    }
    await scene.mark(alice, url)
    const since = alice.heard.length
    // Active last of the three, and the only one who is away by the time it is due.
    await expectAwaySoon(alice, carol, 'carol')
    await scene.mark(alice, url)
    expect(alice.sightings('bob', since)).toEqual([])
    expect(alice.sightings('dave', since)).toEqual([])
  })
})

describe('afterwards', () => {
  test('[D4] the welcome says it: the default of the server, or what the user chose', async () => {
    const { url } = await scene.server({ away_after_ms: 123_456 })
    const welcomed = async () => {
      const bob = await scene.person(url, 'bob')
      bob.close()
      await bob.closed
      return bob.welcome.away_after_ms
    }
    expect(await welcomed()).toBe(123_456)
    expect(await awayAfter(url, 'bob')).toBe(123_456)
    await choose(url, 'bob', { away_after_ms: FAR_MS })
    expect(await welcomed()).toBe(FAR_MS)
    await choose(url, 'bob', { away_after_ms: null })
    expect(await welcomed()).toBe(123_456)
  })

  test('[D4] a new connection has it, and so has one after a crash of the server', async () => {
    const first = await scene.process()
    await choose(first.url, 'bob', { away_after_ms: SOON_MS })
    const before = await watchers(first.url, 'bob')
    const visitor = await scene.person(first.url, 'bob')
    await expectAwaySoon(before, visitor, 'bob')
    visitor.send({ type: 'leave' })
    await before.sees('bob', isOffline, { since: before.heard.length })
    await first.kill()

    const second = await scene.process({}, first.folder)
    expect(await awayAfter(second.url, 'bob')).toBe(SOON_MS)
    const after = await watchers(second.url, 'bob')
    const bob = await scene.person(second.url, 'bob')
    expect(bob.welcome.away_after_ms).toBe(SOON_MS)
    await expectAwaySoon(after, bob, 'bob')
    // Over HTTP too: a phone that beats once is online, then away.
    const since = after.heard.length
    bob.send({ type: 'leave' })
    await after.sees('bob', isOffline, { since })
    expect((await heartbeat(second.url, 'bob', 'active')).status).toBe(200)
    await after.sees('bob', isOnline, { since })
    const { presence } = await after.sees('bob', (one) => isAway(one) && one.devices[0] === 'mobile', {
      since,
    })
    expect(presence.devices).toEqual(['mobile'])
  })

  test('[D4] it is not part of what others see', async () => {
    const { url } = await scene.server()
    const alice = await watchers(url, 'bob')
    const bob = await scene.person(url, 'bob')
    await alice.sees('bob', isOnline)
    const since = alice.heard.length
    const sinceOfBob = bob.heard.length
    await choose(url, 'bob', { away_after_ms: FAR_MS })
    await scene.mark(alice, url)
    expect(alice.sightings('bob', since)).toEqual([])
    // Nor does the own view change by it.
    expect(bob.heard.slice(sinceOfBob)).toEqual([])
    const { body } = await call<OwnPresence>(url, 'dev:bob', 'PUT', '/api/v1/presence/status', { text: 'x' })
    expect(JSON.stringify(body)).not.toContain('away_after')
  })
})
