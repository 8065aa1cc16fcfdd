// The client against a real server: what an app asks for and what it gets, before there is a connection and
// while there is one. What happens when it is gone is in connect-interruptions.test.ts.
import { describe, expect, test } from 'bun:test'
import { HEARTBEAT_ACTIVE, HEARTBEAT_IDLE } from '@greendot/protocol'
import { arrive, endScenesAfterEach, open, serve } from '../../../testing/client-scene.ts'
import { recordingSockets } from '../testing/until.ts'

endScenesAfterEach()

describe('watching', () => {
  test('[W1] everybody as they are, and then every change', async () => {
    const server = await serve()
    await arrive(server, 'bob')
    const { dot, diary } = open(server)
    const seen: (string | null)[] = []
    dot.watch(['bob', 'carol'], ({ user_id, status }) => seen.push(`${user_id} ${status}`))
    expect([dot.state, dot.get('bob')]).toEqual(['connecting', undefined])
    await diary.until('both', () => dot.get('bob') !== undefined && dot.get('carol') !== undefined)
    expect(seen).toEqual(['bob online', 'carol offline'])
    expect(dot.get('bob')).toMatchObject({ status: 'online', devices: ['mobile'], stale: false })
    const carol = await arrive(server, 'carol')
    await diary.until('carol', () => dot.get('carol')?.status === 'online')
    carol.send({ type: 'leave' })
    await diary.until('carol gone', () => dot.get('carol')?.status === 'offline')
    expect(seen).toEqual(['bob online', 'carol offline', 'carol online', 'carol offline'])
  })

  test('[X3] however many watch somebody, the server hears of it once, and of the end of it once', async () => {
    const server = await serve()
    const sockets = recordingSockets()
    const { dot, diary } = open(server, { WebSocket: sockets.WebSocket })
    const stops = [dot.watch('bob'), dot.watch(['bob', 'carol']), dot.watch(new Set(['bob']))]
    await diary.until('both', () => dot.get('bob') !== undefined)
    stops.push(dot.watch('bob'))
    expect(sockets.sentOf('watch').map(({ user_ids }) => user_ids)).toEqual([['bob', 'carol']])
    for (const stop of stops) {
      expect(dot.get('bob')).toBeDefined()
      stop()
      stop()
    }
    expect([dot.get('bob'), dot.get('carol')]).toEqual([undefined, undefined])
    dot.watch('dave')
    await diary.until('dave', () => dot.get('dave') !== undefined)
    expect(
      sockets
        .sentOf('unwatch')
        .flatMap(({ user_ids }) => user_ids)
        .sort(),
    ).toEqual(['bob', 'carol'])
    await arrive(server, 'bob')
    await arrive(server, 'dave')
    await diary.until('dave', () => dot.get('dave')?.status === 'online')
    expect(diary.of('bob').map(({ status }) => status)).toEqual(['offline'])
  })

  test('[X3] whoever comes later is told what is known, soon but not at once', async () => {
    const server = await serve()
    const { dot, diary } = open(server)
    dot.watch('bob')
    await diary.until('bob', () => dot.get('bob') !== undefined)
    const told: unknown[] = []
    dot.watch('bob', (person, before) => told.push(person, before))
    dot.watch('bob', () => told.push('stopped in time'))()
    expect(told).toEqual([])
    await Promise.resolve()
    expect(told).toEqual([dot.get('bob'), undefined])
  })

  test('[X3] stopping and watching again in one moment costs nothing, and loses nobody', async () => {
    const server = await serve()
    const sockets = recordingSockets()
    const { dot, diary } = open(server, { WebSocket: sockets.WebSocket })
    const stop = dot.watch('bob')
    await diary.until('bob', () => dot.get('bob') !== undefined)
    stop()
    dot.watch('bob')
    await diary.until('bob', () => dot.get('bob') !== undefined)
    await arrive(server, 'bob')
    await diary.until('bob', () => dot.get('bob')?.status === 'online')
    expect([sockets.sentOf('watch').length, sockets.sentOf('unwatch').length]).toEqual([1, 0])
  })

  test('[X3] whoever is stopped by another listener hears nothing after it', async () => {
    const server = await serve()
    const { dot, diary } = open(server)
    const told: string[] = []
    dot.watch('bob', () => stop())
    const stop = dot.watch('bob', () => told.push('after it was stopped'))
    await diary.until('bob', () => dot.get('bob') !== undefined)
    expect(told).toEqual([])
  })

  test('[W1] what is no id is refused by itself, and nobody else is', async () => {
    const { dot, diary } = open(await serve())
    dot.watch(['bob', 'b o b', ''])
    await diary.until('bob', () => dot.get('bob') !== undefined)
    expect(diary.failures.map(({ code }) => code)).toEqual(['invalid_id', 'invalid_id'])
  })

  test('[W1] past the limit the app is told, and those who were watched are still', async () => {
    const server = await serve({ watch_limit: 3 })
    const { dot, diary } = open(server)
    const stop = dot.watch(['a', 'b', 'c'])
    await diary.until('c', () => dot.get('c') !== undefined)
    dot.watch('d')
    await diary.until('a failure', () => diary.failures.length > 0)
    expect(diary.failures).toMatchObject([{ code: 'watch_limit' }])
    expect(dot.get('a')).toBeDefined()
    stop()
    await diary.until('d', () => dot.get('d') !== undefined)
  })

  test('[W1] 500 people with ids as long as they can be', async () => {
    const ids = Array.from({ length: 500 }, (_, index) => `${index}`.padEnd(128, '"'))
    const { dot, diary } = open(await serve())
    dot.watch(ids)
    await diary.until('everybody', () => ids.every((id) => dot.get(id) !== undefined))
    expect(diary.failures).toEqual([])
  })
})

