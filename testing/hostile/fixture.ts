// The fixture of attacks. Mallory attacks, Carol watches Mallory and Bob. `unharmed` runs an attack and checks
// that neither state changed, Carol received nothing, the server is healthy, and a change of Bob still
// reaches Carol.
import { afterAll, beforeAll, expect } from 'bun:test'
import { HEARTBEAT_ACTIVE, type OwnPresence } from '@greendot/protocol'
import { type ClientOptions, connect, type TestClient } from '../clients/client.ts'
import { type SettingsInput, startServer, type TestServer } from '../clients/server.ts'
import { call } from '../http/calls.ts'
import { openRaw, type RawSocket, upgradeRequest } from './raw-socket.ts'

export interface AttackFixture {
  readonly url: string
  /** One more connection of Mallory, who is online already, so watchers see no change. */
  attacker(options?: ClientOptions): Promise<TestClient>
  /** The same on a raw socket that has received its welcome. */
  rawAttacker(): Promise<RawSocket>
  /** Sends a valid frame and waits for its answer: all earlier frames have been handled then. */
  stillServed(client: TestClient): Promise<void>
  unharmed(attack: () => Promise<unknown>): Promise<void>
  stats(): Promise<ServerStats>
}

export interface ServerStats {
  connections: number
  watches: number
  watched_users: number
  slow_readers: number
  totals: { frames_in: number }
}

const PLATFORM = 'web'

export function useAttackFixture(settings: SettingsInput = {}): AttackFixture {
  let server: TestServer
  let anchor: TestClient
  let bob: TestClient
  let carol: TestClient
  let refs = 0
  const url = () => server.url

  async function ask(client: TestClient, frame: object): Promise<void> {
    const ref = `fixture-${++refs}`
    client.send({ ...frame, ref })
    await client.next('ok', (answer) => answer.ref === ref)
  }

  beforeAll(async () => {
    // The fixture sends many frames a second; tests of that limit set their own. Its clients beat only before
    // an attack, which may take long on a busy machine.
    const defaults = { flush_ms: 5, frames_per_second: 10_000, heartbeat_ttl_ms: 600_000 }
    server = await startServer({ ...defaults, ...settings })
    anchor = await connect(url(), 'mallory', { platform: PLATFORM, deviceId: 'anchor' })
    bob = await connect(url(), 'bob', { platform: PLATFORM })
    carol = await connect(url(), 'carol')
    await ask(anchor, { type: 'set_custom_status', text: 'plotting', emoji: '😈' })
    await ask(anchor, { type: 'set_availability', status: 'busy' })
    await ask(carol, { type: 'watch', user_ids: ['bob', 'mallory'] })
  })
  afterAll(() => server.stop())

  const seen = async () =>
    (await call<object[]>(url(), 'GET', '/api/v1/presence?user_ids=bob,mallory', { token: 'dev' })).body

  /** Mallory's choices, as in the welcome of a new session. */
  async function chosen(): Promise<Partial<OwnPresence>> {
    const session = await connect(url(), 'mallory', { platform: PLATFORM })
    const { availability, availability_expires_at, custom_status, version } = session.welcome.self
    session.close()
    await session.closed
    return { availability, availability_expires_at, custom_status, version }
  }

  /** Changes that Carol received, as JSON. */
  const changesHeard = () =>
    carol.heard
      .flatMap(({ frame }) => (frame.type === 'presence_change' ? frame.changes : []))
      .map((presence) => JSON.stringify(presence))

  async function expectServing(): Promise<void> {
    expect((await call(url(), 'GET', '/healthz')).status).toBe(200)
    const text = `still here ${++refs}`
    bob.send({ type: 'set_custom_status', text })
    await carol.change('bob', ({ custom_status }) => custom_status?.text === text)
  }

  return {
    get url() {
      return url()
    },
    attacker: (options) => connect(url(), 'mallory', { platform: PLATFORM, ...options }),
    async rawAttacker() {
      const raw = await openRaw(url())
      raw.write(upgradeRequest('dev:mallory', `&platform=${PLATFORM}`))
      await raw.until(/"type":"welcome".*\}$/s)
      return raw
    },
    stillServed: (client) => ask(client, { type: 'heartbeat', activity: 'active' }),
    async unharmed(attack) {
      for (const client of [anchor, bob, carol]) client.send(HEARTBEAT_ACTIVE)
      await expectServing()
      const before = { seen: await seen(), chosen: await chosen() }
      carol.heard.length = 0
      await attack()
      expect({ seen: await seen(), chosen: await chosen() }).toEqual(before)
      expect(changesHeard()).toEqual([])
      await expectServing()
    },
    stats: async () => (await call<ServerStats>(url(), 'GET', '/api/v1/stats', { token: 'dev' })).body,
  }
}
