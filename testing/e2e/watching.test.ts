// Watching: a snapshot, then every change, newest only, in order, never backwards; and the answers
// to frames in the order of the frames.
import { describe, expect, test } from 'bun:test'
import type { Presence } from '@greendot/protocol'
import { systemClock } from '../../packages/server/src/platform/clock.ts'
import { openClient, type TestClient } from '../clients/client.ts'
import { createPatientClock } from '../clients/patient-clock.ts'
import { hidden } from './audience/audience.ts'
import { ask, call, isAway, isOffline, isOnline, read, useScene, watch } from './scene.ts'

const scene = useScene()

const versionsOf = (client: TestClient, userId: string, since = 0): number[] =>
  client.sightings(userId, since).map(({ presence }) => presence.version)

function expectGrowing(versions: readonly number[]): void {
  for (const [index, version] of versions.entries()) {
    if (index > 0) expect(version).toBeGreaterThan(versions[index - 1]!)
  }
}

const ids = (presences: readonly Presence[]) => presences.map(({ user_id }) => user_id)

describe('snapshot and changes', () => {
  test('[W1] the answer is the present state in the order asked, then come the changes', async () => {
    const { url } = await scene.server()
    const bob = await scene.person(url, 'bob', { platform: 'web' })
    const alice = await scene.person(url, 'alice')
    const states = await watch(alice, ['unknown', 'bob'])
    expect(states).toEqual([
      hidden('unknown'),
      {
        user_id: 'bob',
        status: 'online',
        last_seen: expect.any(Number),
        custom_status: null,
        devices: ['web'],
        version: bob.welcome.self.version,
      },
    ])
    bob.be('idle')
    const { presence } = await alice.sees('bob', isAway)
    expect(presence).toEqual({ ...states[1]!, status: 'away', version: states[1]!.version + 1 })
  })

  test('[W1] there is no gap between the two, however busy the watched user', async () => {
    const { url } = await scene.server({ frames_per_second: 100_000, flush_ms: 5 })
    const bob = await scene.person(url, 'bob')
    const watchers = await Promise.all(Array.from({ length: 20 }, (_, n) => scene.person(url, `alice-${n}`)))
    for (let round = 0; round < 200; round++) {
      bob.be(round % 2 === 0 ? 'idle' : 'active')
      if (round % 10 === 5) watchers[(round - 5) / 10]!.send({ type: 'watch', user_ids: ['bob'] })
      // Each round is a turn of its own for the server, which shares this event loop.
      if (round % 3 === 0) await systemClock.nextTurn()
    }
    await ask(bob, { type: 'set_custom_status', text: 'the end' })
    for (const watcher of watchers) {
      await watcher.sees('bob', ({ custom_status }) => custom_status !== null)
      expectGrowing(versionsOf(watcher, 'bob'))
      expect(watcher.sightings('bob').at(-1)!.presence).toMatchObject({ status: 'online' })
    }
  })

  test('[W1] watching is additive, and repeats count once', async () => {
    const { url } = await scene.server({ watch_limit: 3 })
    const alice = await scene.person(url, 'alice')
    expect(ids(await watch(alice, ['bob', 'bob', 'carol', 'bob']))).toEqual(['bob', 'carol'])
    expect(ids(await watch(alice, ['carol', 'dave']))).toEqual(['carol', 'dave'])
    await scene.person(url, 'bob')
    await scene.person(url, 'dave')
    await alice.sees('bob', isOnline)
    await alice.sees('dave', isOnline)
    // Watched by two frames, told once.
    const since = alice.heard.length
    await scene.person(url, 'carol')
    await alice.sees('carol', isOnline)
    await ask(alice, { type: 'unwatch', user_ids: [] })
    expect(alice.sightings('carol', since)).toHaveLength(1)
  })

  test('[W1] after unwatch there is silence, and room for others', async () => {
    const { url } = await scene.server({ watch_limit: 2 })
    const bob = await scene.person(url, 'bob')
    const alice = await scene.person(url, 'alice')
    await watch(alice, ['bob', 'carol'])
    await ask(alice, { type: 'unwatch', user_ids: ['bob', 'bob', 'never-watched'] })
    const since = alice.heard.length
    bob.be('idle')
    await ask(bob, { type: 'set_custom_status', text: 'unheard' })
    await watch(alice, ['marker'])
    await scene.mark(alice, url)
    expect(alice.sightings('bob', since)).toEqual([])
    await ask(alice, { type: 'unwatch', user_ids: ['marker'] })
    expect((await watch(alice, ['bob']))[0]).toMatchObject({ status: 'away' })
  })

  test('[W1] a change that waits for the flush is not sent after unwatch', async () => {
    // The flush comes long after both requests: a pause of the process does not count.
    const { url } = await scene.server({ flush_ms: 1_000 }, createPatientClock())
    const bob = await scene.person(url, 'bob')
    const alice = await scene.person(url, 'alice')
    await watch(alice, ['bob', 'marker'])
    await ask(bob, { type: 'set_custom_status', text: 'about to be sent' })
    await ask(alice, { type: 'unwatch', user_ids: ['bob'] })
    await scene.mark(alice, url)
    expect(alice.sightings('bob')).toHaveLength(1)
  })

  test('[W1] over the limit is an error, and nothing changes', async () => {
    const { url } = await scene.server({ watch_limit: 3 })
    const alice = await scene.person(url, 'alice')
    await watch(alice, ['bob', 'marker'])
    alice.send({ type: 'watch', user_ids: ['bob', 'carol', 'dave'], ref: 1 })
    expect(await alice.next('error')).toMatchObject({ code: 'watch_limit', ref: 1 })
    await scene.person(url, 'carol')
    await scene.person(url, 'dave')
    await scene.person(url, 'bob')
    await scene.mark(alice, url)
    await alice.sees('bob', isOnline)
    expect(alice.sightings('carol')).toEqual([])
    expect(alice.sightings('dave')).toEqual([])
    expect(await watch(alice, ['carol'])).toMatchObject([{ user_id: 'carol', status: 'online' }])
  })
})