describe('choosing', () => {
  test('[S1, S3] what is chosen before there is a connection is done when there is one', async () => {
    const server = await serve()
    const { dot, diary } = open(server)
    const answers = await Promise.all([
      dot.setAvailability('busy', { expiresAt: new Date('2099-12-31') }),
      dot.setCustomStatus({ text: 'In a meeting', emoji: '📅', expiresAt: '2099-12-31T17:00:00Z' }),
    ])
    expect(answers).toEqual([{ ok: true }, { ok: true }])
    await diary.until('me', () => dot.me?.custom_status !== null && dot.me?.status === 'busy')
    expect(dot.me).toMatchObject({
      user_id: 'alice',
      availability: 'busy',
      availability_expires_at: Date.parse('2099-12-31'),
      custom_status: { text: 'In a meeting', emoji: '📅', expires_at: Date.parse('2099-12-31T17:00:00Z') },
    })
    expect(await dot.setCustomStatus(null)).toEqual({ ok: true })
    expect(await dot.setAvailability('online')).toEqual({ ok: true })
    await diary.until('me', () => dot.me?.custom_status === null && dot.me.availability === 'auto')
  })

  test('[S3] a refusal is an answer with a code', async () => {
    const { dot } = open(await serve())
    expect(await dot.setCustomStatus({ text: 'x'.repeat(141) })).toMatchObject({
      ok: false,
      code: 'text_too_long',
    })
    expect(await dot.setAvailability('busy', { expiresAt: 5 })).toMatchObject({
      ok: false,
      code: 'invalid_expiry',
    })
  })

  test('[C7] what was chosen and not answered when the connection broke is chosen again', async () => {
    const server = await serve()
    const sockets = recordingSockets()
    const { dot, diary } = open(server, { WebSocket: sockets.WebSocket })
    await diary.until('live', () => dot.state === 'live')
    const [socket] = sockets.opened
    // Said into a socket that is closing, it is lost.
    socket!.close(4408)
    expect(await dot.setAvailability('away')).toEqual({ ok: true })
    expect(sockets.opened).toHaveLength(2)
    expect(diary.states).toEqual(['live'])
  })

  test('[D2] leaving is seen at once, and coming back too', async () => {
    const server = await serve({ offline_delay_ms: 60_000 })
    const bob = await arrive(server, 'bob')
    bob.send({ type: 'watch', user_ids: ['alice'] })
    const { dot, diary } = open(server)
    dot.watch('bob')
    await bob.sees('alice', ({ status }) => status === 'online')
    await diary.until('bob', () => dot.get('bob') !== undefined)
    await dot.leave()
    expect([dot.state, dot.get('bob')?.stale]).toEqual(['left', true])
    await bob.sees('alice', ({ status, version }) => status === 'offline' && version > 0)
    expect(await dot.setAvailability('busy')).toMatchObject({ ok: false, code: 'unavailable' })
    const since = bob.heard.length
    dot.join()
    await bob.sees('alice', ({ status }) => status === 'online', { since })
    await diary.until('bob', () => dot.get('bob')?.stale === false)
    expect(diary.states).toEqual(['live', 'left', 'connecting', 'live'])
  })

  test('[D2] whoever leaves and joins in one breath is here', async () => {
    const { dot, diary } = open(await serve())
    await diary.until('live', () => dot.state === 'live')
    const left = dot.leave()
    dot.join()
    await left
    await diary.until('live again', () => diary.states.length === 3)
    expect(diary.states).toEqual(['live', 'left', 'live'])
  })

  test('[D2] leaving before there is a connection ends at once', async () => {
    const { dot } = open({ url: 'http://127.0.0.1:1' })
    await dot.leave()
    expect(dot.state).toBe('left')
  })

  test('[D4] what the app says about activity is seen', async () => {
    const server = await serve({ away_after_ms: 300, heartbeat_interval_ms: 100 })
    const bob = await arrive(server, 'bob')
    const idlers = ['carol', 'dave']
    bob.send({ type: 'watch', user_ids: ['alice', ...idlers] })
    const { dot } = open(server)
    await bob.sees('alice', ({ status }) => status === 'online')
    dot.setActivity('idle')
    await bob.sees('alice', ({ status }) => status === 'away')
    const since = bob.heard.length
    dot.setActivity('active')
    await bob.sees('alice', ({ status }) => status === 'online', { since })
    // Outside of a page nobody can tell, and whoever runs is active: for as long as it runs.
    dot.setActivity('auto')
    // These do nothing after they came: twice in turn, everybody who is idle since before is away by then.
    for (const idler of idlers) {
      await arrive(server, idler)
      await bob.sees(idler, ({ status }) => status === 'away')
    }
    expect(bob.sightings('alice', since).map(({ presence }) => presence.status)).toEqual(['online'])
  })

  test('[D1] heartbeats are the bytes that the server knows without parsing', async () => {
    const server = await serve({ heartbeat_interval_ms: 50, heartbeat_ttl_ms: 10_000 })
    const sockets = recordingSockets()
    const { dot, diary } = open(server, { WebSocket: sockets.WebSocket })
    await diary.until('live', () => dot.state === 'live')
    dot.setActivity('idle')
    await sockets.said(HEARTBEAT_IDLE)
    const known: string[] = [HEARTBEAT_ACTIVE, HEARTBEAT_IDLE]
    expect(sockets.texts.filter((text) => !known.includes(text))).toEqual([])
  })

  test('[D2] closing says no goodbye, hears nothing more and keeps nothing', async () => {
    const server = await serve({ offline_delay_ms: 300 })
    const bob = await arrive(server, 'bob')
    bob.send({ type: 'watch', user_ids: ['alice'] })
    const { dot, diary } = open(server)
    dot.watch('bob')
    await diary.until('bob', () => dot.get('bob') !== undefined)
    const choice = dot.setAvailability('busy')
    dot.close()
    const closedAt = Date.now()
    expect(await choice).toMatchObject({ ok: false, code: 'unavailable' })
    const gone = await bob.sees('alice', ({ status, version }) => status === 'offline' && version > 0)
    expect(gone.at - closedAt).toBeGreaterThanOrEqual(250)
    expect([dot.state, dot.get('bob')]).toEqual(['closed', undefined])
    expect(diary.people).toHaveLength(1)
  })
})
