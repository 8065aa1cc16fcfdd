// The public API while connections end, against real servers. When presence becomes stale is tested on a
// fake clock in dot/dot.test.ts.
import { describe, expect, test } from 'bun:test'
import type { Socket } from 'bun'
import { SignJWT } from 'jose'
import { connect as connectBare } from '../../../testing/clients/client.ts'
import {
  arrive,
  endScenesAfterEach,
  open,
  others,
  serve,
  servers,
} from '../../../testing/clients/client-scene.ts'
import { createPatientClock } from '../../../testing/clients/patient-clock.ts'
import { freePort } from '../../../testing/services/ports.ts'
import { recordingSockets } from '../testing/recording.ts'

endScenesAfterEach()

/** A TCP proxy: open connections stay where they are, and new ones go to the present target. */
function startBalancer(first: { url: string }) {
  let target = first
  const listener = Bun.listen<Promise<Socket>>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open(socket) {
        socket.data = Bun.connect({
          hostname: '127.0.0.1',
          port: Number(new URL(target.url).port),
          socket: {
            data: (_, bytes) => void socket.write(bytes),
            close: () => void socket.end(),
          },
        })
      },
      data(socket, bytes) {
        const kept = Buffer.from(bytes)
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
    stop: () => listener.stop(true),
  }
}

describe('interruptions', () => {
  test('[W9] a reconnect asks only for what changed since the known versions', async () => {
    const server = await serve()
    const sockets = recordingSockets()
    const { dot, log } = open(server, { WebSocket: sockets.WebSocket })
    const bob = await arrive(server, 'bob')
    dot.watch(['bob', 'carol', 'dave'])
    await log.until('dave', () => dot.get('bob')?.status === 'online' && dot.get('dave') !== undefined)
    const versions = { bob: dot.get('bob')!.version, carol: 0, dave: 0 }
    sockets.opened[0]!.close(4408)
    await arrive(server, 'carol')
    await log.until('carol', () => dot.get('carol')?.status === 'online')
    expect(sockets.sentOf('watch')[1]).toMatchObject({ known: versions })
    bob.send({ type: 'set_availability', status: 'busy' })
    await log.until('bob', () => dot.get('bob')?.status === 'busy')
  })

  test('[D6] reconnects within the offline delay are not visible to others', async () => {
    const server = await serve({ offline_delay_ms: 60_000 })
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

  test('[C7] without a server watched users become stale once, and fresh when it is back', async () => {
    const port = await freePort()
    const first = await serve({ port })
    const { dot, log } = open(first)
    await arrive(first, 'bob')
    dot.watch(['bob', 'carol'])
    await log.until('bob', () => dot.get('bob')?.status === 'online' && dot.get('carol') !== undefined)
    const before = log.people.length
    await servers.pop()!.stop()
    await log.until('stale', () => dot.state === 'stale')
    expect(log.people.slice(before)).toMatchObject([
      { user_id: 'bob', status: 'online', stale: true },
      { user_id: 'carol', stale: true },
    ])
    await serve({ port })
    await log.until('fresh', () => dot.get('bob')?.stale === false)
    expect(dot.state).toBe('live')
  })

  test('[C7] a draining server is left after the next one has welcomed the client', async () => {
    // The client comes back within half of it, and what is left is enough for the welcome.
    const [old, next] = [await serve({ drain_ms: 8_000 }, createPatientClock()), await serve()]
    const balancer = startBalancer(old)
    const sockets = recordingSockets()
    const { dot, log } = open(balancer, { WebSocket: sockets.WebSocket })
    dot.watch('bob')
    await log.until('bob', () => dot.get('bob') !== undefined)
    balancer.sendTo(next)
    await servers.splice(servers.indexOf(old), 1)[0]!.stop()
    expect(sockets.log).toEqual(['dialled 0', 'welcomed 0', 'dialled 1', 'welcomed 1', 'closed 0'])
    await arrive(next, 'bob')
    await log.until('bob', () => dot.get('bob')?.status === 'online')
    expect(log.states).toEqual(['live'])
    expect(log.of('bob').some(({ stale }) => stale)).toBe(false)
    dot.close()
    balancer.stop()
  })

  test('[C6] an expired token is replaced, without a visible interruption', async () => {
    const secret = 'a secret for this test, long enough'
    const server = await serve({ dev: false, jwt_secret: secret, offline_delay_ms: 60_000 })
    const sign = (name: string, seconds: number) =>
      new SignJWT({ sub: name })
        .setProtectedHeader({ alg: 'HS256' })
        .setExpirationTime(new Date(Date.now() + seconds * 1000))
        .sign(new TextEncoder().encode(secret))
    let tokens = 0
    const sockets = recordingSockets()
    const token = () => sign('alice', ++tokens === 1 ? 2 : 3600)
    const { dot, log } = open(server, { token, WebSocket: sockets.WebSocket })
    const bob = await connectBare(server.url, 'bob', { token: await sign('bob', 3600) })
    others.push(bob)
    bob.send({ type: 'watch', user_ids: ['alice'] })
    await log.until('live', () => dot.state === 'live')
    await sockets.noted('welcomed 1')
    expect(await dot.setAvailability('busy')).toEqual({ ok: true })
    await bob.sees('alice', ({ status }) => status === 'busy')
    expect(
      bob.sightings('alice').some(({ presence }) => presence.status === 'offline' && presence.version > 0),
    ).toBe(false)
    expect(log.failures).toEqual([])
  })

  test('[C6] an invalid token is an error, and is fetched again once at once', async () => {
    const server = await serve({ dev: false, jwt_secret: 'a secret for this test, long enough' })
    let tokens = 0
    const { log } = open(server, { token: () => `nonsense ${++tokens}` })
    await log.until('two failures', () => log.failures.length === 2)
    expect(log.failures.map(({ code }) => code)).toEqual(['unauthorized', 'unauthorized'])
    expect(tokens).toBe(2)
  })

  test('[S2] a token of another user marks everything stale, until the view of that user arrives', async () => {
    const server = await serve()
    const sockets = recordingSockets()
    let name = 'alice'
    const { dot, log } = open(server, { token: async () => `dev:${name}`, WebSocket: sockets.WebSocket })
    await arrive(server, 'bob')
    const seen: string[] = []
    dot.watch('bob', ({ status, stale }) => {
      seen.push(`${status}${stale ? ', stale' : ''}, to ${dot.me?.user_id}: ${dot.get('bob')?.status}`)
    })
    await log.until('bob', () => dot.get('bob')?.status === 'online')
    name = 'zoe'
    sockets.opened[0]!.close(4408)
    await log.until('zoe', () => dot.me?.user_id === 'zoe')
    await log.until('bob', () => dot.get('bob')?.status === 'online')
    expect(seen).toEqual([
      'online, to alice: online',
      'online, stale, to undefined: undefined',
      'online, to zoe: online',
    ])
    const known = JSON.parse(sockets.texts.findLast((text) => text.includes('"watch"'))!).known
    expect(known).toEqual({})
  })
})
