// The public API against a real server, before and while there is a connection. Lost connections are in
// connect-interruptions.test.ts.
import { describe, expect, test } from 'bun:test'
import { COMPACT_ACTIVE, COMPACT_IDLE, HEARTBEAT_ACTIVE, HEARTBEAT_IDLE } from '@greendot/protocol'
import { arrive, endScenesAfterEach, open, serve } from '../../../testing/clients/client-scene.ts'
import { recordingSockets } from '../testing/recording.ts'

endScenesAfterEach()

describe('watching', () => {
  test('[W1] watched users are reported as they are, and then on every change', async () => {
    const server = await serve()
    await arrive(server, 'bob')
    const { dot, log } = open(server)
    const seen: (string | null)[] = []
    dot.watch(['bob', 'carol'], ({ user_id, status }) => seen.push(`${user_id} ${status}`))
    expect([dot.state, dot.get('bob')]).toEqual(['connecting', undefined])
    await log.until('both', () => dot.get('bob') !== undefined && dot.get('carol') !== undefined)
    expect(seen).toEqual(['bob online', 'carol offline'])
    expect(dot.get('bob')).toMatchObject({ status: 'online', devices: ['mobile'], stale: false })
    const carol = await arrive(server, 'carol')
    await log.until('carol', () => dot.get('carol')?.status === 'online')
    carol.send({ type: 'leave' })
    await log.until('carol gone', () => dot.get('carol')?.status === 'offline')
    expect(seen).toEqual(['bob online', 'carol offline', 'carol online', 'carol offline'])
  })

  test('[X3] any number of watches of one user is one watch on the server, until the last one stops', async () => {
    const server = await serve()
    const sockets = recordingSockets()
    const { dot, log } = open(server, { WebSocket: sockets.WebSocket })
    const stops = [dot.watch('bob'), dot.watch(['bob', 'carol']), dot.watch(new Set(['bob']))]
    await log.until('both', () => dot.get('bob') !== undefined)
    stops.push(dot.watch('bob'))
    expect(sockets.sentOf('watch').map(({ user_ids }) => user_ids)).toEqual([['bob', 'carol']])
    for (const stop of stops) {
      expect(dot.get('bob')).toBeDefined()
      stop()
      stop()
    }
    expect([dot.get('bob'), dot.get('carol')]).toEqual([undefined, undefined])
    dot.watch('dave')
    await log.until('dave', () => dot.get('dave') !== undefined)
    expect(
      sockets
        .sentOf('unwatch')
        .flatMap(({ user_ids }) => user_ids)
        .sort(),
    ).toEqual(['bob', 'carol'])
    await arrive(server, 'bob')
    await arrive(server, 'dave')
    await log.until('dave', () => dot.get('dave')?.status === 'online')
    expect(log.of('bob').map(({ status }) => status)).toEqual(['offline'])
  })

  test('[X3] a later listener gets the known presence, in a microtask', async () => {
    const server = await serve()
    const { dot, log } = open(server)
    dot.watch('bob')
    await log.until('bob', () => dot.get('bob') !== undefined)
    const calls: unknown[] = []
    dot.watch('bob', (person, before) => calls.push(person, before))
    dot.watch('bob', () => calls.push('stopped in time'))()
    expect(calls).toEqual([])
    await Promise.resolve()
    expect(calls).toEqual([dot.get('bob'), undefined])
  })

  test('[X3] a watch that another listener stops is not called', async () => {
    const server = await serve()
    const { dot, log } = open(server)
    const calls: string[] = []
    dot.watch('bob', () => stop())
    const stop = dot.watch('bob', () => calls.push('after it was stopped'))
    await log.until('bob', () => dot.get('bob') !== undefined)
    expect(calls).toEqual([])
  })

  test('[W1] an invalid id is reported as an error, and the valid ones are watched', async () => {
    const { dot, log } = open(await serve())
    dot.watch(['bob', 'b o b', ''])
    await log.until('bob', () => dot.get('bob') !== undefined)
    expect(log.failures.map(({ code }) => code)).toEqual(['invalid_id', 'invalid_id'])
  })

  test('[W1] over the watch limit there is an error, and the others stay watched', async () => {
    const server = await serve({ watch_limit: 3 })
    const { dot, log } = open(server)
    const stop = dot.watch(['a', 'b', 'c'])
    await log.until('c', () => dot.get('c') !== undefined)
    dot.watch('d')
    await log.until('a failure', () => log.failures.length > 0)
    expect(log.failures).toMatchObject([{ code: 'watch_limit' }])
    expect(dot.get('a')).toBeDefined()
    stop()
    await log.until('d', () => dot.get('d') !== undefined)
  })
})