describe('coalescing', () => {
  test('[W5] many quick changes of several users are few frames, with the newest of each', async () => {
    // Longer than all rounds take, so that few flushes fall between them.
    const flushMs = 1_000
    const { url } = await scene.server({ flush_ms: flushMs, frames_per_second: 10_000 })
    const names = ['u0', 'u1', 'u2', 'u3', 'u4']
    const people = await Promise.all(names.map((name) => scene.person(url, name)))
    const alice = await scene.person(url, 'alice')
    const before = await watch(alice, names)
    const since = alice.heard.length
    const rounds = 30
    for (let round = 1; round <= rounds; round++) {
      await Promise.all(
        people.map((person) => ask(person, { type: 'set_custom_status', text: `round ${round}` })),
      )
    }
    for (const name of names) {
      await alice.sees(name, ({ custom_status }) => custom_status?.text === `round ${rounds}`)
    }
    const frames = alice.heard.slice(since)
    // Every round changed every user; what was sent is one frame a flush.
    expect(frames.length).toBeLessThan(rounds / 2)
    for (const { frame } of frames) {
      if (frame.type !== 'presence_change') throw new Error(`unexpected ${frame.type}`)
      expect(new Set(ids(frame.changes)).size).toBe(frame.changes.length)
    }
    for (const [index, name] of names.entries()) {
      expect(alice.sightings(name).at(-1)!.presence.version).toBe(before[index]!.version + rounds)
      expectGrowing(versionsOf(alice, name))
    }
  })
})

