// Fan-out processes on one Redis and one PostgreSQL share the webhooks. One after the other is killed while a request is
// under way, so the one that had the claim is among them: no change is lost, and what was under way comes again with its id.
import { expect, test } from 'bun:test'
import { foundBoth, startBoth } from '../e2e/both-services.ts'
import { call, useScene } from '../e2e/scene.ts'
import { describeWithService } from '../services/describe.ts'
import { until, WAIT_MS, within } from '../services/within.ts'
import { addHook, getHook } from './hooks.ts'
import { startReceiver } from './receiver.ts'

const USERS_PER_ROUND = 40
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

  const change = (url: string, userId: string) =>
    call(url, 'dev', 'PUT', `/api/v1/users/${userId}/status`, { text: `I am ${userId}` })

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
        await Promise.all(names.map((userId) => change(url, userId)))
      }
      for (const [at, one] of doomed.entries()) {
        gate = { reached: Promise.withResolvers(), opened: Promise.withResolvers() }
        const working = round(`round${at}`)
        await within(ALL_MS, 'a request', gate.reached.promise)
        await one.kill()
        gate.opened.resolve()
        gate = null
        await working
        if (at === 0) await fanout()
      }
      await round('last')
      await until(
        ALL_MS,
        'all changes',
        async () => new Set(receiver.events.map(({ user_id }) => user_id)).size === users.length,
      )
      await until(ALL_MS, 'an empty queue', async () => (await getHook(url, id)).pending === 0)
      expect(receiver.events.map(({ user_id }) => user_id).sort()).toEqual([...users].sort())
      expect(receiver.forged()).toBe(0)
    },
    4 * WAIT_MS,
  )
})
