// The client and connections that end: nobody sees a short interruption, a long one is admitted, and after
// either the truth is shown.
import { describe, expect, test } from 'bun:test'
import type { Socket } from 'bun'
import { SignJWT } from 'jose'
import { connect as connectBare } from '../../../testing/client.ts'
import { arrive, endScenesAfterEach, open, others, serve, servers } from '../../../testing/client-scene.ts'
import { recordingSockets } from '../testing/until.ts'

endScenesAfterEach()

/** Passes bytes on: what is open stays where it is, and what comes goes where it is sent to. */
function startBalancer(first: { url: string }) {
  let target = first
  let isHolding = false
  const listener = Bun.listen<Promise<Socket>>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open(socket) {
        socket.data = Bun.connect({
          hostname: '127.0.0.1',
          port: Number(new URL(target.url).port),
          socket: {
            data: (_, bytes) => void (isHolding || socket.write(bytes)),
            close: () => void socket.end(),
          },
        })
      },
      data(socket, bytes) {
        const kept = Buffer.from(bytes)
        if (isHolding) return
        void socket.data.then((other) => other.write(kept))
      },
      close: (socket) => void socket.data.then((other) => other.end()),
    },
  })
  return {
    url: `http://127.0.0.1:${listener.port}`,
    sendTo(next: { url: string }) {
      target = next
    },
    /** As when a cable is pulled: nothing arrives, and nobody is told. */
    hold() {
      isHolding = true
    },
    stop: () => listener.stop(true),
  }
}