describe('versions', () => {
  test('[W9] after a reconnect the client gets only what changed', async () => {
    const { url } = await scene.server()
    const names = ['bob', 'carol', 'dave']
    const [, carol] = await Promise.all(names.map((name) => scene.person(url, name)))
    const first = await scene.person(url, 'alice', { deviceId: 'laptop' })
    const states = await watch(first, [...names, 'unknown'])
    const known = Object.fromEntries(states.map(({ user_id, version }) => [user_id, version]))
    first.close()
    await first.closed
    carol!.be('idle')
    await ask(carol!, { type: 'unwatch', user_ids: [] })
    const second = await scene.person(url, 'alice', { deviceId: 'laptop' })
    const changed = await watch(second, [...names, 'unknown'], known)
    expect(changed).toMatchObject([{ user_id: 'carol', status: 'away', version: known.carol! + 1 }])
  })

  test('[W9] a user with nothing left to show has version 0', async () => {
    const { url } = await scene.server()
    const alice = await scene.person(url, 'alice')
    await watch(alice, ['bob'])
    await call(url, 'dev:bob', 'PUT', '/api/v1/presence/status', { text: 'never here' })
    await alice.sees('bob', ({ version }) => version > 0)
    const since = alice.heard.length
    await call(url, 'dev:bob', 'DELETE', '/api/v1/presence/status')
    await alice.sees('bob', ({ version }) => version === 0, { since })
    expect(await watch(alice, ['bob'], { bob: 0 })).toEqual([])
  })

  test('[W9] they only grow, whatever happens to a user', async () => {
    const { url } = await scene.server({ frames_per_second: 10_000, offline_delay_ms: 0, flush_ms: 1 })
    const alice = await scene.person(url, 'alice')
    await watch(alice, ['bob'])
    for (let visit = 0; visit < 5; visit++) {
      const since = alice.heard.length
      const bob = await scene.person(url, 'bob')
      bob.be('idle')
      await ask(bob, { type: 'set_availability', status: 'busy' })
      await ask(bob, { type: 'set_availability', status: 'invisible' })
      await ask(bob, { type: 'set_availability', status: 'online' })
      bob.be('active')
      await ask(bob, { type: 'unwatch', user_ids: [] })
      // The status alone was shown before; the version was not.
      const { version } = await read(url, 'bob')
      await alice.sees('bob', (shown) => isOnline(shown) && shown.version === version, { since })
      const end = alice.heard.length
      if (visit % 2 === 0) bob.close()
      else bob.send({ type: 'leave' })
      await alice.sees('bob', isOffline, { since: end })
    }
    expectGrowing(versionsOf(alice, 'bob'))
    expect((await read(url, 'bob')).version).toBe(versionsOf(alice, 'bob').at(-1)!)
  })

  test('[W9] they grow across a crash, also after many changes just before it', async () => {
    const first = await scene.process({ frames_per_second: 10_000, flush_ms: 5 })
    const watcher = await scene.person(first.url, 'alice')
    const bob = await scene.person(first.url, 'bob')
    await scene.person(first.url, 'carol')
    const states = await watch(watcher, ['bob', 'carol'])
    for (let round = 0; round < 40; round++) {
      bob.be(round % 2 === 0 ? 'idle' : 'active')
      await ask(bob, { type: 'unwatch', user_ids: [] })
    }
    await watcher.sees('bob', ({ version }) => version === states[0]!.version + 40)
    const known = { bob: states[0]!.version + 40, carol: states[1]!.version }
    await first.kill()

    const second = await scene.process({}, first.folder)
    const again = await scene.person(second.url, 'alice')
    const after = await watch(again, ['bob', 'carol'], known)
    expect(after.map(({ user_id }) => user_id)).toEqual(['bob', 'carol'])
    expect(after[0]!.version).toBeGreaterThan(known.bob)
    expect(after[1]!.version).toBeGreaterThan(known.carol)
    await scene.person(second.url, 'bob')
    await again.sees('bob', isOnline)
    expectGrowing([known.bob, ...versionsOf(again, 'bob')])
  })
})

describe('answers', () => {
  test('[W1] come in the order of the questions, errors among them', async () => {
    const { url } = await scene.server()
    const alice = await scene.person(url, 'alice')
    const since = alice.heard.length
    alice.send({ type: 'watch', user_ids: ['bob'], ref: 1 })
    alice.send({ type: 'nonsense', ref: 'two' })
    alice.send({ type: 'set_custom_status', text: 'slow: it is written before it is answered', ref: 3 })
    alice.send({ type: 'heartbeat', activity: 'sleepy', ref: 4 })
    alice.send({ type: 'heartbeat', activity: 'active', ref: 5 })
    alice.send({ type: 'set_availability', status: 'away', ref: 6 })
    alice.send({ type: 'unwatch', user_ids: ['bob'], ref: 7 })
    await alice.next('ok', ({ ref }) => ref === 7)
    const answers = alice.heard
      .slice(since)
      .map(({ frame }) => frame)
      .filter((frame) => frame.type === 'ok' || frame.type === 'error')
    expect(answers).toMatchObject([
      { type: 'ok', ref: 1 },
      { type: 'error', ref: 'two', code: 'unknown_type' },
      { type: 'ok', ref: 3 },
      { type: 'error', ref: 4, code: 'bad_request' },
      { type: 'ok', ref: 5 },
      { type: 'ok', ref: 6 },
      { type: 'ok', ref: 7 },
    ])
    const isState = ({ frame }: { frame: { type: string } }) => frame.type === 'presence_state'
    expect(alice.heard.findIndex(isState)).toBeLessThan(
      alice.heard.findIndex(({ frame }) => frame.type === 'ok'),
    )
  })

  test('[W1] frames sent before the welcome are answered after it', async () => {
    const { url } = await scene.server()
    const alice = openClient(url, 'alice')
    scene.onEnd(alice.close)
    alice.socket.onopen = () => {
      alice.send({ type: 'watch', user_ids: ['bob'], ref: 1 })
      alice.send('not json')
      alice.send({ type: 'set_status', status: 'busy', ref: 2 })
    }
    await alice.next('ok', ({ ref }) => ref === 2)
    const answers = alice.heard.map(({ frame }) => frame.type).filter((type) => type !== 'self')
    expect(answers).toEqual(['welcome', 'presence_state', 'ok', 'error', 'ok'])
    await scene.person(url, 'bob')
    await alice.sees('bob', isOnline)
  })
})
