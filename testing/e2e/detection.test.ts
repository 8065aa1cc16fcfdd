// Every way to come and to go, from the socket of one user to the frame that a watcher gets. The delays are
// short, but a watcher may be told late on a busy machine, so these tests assert lower bounds and the order
// of events, and a patient clock keeps clients from seeming silent. How late a deadline may be noticed is held
// by the tests of the sweeper, with a fake clock.
import { describe, expect, test } from 'bun:test'
import { createPatientClock } from '../clients/patient-clock.ts'
import type { SettingsInput } from '../clients/server.ts'
import { openRawSocket } from './raw-socket.ts'
import { ask, call, isAway, isOffline, isOnline, isStatus, read, useScene, watch } from './scene.ts'

const BEAT_MS = 100
/** Many beats long, so that a client that gets no processor for a while does not seem silent. */
const TTL_MS = 1_500
const OFFLINE_DELAY_MS = 300
const QUICK = {
  heartbeat_interval_ms: BEAT_MS,
  heartbeat_ttl_ms: TTL_MS,
  offline_delay_ms: OFFLINE_DELAY_MS,
}
/** Longer than any test: what becomes visible did not wait for the delay. */
const NEVER_MS = 600_000
const NO_DELAY_ENDS = { offline_delay_ms: NEVER_MS, linger_ms: NEVER_MS }
const CLOSED_ENDS = { offline_delay_ms: OFFLINE_DELAY_MS }

const scene = useScene()
/** The clock of the servers is never ahead of the times at which frames came. */
const clock = createPatientClock()
const beating = { beatEveryMs: BEAT_MS }

/** A server, and alice on it, who watches. */
async function begin(settings: SettingsInput = QUICK, watched = ['bob']) {
  const { url } = await scene.server(settings, clock)
  const alice = await scene.person(url, 'alice', beating)
  await watch(alice, watched)
  return { url, alice }
}

/** The same, after alice saw bob come; `since` is her position from then on. */
async function beginWithBob(settings: SettingsInput = QUICK, watched = ['bob']) {
  const { url, alice } = await begin(settings, watched)
  const bob = await scene.person(url, 'bob', beating)
  await alice.sees('bob', isOnline)
  return { url, alice, bob, since: alice.heard.length }
}

describe('coming and going by WebSocket', () => {
  test('[D2] a user who connects is online', async () => {
    const { url, alice } = await begin()
    const startedAt = clock.now()
    await scene.person(url, 'bob', { platform: 'web', ...beating })
    const { presence, at } = await alice.sees('bob', isOnline)
    expect(presence.devices).toEqual(['web'])
    expect(presence.last_seen).toBeWithin(startedAt, at + 1)
  })

  test.each(['instant', 'linger'])(
    '[D2][D5] with the %s policy a goodbye waits for no delay and closes with 1000',
    async (policy) => {
      const { alice, bob, since } = await beginWithBob({ ...NO_DELAY_ENDS, policy })
      const leftAt = clock.now()
      bob.send({ type: 'leave' })
      const { presence, at } = await alice.sees('bob', isOffline, { since })
      expect(presence.last_seen).toBeWithin(leftAt, at + 1)
      expect(presence.devices).toEqual([])
      expect(await bob.closed).toMatchObject({ code: 1000 })
    },
  )

  test('[D2] a process that is killed is offline after the offline delay, not before', async () => {
    const { url, alice } = await begin(CLOSED_ENDS)
    const bob = await scene.holder(url, 'bob', BEAT_MS)
    await alice.sees('bob', isOnline)
    const since = alice.heard.length
    const killedAt = clock.now()
    bob.signal('SIGKILL')
    const { presence, at } = await alice.sees('bob', isOffline, { since })
    expect(at).toBeGreaterThanOrEqual(killedAt + OFFLINE_DELAY_MS)
    expect(alice.sightings('bob', since)).toHaveLength(1)
    // The system closes the socket of a dead process, and that is the last proof of life.
    expect(presence.last_seen).toBeWithin(killedAt, at - OFFLINE_DELAY_MS + 1)
  })
})

