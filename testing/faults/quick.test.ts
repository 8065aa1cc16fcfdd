// Three faults of `npm run test:faults`, with few users and without bounds on time: a gateway dies, Redis is
// emptied, the presence process dies.
import { expect, test } from 'bun:test'
import type { TestClient } from '../clients/client.ts'
import type { SettingsInput } from '../clients/server.ts'
import { call, isOffline, isOnline, type Person, useScene, watch } from '../e2e/scene.ts'
import { describeWithService } from '../services/describe.ts'
import { findPostgres, startPostgres } from '../services/postgres.ts'
import { findRedis } from '../services/redis.ts'
import { until, WAIT_MS } from '../services/within.ts'
import { type Deployment, startDeployment } from './deployment.ts'

const redis = await findRedis()
const found = redis.state === 'missing' ? redis : await findPostgres()
/** For users who do not come back. */
const SHORT_DELAY_MS = 500
/** A sweeper acts on a deadline within this time. */
const SWEPT_MS = 1_000
/** Long enough to reconnect in, on a busy machine too. */
const SETTINGS = { offline_delay_ms: 4_000, heartbeat_ttl_ms: 60_000, gateway_lease_ms: 3_000 }

describeWithService('Faults', found, startPostgres, (postgres) => {
  const scene = useScene()

  async function start(gateways: number, settings: SettingsInput = {}): Promise<Deployment> {
    const deployment = await startDeployment({
      postgres: postgres(),
      gateways,
      presences: 1,
      settings: { ...SETTINGS, ...settings },
    })
    scene.onEnd(deployment.stop)
    return deployment
  }

  /** Alice connects to `url`, watches these users and sees them online at `at`. */
  async function enter(url: string, at: string, names: string[]) {
    const alice = await scene.person(url, 'alice')
    await watch(alice, [...names, 'marker'])
    const users = await Promise.all(names.map((name) => scene.person(at, name, { deviceId: name })))
    for (const name of names) await alice.sees(name, isOnline)
    return { alice, users, since: alice.heard.length }
  }

  /** The next deadline of a user as the store has it. */
  async function deadlineOf(url: string, userId: string): Promise<number> {
    const path = `/api/v1/explain?user_id=${userId}`
    const { body } = await call<{ details: { next_deadline_at: number | null } }>(url, 'dev', 'GET', path)
    return body.details.next_deadline_at ?? Number.POSITIVE_INFINITY
  }

  async function showsText(alice: TestClient, person: Person, text: string): Promise<void> {
    person.send({ type: 'set_custom_status', text })
    await alice.sees(person.welcome.user_id, ({ custom_status }) => custom_status?.text === text)
  }

  test('[C7] a killed gateway: users who reconnect elsewhere were never gone, the others go offline', async () => {
    const deployment = await start(2)
    const [first, second] = deployment.gatewayUrls() as [string, string]
    const names = Array.from({ length: 10 }, (_, n) => `user-${n}`)
    const { alice, since } = await enter(second, first, [...names, 'gone'])
    deployment.gateways[0]!.signal('SIGKILL')
    const back = await Promise.all(names.map((name) => scene.person(second, name, { deviceId: name })))
    await alice.sees('gone', isOffline, { since })
    for (const person of back) await showsText(alice, person, 'back')
    for (const name of names) {
      const statuses = alice.sightings(name, since).map(({ presence }) => presence.status)
      expect(new Set(statuses)).toEqual(new Set(['online']))
    }
  })

  test('[C7] an emptied Redis is filled again from the live connections, and watchers see no change', async () => {
    const deployment = await start(2)
    const [first, second] = deployment.gatewayUrls() as [string, string]
    const { alice, users, since } = await enter(second, first, ['bob', 'carol', 'dave'])
    const [bob, carol, dave] = users as [Person, Person, Person]
    await deployment.redis().cli('FLUSHALL')
    // A new text is visible once interest and sessions are in the store again.
    for (const person of [bob, carol]) await showsText(alice, person, 'after')
    dave.send({ type: 'leave' })
    await alice.sees('dave', isOffline, { since })
    for (const name of ['bob', 'carol']) {
      const statuses = alice.sightings(name, since).map(({ presence }) => presence.status)
      expect(new Set(statuses)).toEqual(new Set(['online']))
    }
  })

  test('[C7] without a presence process deadlines wait and nothing else does', async () => {
    const deployment = await start(1, { offline_delay_ms: SHORT_DELAY_MS })
    const [url] = deployment.gatewayUrls() as [string]
    const { alice, users, since } = await enter(url, url, ['bob', 'carol'])
    const [bob, carol] = users as [Person, Person]
    await deployment.presences[0]!.kill()
    bob.close()
    await bob.closed
    await showsText(alice, carol, 'meanwhile')
    const arrived = await scene.person(url, 'marker')
    await alice.sees('marker', isOnline, { since })
    arrived.send({ type: 'leave' })
    await alice.sees('marker', isOffline, { since })
    await until(
      WAIT_MS,
      'an overdue deadline',
      async () => Date.now() > (await deadlineOf(url, 'bob')) + SWEPT_MS,
    )
    expect(alice.sightings('bob', since)).toEqual([])
    await deployment.start('presence')
    await alice.sees('bob', isOffline, { since })
  })
})
