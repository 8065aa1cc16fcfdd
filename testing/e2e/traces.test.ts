// Traces of real servers over a real Redis, in a real receiver: a change is one trace, from the process where it was
// reported to the process whose watcher got it.
import { expect, test } from 'bun:test'
import { describeWithService } from '../services/describe.ts'
import { findRedis, startRedis } from '../services/redis.ts'
import { findOtlpReceiver, type ReceivedSpan, startOtlpReceiver } from '../services/tools/otlp.ts'
import { until, WAIT_MS } from '../services/within.ts'
import { isOnline, useScene, watch } from './scene.ts'

const missing = [await findRedis(), await findOtlpReceiver()].find(({ state }) => state === 'missing')

async function startBoth() {
  const [redis, receiver] = await Promise.all([startRedis(), startOtlpReceiver()])
  const stop = async () => void (await Promise.all([redis.stop(), receiver.stop()]))
  return { redis, receiver, stop }
}

const PHASES = ['store.load', 'store.commit', 'bus.publish', 'gateway.deliver']

describeWithService('traces', missing ?? { state: 'found', path: 'both' }, startBoth, (services) => {
  const scene = useScene()

  async function startTwo(settings: Record<string, string | number>) {
    const shared = { redis_url: services().redis.url, ...settings }
    const one = await scene.process(shared)
    const two = await scene.process({ ...shared, database_url: `sqlite://${one.folder}/greendot.db` })
    return [one, two] as const
  }

  test('[X8] a change is one trace, from the process that hears of it to the watcher of another', async () => {
    const { receiver } = services()
    const [one, two] = await startTwo({ otlp_endpoint: receiver.url, trace_one_in: 1 })
    const alice = await scene.person(one.url, 'traced-alice')
    await watch(alice, ['traced-bob'])
    const bob = await scene.person(two.url, 'traced-bob')
    await alice.sees('traced-bob', isOnline)
    bob.send({ type: 'set_custom_status', text: 'traced-text' })
    await alice.sees('traced-bob', ({ custom_status }) => custom_status?.text === 'traced-text')

    /** A trace of this event that is complete; each process sends its part by itself. */
    function traceOf(event: string): ReceivedSpan[] | undefined {
      const wanted = [`presence ${event}`, ...PHASES]
      const traces = Map.groupBy(receiver.spans(), ({ traceId }) => traceId)
      return [...traces.values()].find((spans) =>
        wanted.every((name) => spans.some((span) => span.name === name)),
      )
    }

    for (const event of ['connected', 'set_custom_status']) {
      await until(WAIT_MS, `the trace of ${event}`, async () => traceOf(event) !== undefined)
      const spans = traceOf(event)!
      const named = (name: string) => spans.filter((span) => span.name === name).at(-1)!
      const root = named(`presence ${event}`)
      expect(root.parentSpanId).toBe('')
      for (const name of PHASES.slice(0, 3)) {
        expect([name, named(name).parentSpanId]).toEqual([name, root.spanId])
        expect(named(name).resource).toEqual(root.resource)
        expect(named(name).startedAt).toBeGreaterThanOrEqual(root.startedAt)
        expect(root.endedAt).toBeGreaterThanOrEqual(named(name).endedAt)
      }
      const delivered = named('gateway.deliver')
      expect(delivered.attributes).toEqual({ sent: true, watchers: '1' })
      expect(delivered.parentSpanId).toBe(named('bus.publish').spanId)
      expect(delivered.resource['service.instance.id']).not.toBe(root.resource['service.instance.id'])
      for (const { startedAt, endedAt } of spans) expect(endedAt).toBeGreaterThanOrEqual(startedAt)
    }
    expect(receiver.text()).not.toMatch(/traced-(alice|bob|text)/)
  })

  test('[X8] what is left is sent at the stop, and counted', async () => {
    const { receiver } = services()
    const instanceOf = ({ resource }: ReceivedSpan) => resource['service.instance.id']
    const others = new Set(receiver.spans().map(instanceOf))
    const server = await scene.process({ otlp_endpoint: receiver.url, trace_one_in: 1 })
    const alice = await scene.person(server.url, 'alice')
    const received = () => receiver.spans().filter((span) => !others.has(instanceOf(span)))
    const counted = async () => {
      const text = await (await fetch(`${server.url}/metrics`)).text()
      return Number(/^greendot_spans_exported_total (\d+)$/m.exec(text)![1])
    }
    await until(WAIT_MS, 'the spans of the arrival', async () => (await counted()) > 0)
    const before = received().length
    expect(await counted()).toBe(before)
    alice.close()
    await alice.closed
    server.signal('SIGTERM')
    await server.exited
    const names = received()
      .slice(before)
      .map(({ name }) => name)
    expect(names).toContain('presence closed')
  })
})