describe('silence', () => {
  test('[D1][D2] a connection that goes silent without closing is offline after TTL and delay', async () => {
    const { url, alice } = await begin()
    const bob = await openRawSocket(url, 'bob')
    scene.onEnd(bob.destroy)
    await alice.sees('bob', isOnline)
    const since = alice.heard.length
    const sentAt = clock.now()
    bob.send({ type: 'heartbeat', activity: 'active', ref: 'last words' })
    await bob.until((frames) => frames.find(({ type }) => type === 'ok'))
    const answeredAt = clock.now()
    const { presence, at } = await alice.sees('bob', isOffline, { since })
    expect(presence.last_seen).toBeWithin(sentAt, answeredAt + 1)
    expect(at).toBeGreaterThanOrEqual(presence.last_seen! + TTL_MS + OFFLINE_DELAY_MS)
    expect(alice.sightings('bob', since)).toHaveLength(1)
  })

  test('[D1][D2] so is a program that hangs, and last seen is its last heartbeat', async () => {
    const { url, alice } = await begin()
    const startedAt = clock.now()
    const bob = await scene.holder(url, 'bob', BEAT_MS)
    await alice.sees('bob', isOnline)
    const since = alice.heard.length
    bob.signal('SIGSTOP')
    const { presence, at } = await alice.sees('bob', isOffline, { since })
    expect(presence.last_seen).toBeWithin(startedAt, at - TTL_MS - OFFLINE_DELAY_MS + 1)
  })

  test('[D1] the silent connection is closed with 4408', async () => {
    const { url } = await scene.server(QUICK, clock)
    const bob = await scene.person(url, 'bob', beating)
    bob.fallSilent()
    const silentAt = clock.now()
    const { code, at } = await bob.closed
    expect(code).toBe(4408)
    // The last beat was sent at most one interval ago, or a little more where timers run late.
    expect(at).toBeGreaterThanOrEqual(silentAt - TTL_MS / 2 + TTL_MS)
  })

  test('[D1] heartbeats of either kind, and any other frame, are a sign of life', async () => {
    const { url, alice } = await begin(QUICK, ['bob', 'idle-ivy', 'asking-ann', 'carol'])
    await scene.person(url, 'bob', beating)
    await scene.person(url, 'idle-ivy', { ...beating, activity: 'idle' })
    const asking = await scene.person(url, 'asking-ann')
    const timer = setInterval(() => asking.send({ type: 'unwatch', user_ids: [] }), BEAT_MS)
    scene.onEnd(() => clearInterval(timer))
    // Carol came last: a user who was silent from the start would be offline before her.
    const carol = await scene.person(url, 'carol', beating)
    carol.fallSilent()
    await alice.sees('idle-ivy', isAway)
    await alice.sees('carol', isOnline)
    const since = alice.heard.length
    await alice.sees('carol', isOffline, { since })
    for (const userId of ['bob', 'idle-ivy', 'asking-ann']) expect(alice.sightings(userId, since)).toEqual([])
  })
})

describe('blips', () => {
  const SHOWN = { active: 'online', idle: 'away' } as const

  for (const activity of ['active', 'idle'] as const) {
    test(`[D6] a reload of a device that is ${activity} changes nothing`, async () => {
      // The reload takes less than the delay, however busy the machine.
      const { url, alice } = await begin({ ...QUICK, offline_delay_ms: 2_000 }, ['bob', 'carol'])
      const carol = await scene.person(url, 'carol', beating)
      const laptop = { deviceId: 'laptop', platform: 'desktop', ...beating }
      const bob = await scene.person(url, 'bob', laptop)
      bob.be(activity)
      const { presence: before } = await alice.sees('bob', isStatus(SHOWN[activity]))
      await alice.sees('carol', isOnline)
      const since = alice.heard.length

      bob.close()
      await bob.closed
      await scene.person(url, 'bob', { ...laptop, activity })
      // Carol closes after him: his offline would be due before hers.
      carol.close()
      await alice.sees('carol', isOffline, { since })

      expect(alice.sightings('bob', since)).toEqual([])
      expect(await read(url, 'bob')).toEqual({ ...before, source: 'live' })
    })
  }

  test('[D9] heartbeats that change nothing are pushed to no session', async () => {
    const { url, alice, bob, since } = await beginWithBob(QUICK, ['bob', 'carol'])
    const heardByBob = bob.heard.length
    for (let beat = 0; beat < 20; beat++) bob.be('active')
    await ask(bob, { type: 'heartbeat', activity: 'active' })
    await scene.person(url, 'carol', beating)
    await alice.sees('carol', isOnline, { since })
    expect(alice.sightings('bob', since)).toEqual([])
    expect(bob.heard.slice(heardByBob).map(({ frame }) => frame.type)).toEqual(['ok'])
  })
})