describe('requests', () => {
  test('[S1, S3] requests made before there is a connection are sent when there is one', async () => {
    const server = await serve()
    const { dot, log } = open(server)
    const answers = await Promise.all([
      dot.setAvailability('busy', { expiresAt: new Date('2099-12-31') }),
      dot.setCustomStatus({ text: 'In a meeting', emoji: '📅', expiresAt: '2099-12-31T17:00:00Z' }),
    ])
    expect(answers).toEqual([{ ok: true }, { ok: true }])
    await log.until('me', () => dot.me?.custom_status !== null && dot.me?.status === 'busy')
    expect(dot.me).toMatchObject({
      user_id: 'alice',
      availability: 'busy',
      availability_expires_at: Date.parse('2099-12-31'),
      custom_status: { text: 'In a meeting', emoji: '📅', expires_at: Date.parse('2099-12-31T17:00:00Z') },
    })
    expect(await dot.setCustomStatus(null)).toEqual({ ok: true })
    expect(await dot.setAvailability('online')).toEqual({ ok: true })
    await log.until('me', () => dot.me?.custom_status === null && dot.me.availability === 'auto')
  })

  test('[S3] a refused request resolves with a code', async () => {
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

  test('[C7] a request without an answer is sent again after a reconnect', async () => {
    const server = await serve()
    const sockets = recordingSockets()
    const { dot, log } = open(server, { WebSocket: sockets.WebSocket })
    await log.until('live', () => dot.state === 'live')
    const [socket] = sockets.opened
    // Frames sent on a closing socket are lost.
    socket!.close(4408)
    expect(await dot.setAvailability('away')).toEqual({ ok: true })
    expect(sockets.opened).toHaveLength(2)
  })

  test('[D2] leave and join are visible at once', async () => {
    const server = await serve({ offline_delay_ms: 60_000 })
    const bob = await arrive(server, 'bob')
    bob.send({ type: 'watch', user_ids: ['alice'] })
    const { dot, log } = open(server)
    dot.watch('bob')
    await bob.sees('alice', ({ status }) => status === 'online')
    await log.until('bob', () => dot.get('bob') !== undefined)
    await dot.leave()
    expect([dot.state, dot.get('bob')?.stale]).toEqual(['left', true])
    await bob.sees('alice', ({ status, version }) => status === 'offline' && version > 0)
    expect(await dot.setAvailability('busy')).toMatchObject({ ok: false, code: 'unavailable' })
    const since = bob.heard.length
    dot.join()
    await bob.sees('alice', ({ status }) => status === 'online', { since })
    await log.until('bob', () => dot.get('bob')?.stale === false)
    expect(log.states).toEqual(['live', 'left', 'connecting', 'live'])
  })

  test('[D2] leave followed by join in one turn ends online', async () => {
    const { dot, log } = open(await serve())
    await log.until('live', () => dot.state === 'live')
    const left = dot.leave()
    dot.join()
    await left
    await log.until('live again', () => log.states.length === 3)
    expect(log.states).toEqual(['live', 'left', 'live'])
  })

  test('[D2] leave without a connection resolves at once', async () => {
    const { dot } = open({ url: 'http://127.0.0.1:1' })
    await dot.leave()
    expect(dot.state).toBe('left')
  })

  test('[D4] activity set by the app is visible', async () => {
    const server = await serve()
    const bob = await arrive(server, 'bob')
    bob.send({ type: 'watch', user_ids: ['alice'] })
    const { dot } = open(server)
    await bob.sees('alice', ({ status }) => status === 'online')
    dot.setActivity('idle')
    await bob.sees('alice', ({ status }) => status === 'away')
    const since = bob.heard.length
    dot.setActivity('active')
    await bob.sees('alice', ({ status }) => status === 'online', { since })
  })

  test('[D1] heartbeats are the texts that the server recognises without parsing', async () => {
    const server = await serve({ heartbeat_interval_ms: 50, heartbeat_ttl_ms: 10_000 })
    const said = async (isPlain: boolean, active: string, idle: string) => {
      const sockets = recordingSockets({ isPlain })
      const { dot, log } = open(server, { WebSocket: sockets.WebSocket })
      await log.until('live', () => dot.state === 'live')
      dot.setActivity('idle')
      await sockets.said(idle)
      expect(sockets.texts.filter((text) => text !== active && text !== idle)).toEqual([])
      expect(log.failures).toEqual([])
    }
    await said(false, COMPACT_ACTIVE, COMPACT_IDLE)
    await said(true, HEARTBEAT_ACTIVE, HEARTBEAT_IDLE)
  })

  test('[D2] close sends no leave, fails pending requests and forgets what was known', async () => {
    const server = await serve({ offline_delay_ms: 100 })
    const bob = await arrive(server, 'bob')
    bob.send({ type: 'watch', user_ids: ['alice'] })
    const sockets = recordingSockets()
    const { dot, log } = open(server, { WebSocket: sockets.WebSocket })
    dot.watch('bob')
    await log.until('bob', () => dot.get('bob') !== undefined)
    const request = dot.setAvailability('busy')
    dot.close()
    expect(await request).toMatchObject({ ok: false, code: 'unavailable' })
    await bob.sees('alice', ({ status, version }) => status === 'offline' && version > 0)
    expect(sockets.sentOf('leave')).toEqual([])
    expect([dot.state, dot.get('bob')]).toEqual(['closed', undefined])
    expect(log.people).toHaveLength(1)
  })
})
