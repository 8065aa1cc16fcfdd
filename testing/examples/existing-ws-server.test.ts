// The example of a server that existed before Greendot, as a process of its own: its plain WebSocket clients are present,
// and when it is killed they are shown as offline no later than a client of our own that fell silent after them.
import { describe, expect, test } from 'bun:test'
import { CLOSE, type Presence } from '@greendot/protocol'
import { greendot } from '../../packages/client/src/server.ts'
import { clearAfterEach } from '../clients/clearing.ts'
import { connect, type TestClient } from '../clients/client.ts'
import { createPatientClock } from '../clients/patient-clock.ts'
import { type SettingsInput, startServer, type TestServer } from '../clients/server.ts'
import { call } from '../e2e/scene.ts'
import { WAIT_MS, within } from '../services/within.ts'
import { startExample } from './example.ts'

const NODE = Bun.which('node')
const noNode = NODE === null ? ' (Node is not installed here)' : ''
const REPORT_EVERY_MS = 200
const BEAT_EVERY_MS = 200

const onEnd = clearAfterEach()

async function start(settings: SettingsInput) {
  // A machine that is busy does not make clients seem silent.
  const server = await startServer(settings, { clock: createPatientClock() })
  onEnd(server.stop)
  const env = { REPORT_EVERY_MS: String(REPORT_EVERY_MS) }
  const example = await startExample('existing-ws-server', server.url, { env, runtime: NODE! })
  onEnd(example.stop)
  const url = (await example.says(/^chat ready /)).replace('chat ready ', '')
  return { server, example, url }
}

/** A client that knows nothing of Greendot. */
async function join(url: string, user: string) {
  const socket = new WebSocket(`${url}/?user=${user}&device=laptop`)
  onEnd(() => socket.close())
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.onclose = ({ code, reason }) => resolve({ code, reason })
  })
  await within(
    WAIT_MS,
    `${user} to connect`,
    new Promise((resolve) => socket.addEventListener('open', resolve)),
  )
  return { socket, closed }
}

async function watcher(server: TestServer, userIds: string[]): Promise<TestClient> {
  const carol = await connect(server.url, 'carol')
  const timer = setInterval(() => carol.send({ type: 'heartbeat', activity: 'active' }), BEAT_EVERY_MS)
  onEnd(() => {
    clearInterval(timer)
    carol.close()
  })
  carol.send({ type: 'watch', user_ids: userIds })
  return carol
}

const isOnline = ({ status }: Presence) => status === 'online'
const isGone = ({ status, version }: Presence) => status === 'offline' && version > 0

describe.skipIf(NODE === null)(`an existing server with ws, in Node${noNode}`, () => {
  test('[C4] its clients come and go, and one that the backend disconnects is closed', async () => {
    const { server, url } = await start({ offline_delay_ms: 100 })
    const carol = await watcher(server, ['alice', 'bob'])
    const [alice, bob] = [await join(url, 'alice'), await join(url, 'bob')]
    for (const name of ['alice', 'bob']) await carol.sees(name, isOnline)
    const heard = new Promise((resolve) => {
      alice.socket.onmessage = ({ data }) => resolve(data)
    })
    bob.socket.send('hello')
    expect(await within(WAIT_MS, 'the chat', heard)).toBe('bob: hello')
    bob.socket.close()
    await carol.sees('bob', isGone)
    await greendot({ url: server.url, serverKey: 'dev' }).disconnect('alice', { reason: 'signed out' })
    const { code, reason } = await within(WAIT_MS, 'the end of alice', alice.closed)
    expect([code, reason]).toEqual([CLOSE.disconnected, 'signed out'])
    await carol.sees('alice', isGone)
  })

  test('[C4, X1] kill -9: no client of it is shown longer than one of ours that fell silent after it', async () => {
    const { server, example, url } = await start({
      heartbeat_interval_ms: 500,
      heartbeat_ttl_ms: 2_000,
      offline_delay_ms: 300,
    })
    const names = ['alice', 'bob']
    const carol = await watcher(server, [...names, 'dave'])
    for (const name of names) await join(url, name)
    for (const name of names) await carol.sees(name, isOnline)
    await example.stop()
    // The last sign of life of dave is later than those of the others.
    await call(server.url, 'dev:dave', 'POST', '/api/v1/heartbeat', { device_id: 'd', activity: 'active' })
    await carol.sees('dave', isOnline)
    const dave = await carol.sees('dave', isGone)
    for (const name of names) {
      const ghost = await carol.sees(name, isGone)
      expect(ghost.presence.last_seen!).toBeLessThanOrEqual(dave.presence.last_seen!)
      expect(ghost.at).toBeLessThanOrEqual(dave.at)
    }
  })
})