describe('interruptions', () => {
  test('[W9] after a short one nobody is told anything but what changed, and only that was asked for', async () => {
    const server = await serve()
    const sockets = recordingSockets()
    const { dot, diary } = open(server, { WebSocket: sockets.WebSocket })
    const bob = await arrive(server, 'bob')
    dot.watch(['bob', 'carol', 'dave'])
    await diary.until('dave', () => dot.get('bob')?.status === 'online' && dot.get('dave') !== undefined)
    const before = diary.people.length
    const versions = { bob: dot.get('bob')!.version, carol: 0, dave: 0 }
    sockets.opened[0]!.close(4408)
    await arrive(server, 'carol')
    await diary.until('carol', () => dot.get('carol')?.status === 'online')
    expect(sockets.sentOf('watch')[1]).toMatchObject({ known: versions })
    expect(diary.people.slice(before).map(({ user_id }) => user_id)).toEqual(['carol'])
    expect(diary.states).toEqual(['live'])
    bob.send({ type: 'set_availability', status: 'busy' })
    await diary.until('bob', () => dot.get('bob')?.status === 'busy')
  })

  test('[D6] and nobody else saw it', async () => {
    const server = await serve()
    const bob = await arrive(server, 'bob')
    bob.send({ type: 'watch', user_ids: ['alice'] })
    await bob.sees('alice', ({ status }) => status === 'offline')
    const sockets = recordingSockets()
    open(server, { WebSocket: sockets.WebSocket })
    await bob.sees('alice', ({ status }) => status === 'online')
    for (let count = 0; count < 5; count++) {
      sockets.opened[count]!.close(4408)
      await sockets.noted(`welcomed ${count + 1}`)
    }
    bob.send({ type: 'heartbeat', activity: 'active', ref: 1 })
    await bob.next('ok')
    expect(bob.sightings('alice').map(({ presence }) => presence.status)).toEqual(['offline', 'online'])
  })

  test('[C7] when it cannot know for two seconds everybody is stale, told once, until there is a server again', async () => {
    const first = await serve()
    const { dot, diary } = open(first)
    await arrive(first, 'bob')
    dot.watch(['bob', 'carol'])
    await diary.until('bob', () => dot.get('bob')?.status === 'online' && dot.get('carol') !== undefined)
    const before = diary.people.length
    await servers.pop()!.stop()
    const lostAt = Date.now()
    expect([dot.state, dot.get('bob')?.stale]).toEqual(['live', false])
    await diary.until('stale', () => dot.state === 'stale')
    expect(Date.now() - lostAt).toBeGreaterThan(1_500)
    expect(diary.people.slice(before)).toMatchObject([
      { user_id: 'bob', status: 'online', stale: true },
      { user_id: 'carol', stale: true },
    ])
    await serve({ port: Number(new URL(first.url).port) })
    await diary.until('fresh', () => dot.get('bob')?.stale === false, 10_000)
    expect(dot.state).toBe('live')
  })

  test('[C7] a server that drains is left without anybody noticing', async () => {
    const [old, next] = [await serve({ drain_ms: 3_000 }), await serve()]
    const balancer = startBalancer(old)
    const sockets = recordingSockets()
    const { dot, diary } = open(balancer, { WebSocket: sockets.WebSocket })
    dot.watch('bob')
    await diary.until('bob', () => dot.get('bob') !== undefined)
    balancer.sendTo(next)
    await servers.splice(servers.indexOf(old), 1)[0]!.stop()
    expect(sockets.log).toEqual(['dialled 0', 'welcomed 0', 'dialled 1', 'welcomed 1', 'closed 0'])
    await arrive(next, 'bob')
    await diary.until('bob', () => dot.get('bob')?.status === 'online')
    expect(diary.states).toEqual(['live'])
    expect(diary.of('bob').some(({ stale }) => stale)).toBe(false)
    dot.close()
    balancer.stop()
  })

  test('[C7] a connection that is dead without a word is found out, and what was shown is admitted to be old', async () => {
    const server = await serve({ heartbeat_interval_ms: 200, heartbeat_ttl_ms: 600 })
    const balancer = startBalancer(server)
    const { dot, diary } = open(balancer)
    dot.watch('bob')
    await diary.until('bob', () => dot.get('bob') !== undefined)
    balancer.hold()
    await diary.until('stale', () => dot.get('bob')?.stale === true, 12_000)
    expect(dot.state).toBe('stale')
    dot.close()
    balancer.stop()
  })

  test('[C6] a token that expires is replaced, and nobody sees it', async () => {
    const secret = 'a secret for this test, long enough'
    const server = await serve({ dev: false, jwt_secret: secret, server_keys: 'a-key-for-this-test' })
    const sign = (name: string, seconds: number) =>
      new SignJWT({ sub: name })
        .setProtectedHeader({ alg: 'HS256' })
        .setExpirationTime(new Date(Date.now() + seconds * 1000))
        .sign(new TextEncoder().encode(secret))
    let tokens = 0
    const sockets = recordingSockets()
    const token = () => sign('alice', ++tokens === 1 ? 2 : 3600)
    const { dot, diary } = open(server, { token, WebSocket: sockets.WebSocket })
    const bob = await connectBare(server.url, 'bob', { token: await sign('bob', 3600) })
    others.push(bob)
    bob.send({ type: 'watch', user_ids: ['alice'] })
    await diary.until('live', () => dot.state === 'live')
    await sockets.noted('welcomed 1')
    expect(await dot.setAvailability('busy')).toEqual({ ok: true })
    await bob.sees('alice', ({ status }) => status === 'busy')
    expect(
      bob.sightings('alice').some(({ presence }) => presence.status === 'offline' && presence.version > 0),
    ).toBe(false)
    expect([diary.states, diary.failures]).toEqual([['live'], []])
  })

  test('[C6] a token that is none is said, once more tried, and then less and less', async () => {
    const server = await serve({ dev: false, jwt_secret: 'a secret for this test, long enough' })
    let tokens = 0
    const { diary } = open(server, { token: () => `nonsense ${++tokens}` })
    await diary.until('two failures', () => diary.failures.length === 2)
    expect(diary.failures.map(({ code }) => code)).toEqual(['unauthorized', 'unauthorized'])
    expect(tokens).toBe(2)
  })

  test('[S2] when the token is of somebody else, what the one before could see is gone, and so it is said', async () => {
    const server = await serve()
    const sockets = recordingSockets()
    let name = 'alice'
    const { dot, diary } = open(server, { token: async () => `dev:${name}`, WebSocket: sockets.WebSocket })
    await arrive(server, 'bob')
    const seen: string[] = []
    dot.watch('bob', ({ status, stale }) => {
      seen.push(`${status}${stale ? ', or was' : ''}, to ${dot.me?.user_id}: ${dot.get('bob')?.status}`)
    })
    await diary.until('bob', () => dot.get('bob')?.status === 'online')
    name = 'zoe'
    sockets.opened[0]!.close(4408)
    await diary.until('zoe', () => dot.me?.user_id === 'zoe')
    await diary.until('bob', () => dot.get('bob')?.status === 'online')
    expect(seen).toEqual([
      'online, to alice: online',
      'online, or was, to undefined: undefined',
      'online, to zoe: online',
    ])
    const known = JSON.parse(sockets.texts.findLast((text) => text.includes('"watch"'))!).known
    expect(known).toEqual({})
  })
})
