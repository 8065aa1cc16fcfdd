// Is the user here? Every way to come and to go, from the socket of one person to the frame that
// another one gets, with delays short enough to wait for and measured from frame to frame.
import { describe, expect, test } from 'bun:test'
import { openRawSocket } from './raw-socket.ts'
import { ask, call, isAway, isOffline, isOnline, read, useScene, watch } from './scene.ts'

const BEAT_MS = 100
const TTL_MS = 600
const OFFLINE_DELAY_MS = 300
const QUICK = {
  heartbeat_interval_ms: BEAT_MS,
  heartbeat_ttl_ms: TTL_MS,
  offline_delay_ms: OFFLINE_DELAY_MS,
}
/** What "at once" means to somebody who watches: a flush and a little. */
const AT_ONCE_MS = 200
/** How late a deadline may become visible. */
const LATE_MAX_MS = 1_000

const scene = useScene()
const beating = { beatEveryMs: BEAT_MS }

async function alice(url: string, watched = ['bob']) {
  const person = await scene.person(url, 'alice', beating)
  await watch(person, watched)
  return person
}

function expectDue(at: number, dueAt: number): void {
  expect(at).toBeGreaterThanOrEqual(dueAt)
  expect(at).toBeLessThanOrEqual(dueAt + LATE_MAX_MS)
}

describe('coming and going by WebSocket', () => {
  test('[D2] somebody who connects is seen at once', async () => {
    const { url } = await scene.server(QUICK)
    const a = await alice(url)
    const startedAt = Date.now()
    await scene.person(url, 'bob', { platform: 'web', ...beating })
    const { presence, at } = await a.sees('bob', isOnline)
    expect(at - startedAt).toBeLessThan(AT_ONCE_MS)
    expect(presence.devices).toEqual(['web'])
    expect(presence.last_seen).toBeWithin(startedAt, at + 1)
  })

  test('[D2] a goodbye is seen at once and closes with 1000', async () => {
    const { url } = await scene.server(QUICK)
    const a = await alice(url)
    const b = await scene.person(url, 'bob', beating)
    await a.sees('bob', isOnline)
    const since = a.heard.length
    const leftAt = Date.now()
    b.send({ type: 'leave' })
    const { presence, at } = await a.sees('bob', isOffline, { since })
    expect(at - leftAt).toBeLessThan(AT_ONCE_MS)
    expect(presence.last_seen).toBeWithin(leftAt, at + 1)
    expect(presence.devices).toEqual([])
    expect(await b.closed).toMatchObject({ code: 1000 })
  })

  test('[D2] a process that is killed is offline after the offline delay, not before', async () => {
    const { url } = await scene.server(QUICK)
    const a = await alice(url)
    const b = await scene.holder(url, 'bob', BEAT_MS)
    await a.sees('bob', isOnline)
    const since = a.heard.length
    const killedAt = Date.now()
    b.signal('SIGKILL')
    const { presence, at } = await a.sees('bob', isOffline, { since })
    expectDue(at, killedAt + OFFLINE_DELAY_MS)
    expect(a.sightings('bob', since)).toHaveLength(1)
    // The system closes the socket of a dead process, and that is the last we hear of it.
    expect(presence.last_seen).toBeWithin(killedAt, at - OFFLINE_DELAY_MS + 1)
  })
})

