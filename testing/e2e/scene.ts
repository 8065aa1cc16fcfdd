// What an end-to-end test works with: servers, users with their devices, processes that hold a socket.
// Everything is cleared away after the test, clients before servers.
import { resolve } from 'node:path'
import { type Activity, HEARTBEAT_ACTIVE, HEARTBEAT_IDLE, type QueriedPresence } from '@greendot/protocol'
import type { Clock } from '../../packages/server/src/platform/clock.ts'
import { clearAfterEach } from '../clients/clearing.ts'
import { type ClientOptions, connect, type TestClient, webSocketUrl } from '../clients/client.ts'
import {
  type SettingsInput,
  spawnServer,
  startServer,
  type TestProcess,
  type TestServer,
} from '../clients/server.ts'

const HOLDER = resolve(import.meta.dir, 'socket-holder.ts')

/** A client that heartbeats, as every real one does. */
export interface Person extends TestClient {
  /** Says so at once and with every beat from now on. */
  be(activity: Activity): void
  /** The connection stays and nothing is sent any more. */
  fallSilent(): void
}

export interface PersonOptions extends ClientOptions {
  beatEveryMs?: number
  activity?: Activity
}

/** Another process that holds a heartbeating socket; it can be killed or stopped like a program. */
export interface Holder {
  pid: number
  signal(signal: NodeJS.Signals): void
}

export interface Scene {
  server(settings?: SettingsInput, clock?: Clock): Promise<TestServer>
  /** With `folder` it starts again on what another process left. `log` is given its log lines, instead of stderr. */
  process(settings?: SettingsInput, folder?: string, log?: (line: string) => void): Promise<TestProcess>
  person(url: string, userId: string, options?: PersonOptions): Promise<Person>
  holder(url: string, userId: string, beatEveryMs: number): Promise<Holder>
  /** Resolves when all that was done before has reached `watcher`, who watches `marker`. */
  mark(watcher: Person, url: string): Promise<void>
  /** Anything else that has to be cleared away. */
  onEnd(clear: () => unknown): void
}

const BEAT_EVERY_MS = 5_000

export function useScene(): Scene {
  const onEnd = clearAfterEach()

  const scene: Scene = {
    async server(settings, clock) {
      const server = await startServer(settings, { clock })
      onEnd(server.stop)
      return server
    },
    async process(settings, folder, log) {
      const server = await spawnServer(settings, folder, log)
      // Stopping one that was killed only removes its folder.
      onEnd(server.stop)
      return server
    },
    async person(url, userId, options = {}) {
      const person = await enter(url, userId, options)
      onEnd(person.close)
      return person
    },
    async holder(url, userId, beatEveryMs) {
      const child = Bun.spawn([process.execPath, HOLDER, webSocketUrl(url, userId), String(beatEveryMs)], {
        stdin: 'ignore',
        stdout: 'pipe',
        stderr: 'inherit',
      })
      onEnd(async () => {
        child.kill('SIGKILL')
        await child.exited
      })
      const { value } = await child.stdout.getReader().read()
      if (!new TextDecoder().decode(value).startsWith('open')) throw new Error('the holder found no server')
      return { pid: child.pid, signal: (signal) => child.kill(signal) }
    },
    async mark(watcher, url) {
      const since = watcher.heard.length
      const marker = await scene.person(url, 'marker')
      await watcher.sees('marker', isOnline, { since })
      // Going offline waits for the archive as other departures do, so it overtakes none.
      marker.send({ type: 'leave' })
      await watcher.sees('marker', isOffline, { since })
    },
    onEnd,
  }
  return scene
}

async function enter(url: string, userId: string, options: PersonOptions): Promise<Person> {
  let activity = options.activity ?? 'active'
  const client = await connect(url, userId, options)
  const beat = () => client.send(activity === 'active' ? HEARTBEAT_ACTIVE : HEARTBEAT_IDLE)
  const timer = setInterval(beat, options.beatEveryMs ?? BEAT_EVERY_MS)
  const fallSilent = () => clearInterval(timer)
  void client.closed.then(fallSilent)
  return {
    ...client,
    be(next) {
      activity = next
      beat()
    },
    fallSilent,
  }
}

/** One HTTP request with a token: `dev:bob` is bob, `dev` the server key. */
export async function call<Body = unknown>(
  url: string,
  token: string,
  method: string,
  path: string,
  body?: object,
): Promise<{ status: number; body: Body }> {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, body: text === '' ? null : JSON.parse(text) }
}

/** What a stranger reads of a user over HTTP. */
export async function read(url: string, userId: string): Promise<QueriedPresence> {
  return (await call<QueriedPresence>(url, 'dev:stranger', 'GET', `/api/v1/presence/${userId}`)).body
}

/** Watches and returns once the snapshot is there. */
export async function watch(client: TestClient, userIds: string[], known: Record<string, number> = {}) {
  client.send({ type: 'watch', user_ids: userIds, known })
  return (await client.next('presence_state')).states
}

/** Sends a frame and returns once it was answered with `ok`. */
export async function ask(client: TestClient, frame: object): Promise<void> {
  const ref = `ask-${++asked}`
  client.send({ ...frame, ref })
  await client.next('ok', (answer) => answer.ref === ref)
}
let asked = 0

export const isStatus = (status: string) => (presence: { status: string | null }) =>
  presence.status === status
export const isOnline = isStatus('online')
export const isAway = isStatus('away')
export const isOffline = isStatus('offline')