describe('over HTTP', () => {
  const beat = (url: string, activity: string) =>
    call<{ heartbeat_interval_ms: number; heartbeat_ttl_ms: number }>(
      url,
      'dev:bob',
      'POST',
      '/api/v1/heartbeat',
      { device_id: 'phone', platform: 'mobile', activity },
    )

  test('[D8] silence is found after TTL and delay, and last seen is the last heartbeat', async () => {
    const { url, alice } = await begin()
    const sentAt = clock.now()
    await beat(url, 'active')
    const answeredAt = clock.now()
    await alice.sees('bob', isOnline)
    const { presence, at } = await alice.sees('bob', isOffline, { since: alice.heard.length })
    expect(presence.last_seen).toBeWithin(sentAt, answeredAt + 1)
    expect(at).toBeGreaterThanOrEqual(presence.last_seen! + TTL_MS + OFFLINE_DELAY_MS)
  })
})

describe('away, calm and lingering', () => {
  test('[D4] no activity for long enough is away, whatever the connection does', async () => {
    const awayAfterMs = 400
    const { url, alice } = await begin({ away_after_ms: awayAfterMs })
    const startedAt = clock.now()
    const bob = await scene.person(url, 'bob')
    const { at } = await alice.sees('bob', isAway)
    expect(at).toBeGreaterThanOrEqual(startedAt + awayAfterMs)

    const since = alice.heard.length
    bob.be('active')
    await alice.sees('bob', isOnline, { since })
  })

  test('[D6] calm: an arrival is shown after the online delay, and a shorter visit never', async () => {
    const onlineDelayMs = 1_000
    const calm = { policy: 'calm', online_delay_ms: onlineDelayMs, offline_delay_ms: 400 }
    const { url, alice } = await begin(calm, ['bob', 'carol'])
    const bob = await scene.person(url, 'bob')
    bob.send({ type: 'leave' })
    await bob.closed
    const startedAt = clock.now()
    await scene.person(url, 'carol')
    const { at } = await alice.sees('carol', isOnline)
    expect(at).toBeGreaterThanOrEqual(startedAt + onlineDelayMs)
    expect(alice.sightings('bob').map(({ presence }) => presence.version)).toEqual([0])
  })

  test('[D5] linger: silence is away after the TTL and offline only after lingering', async () => {
    const lingerMs = TTL_MS + 1_000
    const { url, alice } = await begin({ ...QUICK, policy: 'linger', linger_ms: lingerMs })
    const bob = await scene.person(url, 'bob', beating)
    bob.fallSilent()
    const sentAt = clock.now()
    await ask(bob, { type: 'heartbeat', activity: 'active' })
    const answeredAt = clock.now()
    const away = await alice.sees('bob', isAway)
    const gone = await alice.sees('bob', isOffline, { since: alice.heard.length })
    expect(gone.presence.last_seen).toBeWithin(sentAt, answeredAt + 1)
    expect(away.at).toBeGreaterThanOrEqual(gone.presence.last_seen! + TTL_MS)
    expect(gone.at).toBeGreaterThanOrEqual(gone.presence.last_seen! + lingerMs)
  })
})
