// Fan-out processes on one Redis and one PostgreSQL share the webhooks. One after the other is killed while a request is
// under way, so the one that had the claim is among them: no change is lost, those of a user stay in order, and what was
// under way comes again with its id.
import { expect, test } from 'bun:test'
import { foundBoth, startBoth } from '../e2e/both-services.ts'
import { call, useScene } from '../e2e/scene.ts'
import { describeWithService } from '../services/describe.ts'
import { until, WAIT_MS, within } from '../services/within.ts'
import { addHook, getHook } from './hooks.ts'
import { startReceiver } from './receiver.ts'

const USERS_PER_ROUND = 20
const TEXTS = ['first', 'second', 'third'] as const
const ALL_MS = 2 * WAIT_MS

describeWithService('fan-out processes', foundBoth, startBoth, (services) => {
  const scene = useScene()

  async function deployment() {
    const { redis, postgres } = services()
    await redis.cli('FLUSHALL')
    const shared = {
      redis_url: redis.url,
      database_url: await postgres.newSchema(),
      database_pool: 4,
      gateway_lease_ms: 1_000,
      offline_delay_ms: 0,
    }
    const { url } = await scene.server({ ...shared, roles: 'gateway,presence' })
    const fanout = () => scene.process({ ...shared, roles: 'fanout' })
    return { url, fanout }
  }

  async function changeAll(url: string, userId: string): Promise<void> {
    for (const text of TEXTS) await call(url, 'dev', 'PUT', `/api/v1/users/${userId}/status`, { text })
  }

  test(
    '[X5] [C7] share the work, and a kill -9 loses nothing',
    async () => {
      const { url, fanout } = await deployment()
      const doomed = [await fanout(), await fanout()]
      /** While there is one, requests are not answered before it opens. */
      let gate: { reached: PromiseWithResolvers<void>; opened: PromiseWithResolvers<void> } | null = null
      const receiver = startReceiver(scene.onEnd, async () => {
        gate?.reached.resolve()
        await gate?.opened.promise
        return new Response(null, { status: 204 })
      })
      const { secret, id } = await addHook(url, { url: receiver.url, events: ['status.changed'] })
      receiver.know(secret)
      const users: string[] = []
      async function round(name: string): Promise<void> {
        const names = Array.from({ length: USERS_PER_ROUND }, (_, at) => `${name}-${at}`)
        users.push(...names)
        await Promise.all(names.map((userId) => changeAll(url, userId)))
      }
      for (const [at, one] of doomed.entries()) {
        gate = { reached: Promise.withResolvers(), opened: Promise.withResolvers() }
        const working = round(`round${at}`)
        await within(ALL_MS, 'a request', gate.reached.promise)
        await one.kill()
        gate.opened.resolve()
        gate = null
        // The second one had the claim: there was no other process.
        if (at === 1) await fanout()
        await working
      }
      await round('last')
      const changes = users.length * TEXTS.length
      await until(ALL_MS, 'all changes', async () => receiver.events.length >= changes)
      await until(ALL_MS, 'an empty queue', async () => (await getHook(url, id)).pending === 0)
      const textsOf = (userId: string) =>
        receiver.events
          .filter(({ user_id }) => user_id === userId)
          .map(({ custom_status }) => custom_status?.text)
      for (const userId of users) expect([userId, ...textsOf(userId)]).toEqual([userId, ...TEXTS])
      expect(receiver.events).toHaveLength(changes)
      expect(receiver.messages.length).toBeGreaterThan(new Set(receiver.messages).size)
      expect(receiver.forged()).toBe(0)
    },
    4 * WAIT_MS,
  )
})
