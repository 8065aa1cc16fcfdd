// Endpoints that fail, hang, answer rubbish, answer without end or redirect: no event is lost, and no other endpoint waits.
import { describe, expect, test } from 'bun:test'
import type { WebhookEvent } from '@greendot/protocol'
import { useScene } from '../e2e/scene.ts'
import { until, WAIT_MS } from '../services/within.ts'
import { addHook, editHook, failuresOf, getHook, replayHook, testHook } from './hooks.ts'
import { type RawEndpoint, type Receiver, startRawEndpoint, startReceiver } from './receiver.ts'

const scene = useScene()
const arrivals = (events: WebhookEvent[]) =>
  events.filter(({ type }) => type === 'user.online').map(({ user_id }) => user_id)

const ALL_MS = 2 * WAIT_MS
const BIG = Buffer.alloc(64 * 1024, 'x')

describe('an endpoint that misbehaves', () => {
  const misbehaves = async () => {
    const { url } = await scene.server()
    const bodies = new Set<string>()
    const failing = startReceiver(scene.onEnd, (payload, attempt) => {
      bodies.add(JSON.stringify(payload))
      return new Response('no', { status: attempt === 1 ? 500 : 200 })
    })
    const never = Promise.withResolvers<Response>()
    scene.onEnd(() => never.resolve(new Response()))
    let isHanging = true
    const hanging = startReceiver(scene.onEnd, () =>
      isHanging ? never.promise : new Response(null, { status: 204 }),
    )
    const rubbish = startRawEndpoint(scene.onEnd, (socket) => {
      socket.write('what is this?\r\n\r\n')
      socket.end()
    })
    const endless = startRawEndpoint(scene.onEnd, (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9999999999\r\n\r\n')
      for (let count = 0; count < 20; count++) socket.write(BIG)
    })
    const closed = startRawEndpoint(scene.onEnd, (socket) => void socket.terminate())
    const good = startReceiver(scene.onEnd)
    const ids: Record<string, string> = {}
    for (const [name, target] of Object.entries({
      failing: failing.url,
      hanging: hanging.url,
      rubbish: rubbish.url,
      endless: endless.url,
      closed: closed.url,
      good: good.url,
    }))
      ids[name] = (await addHook(url, { url: target, events: ['user.online'] })).id
    await scene.person(url, 'anna')
    await good.gets('the first arrival', (events) => arrivals(events).includes('anna'))
    await scene.person(url, 'bea')
    await good.gets('the second arrival', (events) => arrivals(events).includes('bea'))
    expect(arrivals(good.events)).toEqual(['anna', 'bea'])
    const health = async (name: string) => getHook(url, ids[name]!)
    // Its request is still under way: nobody waited for it.
    expect((await health('hanging')).last_failure).toBeNull()

    const getsBoth = (name: string, receiver: Receiver) =>
      until(ALL_MS, name, async () => arrivals(receiver.events).toSorted().join() === 'anna,bea')
    const recovers = async (name: string, endpoint: RawEndpoint) => {
      await until(WAIT_MS, name, async () => (await health(name)).failing_since !== null)
      const { pending, last_failure } = await health(name)
      expect(pending).toBe(2)
      expect(last_failure).toContain('the connection failed')
      await getsBoth(`${name}, which recovered`, endpoint.recover())
    }
    const answersAgain = async () => {
      const hasFailed = async () => (await health('hanging')).last_failure !== null
      await until(WAIT_MS, 'the end of the hanging request', hasFailed)
      expect(await health('hanging')).toMatchObject({
        pending: 2,
        last_failure: 'no answer within 10 seconds',
      })
      isHanging = false
      await getsBoth('hanging, which recovered', hanging)
    }
    // Each as soon as it has failed, before the pauses become long.
    await Promise.all([recovers('rubbish', rubbish), recovers('closed', closed), answersAgain()])

    await failing.gets('both after the failure', (events) => events.length === 2)
    expect(arrivals(failing.events)).toContain('anna')
    // The batch that failed came again as it was, whatever else came.
    const [first] = failing.messages
    expect(failing.messages.filter((id) => id === first)).toHaveLength(2)
    expect(bodies.size).toBe(new Set(failing.messages).size)

    await until(WAIT_MS, 'the endless answer', async () => (await health('endless')).pending === 0)
  }
  test('[X5] is tried again with the same id and content, and holds up no other', misbehaves, 4 * WAIT_MS)

  test('[X5] [C6] that redirects is not followed', async () => {
    const { url } = await scene.server()
    const secret = startReceiver(scene.onEnd)
    const redirecting = startReceiver(scene.onEnd, () => Response.redirect(secret.url, 307))
    const { id } = await addHook(url, { url: redirecting.url })
    expect(await testHook(url, id)).toMatchObject({
      delivered: false,
      status: 307,
      because: 'the endpoint answered 307; redirects are not followed',
    })
    expect(secret.messages).toEqual([])
  })

  test('[X5] that is gone is disabled; what waits is a failure, and can be replayed', async () => {
    const { url } = await scene.server({ log_level: 'silent' })
    let status = 410
    const leaving = startReceiver(scene.onEnd, () => new Response(null, { status }))
    const { id } = await addHook(url, { url: leaving.url, events: ['user.online'] })
    await scene.person(url, 'anna')
    await until(WAIT_MS, 'the notice', async () => !(await getHook(url, id)).enabled)
    await until(WAIT_MS, 'the failure', async () => (await getHook(url, id)).failed === 1)
    expect(await getHook(url, id)).toMatchObject({
      enabled: false,
      disabled_because: 'the endpoint answered 410',
      pending: 0,
    })
    const { failures, next } = await failuresOf(url, id)
    expect(failures).toMatchObject([{ user_id: 'anna', events: [{ type: 'user.online' }], attempts: 1 }])
    expect(next).toBeNull()
    const page = await failuresOf(url, id, '?limit=1')
    expect(page.next).not.toBeNull()
    expect((await failuresOf(url, id, `?after=${page.next}`)).failures).toEqual([])
    status = 200
    expect(await replayHook(url, id)).toEqual({ replayed: 1 })
    expect((await getHook(url, id)).pending).toBe(1)
    await editHook(url, id, { enabled: true })
    await leaving.gets('the replayed event', (events) => arrivals(events).includes('anna'))
    expect(leaving.events[0]!.id).toBe(failures[0]!.events[0]!.id)
    await until(WAIT_MS, 'nothing left', async () => (await getHook(url, id)).failed === 0)
  })
})