describe('silence', () => {
  test('[D1][D2] a connection that goes silent without closing is offline after TTL and delay', async () => {
    const { url } = await scene.server(QUICK)
    const a = await alice(url)
    const b = await openRawSocket(url, 'bob')
    scene.onEnd(b.destroy)
    await a.sees('bob', isOnline)
    const since = a.heard.length
    const sentAt = Date.now()
    b.send({ type: 'heartbeat', activity: 'active', ref: 'last words' })
    await b.until((frames) => frames.find(({ type }) => type === 'ok'))
    const answeredAt = Date.now()
    const { presence, at } = await a.sees('bob', isOffline, { since })
    expect(presence.last_seen).toBeWithin(sentAt, answeredAt + 1)
    expectDue(at, presence.last_seen! + TTL_MS + OFFLINE_DELAY_MS)
    expect(a.sightings('bob', since)).toHaveLength(1)
  })

  test('[D1][D2] so is a program that hangs, and last seen is its last beat', async () => {
    const { url } = await scene.server(QUICK)
    const a = await alice(url)
    const b = await scene.holder(url, 'bob', BEAT_MS)
    await a.sees('bob', isOnline)
    const since = a.heard.length
    b.signal('SIGSTOP')
    const stoppedAt = Date.now()
    const { presence, at } = await a.sees('bob', isOffline, { since })
    expectDue(at, presence.last_seen! + TTL_MS + OFFLINE_DELAY_MS)
    expect(presence.last_seen).toBeWithin(stoppedAt - TTL_MS, stoppedAt + BEAT_MS)
  })

  test('[D1] the silent connection is closed with 4408', async () => {
    const { url } = await scene.server(QUICK)
    const b = await scene.person(url, 'bob', beating)
    const silentAt = Date.now()
    b.fallSilent()
    const { code, at } = await b.closed
    expect(code).toBe(4408)
    expectDue(at, silentAt - BEAT_MS + TTL_MS)
  })

  test('[D1] heartbeats of either kind, and any other frame, are a sign of life', async () => {
    const { url } = await scene.server(QUICK)
    const a = await alice(url, ['bob', 'idle-ivy', 'asking-ann', 'carol'])
    await scene.person(url, 'bob', beating)
    await scene.person(url, 'idle-ivy', { ...beating, activity: 'idle' })
    const asking = await scene.person(url, 'asking-ann')
    const timer = setInterval(() => asking.send({ type: 'unwatch', user_ids: [] }), BEAT_MS)
    scene.onEnd(() => clearInterval(timer))
    // Carol came last, so whoever was silent from the start would be missed before her.
    const carol = await scene.person(url, 'carol', beating)
    carol.fallSilent()
    await a.sees('idle-ivy', isAway)
    const since = a.heard.length
    await a.sees('carol', isOnline)
    await a.sees('carol', isOffline, { since })
    for (const userId of ['bob', 'idle-ivy', 'asking-ann']) expect(a.sightings(userId, since)).toEqual([])
  })
})

describe('blips', () => {
  test('[D6] nobody hears of a reload', async () => {
    const { url } = await scene.server(QUICK)
    const a = await alice(url, ['bob', 'carol'])
    const carol = await scene.person(url, 'carol', beating)
    const b = await scene.person(url, 'bob', { deviceId: 'laptop', platform: 'desktop', ...beating })
    const { presence: before } = await a.sees('bob', isOnline)
    await a.sees('carol', isOnline)
    const since = a.heard.length

    b.close()
    await b.closed
    await scene.person(url, 'bob', { deviceId: 'laptop', platform: 'desktop', ...beating })
    // Carol goes after him: an offline of his would be due before hers.
    carol.close()
    await a.sees('carol', isOffline, { since })

    expect(a.sightings('bob', since)).toEqual([])
    expect(await read(url, 'bob')).toEqual({ ...before, source: 'live' })
  })

  test('[D6] a device that was away is still away after a reload', async () => {
    const { url } = await scene.server(QUICK)
    const a = await alice(url, ['bob', 'carol'])
    const carol = await scene.person(url, 'carol', beating)
    const b = await scene.person(url, 'bob', { deviceId: 'laptop', ...beating })
    b.be('idle')
    await a.sees('bob', isAway)
    await a.sees('carol', isOnline)
    const since = a.heard.length

    b.close()
    await b.closed
    await scene.person(url, 'bob', { deviceId: 'laptop', activity: 'idle', ...beating })
    carol.close()
    await a.sees('carol', isOffline, { since })

    expect(a.sightings('bob', since)).toEqual([])
  })

  test('[D9] heartbeats that change nothing tell nobody anything', async () => {
    const { url } = await scene.server(QUICK)
    const a = await alice(url, ['bob', 'carol'])
    const b = await scene.person(url, 'bob', beating)
    await a.sees('bob', isOnline)
    const since = a.heard.length
    const heardByBob = b.heard.length
    for (let beat = 0; beat < 20; beat++) b.be('active')
    await ask(b, { type: 'heartbeat', activity: 'active' })
    await scene.person(url, 'carol', beating)
    await a.sees('carol', isOnline, { since })
    expect(a.sightings('bob', since)).toEqual([])
    expect(b.heard.slice(heardByBob).map(({ frame }) => frame.type)).toEqual(['ok'])
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

  test('[D8] heartbeats have the effect of a connection, and leaving that of a goodbye', async () => {
    const { url } = await scene.server(QUICK)
    const a = await alice(url)
    const startedAt = Date.now()
    const { status, body } = await beat(url, 'active')
    expect(status).toBe(200)
    expect(body).toMatchObject({ heartbeat_interval_ms: BEAT_MS, heartbeat_ttl_ms: TTL_MS })
    const came = await a.sees('bob', isOnline)
    expect(came.at - startedAt).toBeLessThan(AT_ONCE_MS)
    expect(came.presence.devices).toEqual(['mobile'])

    await beat(url, 'idle')
    await a.sees('bob', isAway)
    const since = a.heard.length
    await beat(url, 'active')
    await a.sees('bob', isOnline, { since })

    const leftAt = Date.now()
    const answer = await call(url, 'dev:bob', 'POST', '/api/v1/leave', { device_id: 'phone' })
    expect(answer.status).toBe(204)
    const gone = await a.sees('bob', isOffline, { since })
    expect(gone.at - leftAt).toBeLessThan(AT_ONCE_MS)
    expect(gone.presence.last_seen).toBeWithin(leftAt, gone.at + 1)
  })

  test('[D8] silence is found after TTL and delay, and last seen is the last heartbeat', async () => {
    const { url } = await scene.server(QUICK)
    const a = await alice(url)
    await beat(url, 'active')
    await a.sees('bob', isOnline)
    const since = a.heard.length
    const sentAt = Date.now()
    await beat(url, 'active')
    const answeredAt = Date.now()
    const { presence, at } = await a.sees('bob', isOffline, { since })
    expect(presence.last_seen).toBeWithin(sentAt, answeredAt + 1)
    expectDue(at, presence.last_seen! + TTL_MS + OFFLINE_DELAY_MS)
  })
})

describe('away, calm and lingering', () => {
  test('[D4] no activity for long enough is away, whatever the connection does', async () => {
    const awayAfterMs = 400
    const { url } = await scene.server({ away_after_ms: awayAfterMs })
    const a = await alice(url)
    const startedAt = Date.now()
    const b = await scene.person(url, 'bob')
    const activeSince = Date.now()
    const { at } = await a.sees('bob', isAway)
    expect(at).toBeGreaterThanOrEqual(startedAt + awayAfterMs)
    expect(at).toBeLessThanOrEqual(activeSince + awayAfterMs + LATE_MAX_MS)

    const since = a.heard.length
    const backAt = Date.now()
    b.be('active')
    const back = await a.sees('bob', isOnline, { since })
    expect(back.at - backAt).toBeLessThan(AT_ONCE_MS)
  })

  test('[D6] calm: an arrival is shown after the online delay, and a short one never', async () => {
    const onlineDelayMs = 300
    const { url } = await scene.server({
      policy: 'calm',
      online_delay_ms: onlineDelayMs,
      offline_delay_ms: 400,
    })
    const a = await alice(url, ['bob', 'carol'])
    const b = await scene.person(url, 'bob')
    const startedAt = Date.now()
    await scene.person(url, 'carol')
    const connectedAt = Date.now()
    b.send({ type: 'leave' })
    await b.closed
    const { at } = await a.sees('carol', isOnline)
    expect(at).toBeGreaterThanOrEqual(startedAt + onlineDelayMs)
    expect(at).toBeLessThanOrEqual(connectedAt + onlineDelayMs + LATE_MAX_MS)
    expect(a.sightings('bob').map(({ presence }) => presence.version)).toEqual([0])
  })

  test('[D5] linger: silence is away after the TTL and offline only after lingering', async () => {
    const lingerMs = 1_300
    const { url } = await scene.server({ ...QUICK, policy: 'linger', linger_ms: lingerMs })
    const a = await alice(url)
    const b = await scene.person(url, 'bob', beating)
    b.fallSilent()
    const sentAt = Date.now()
    await ask(b, { type: 'heartbeat', activity: 'active' })
    const answeredAt = Date.now()
    const away = await a.sees('bob', isAway)
    const since = a.heard.length
    const gone = await a.sees('bob', isOffline, { since })
    expect(gone.presence.last_seen).toBeWithin(sentAt, answeredAt + 1)
    expectDue(away.at, gone.presence.last_seen! + TTL_MS)
    expectDue(gone.at, gone.presence.last_seen! + lingerMs)
  })

  test('[D5] linger: a goodbye is a goodbye', async () => {
    const { url } = await scene.server({ ...QUICK, policy: 'linger', linger_ms: 10_000 })
    const a = await alice(url)
    const b = await scene.person(url, 'bob', beating)
    await a.sees('bob', isOnline)
    const since = a.heard.length
    const leftAt = Date.now()
    b.send({ type: 'leave' })
    const { at } = await a.sees('bob', isOffline, { since })
    expect(at - leftAt).toBeLessThan(AT_ONCE_MS)
  })
})
