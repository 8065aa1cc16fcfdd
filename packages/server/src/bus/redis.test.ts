import { afterEach, describe, expect, test } from 'bun:test'
import { busContract } from '../../../../testing/contracts/bus.ts'
import {
  connect,
  isSkipped,
  newPrefix,
  reason,
  useRedis,
  useRedisCluster,
} from '../../../../testing/contracts/redis-under-test.ts'
import { WAIT_MS, within } from '../../../../testing/services/within.ts'
import { createFakeClock } from '../../../../testing/worlds/fake-clock.ts'
import { aFullRecord, SOME_INSTANT } from '../../../../testing/worlds/records.ts'
import { systemClock } from '../platform/clock.ts'
import type { RedisConnection } from '../redis/client.ts'
import type { Bus, BusMessage, ChangeMessage } from './port.ts'
import { createRedisBus } from './redis.ts'
import { decodePayload, encodeMessages } from './redis-frames.ts'

const SLOTS = 16_384

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

function openBus(connection: Pick<RedisConnection, 'send' | 'follow'>, prefix = newPrefix()): Bus {
  const bus = createRedisBus({ connection, clock: systemClock, prefix })
  open.push(bus)
  return bus
}

describe.skipIf(isSkipped)(`redis bus, single server${reason}`, () => {
  const { server, connection } = useRedis()
  busContract('single server', async (onError) =>
    createRedisBus({ connection: connection(), clock: systemClock, prefix: newPrefix(), onError }),
  )

  test('[C7] a subscription that broke comes back by itself, and says that there was a gap', async () => {
    const bus = openBus(connection())
    const gateway = await listen(bus, 'g1')
    bus.publish('g1', [change(1)])
    await gateway.received(1)
    expect(gateway.gaps()).toBe(0)

    await server().cli('CLIENT', 'KILL', 'TYPE', 'pubsub')
    await gateway.gap()
    bus.publish('g1', [change(2)])
    await gateway.received(2)
    expect(gateway.gaps()).toBe(1)
  })

  test('[C7] messages are dropped while the server is away, and arrive again when it is back', async () => {
    const bus = openBus(connection())
    const gateway = await listen(bus, 'g1')
    await server().kill('SIGKILL')
    for (let version = 100; version < 200; version++) bus.publish('g1', [change(version)])
    await server().restart({ keepData: false })
    await gateway.gap()
    // Publishing has a connection of its own, which may take a moment longer.
    await publishUntil(bus, gateway, change(3))
    expect(gateway.versions().some((version) => version >= 100)).toBe(false)
  })

  test('[C7] a gateway is told of messages that could not be sent to it, though it noticed nothing', async () => {
    const prefix = newPrefix()
    const gateway = await listen(openBus(connection(), prefix), 'g1')
    const publishing = await connect(server().url)
    open.push(publishing)
    let isCut = true
    const bus = openBus(
      {
        follow: publishing.follow,
        send: (name, args) => (isCut ? Promise.reject(new Error('cut')) : publishing.send(name, args)),
      },
      prefix,
    )
    bus.publish('g1', [change(1)])
    await Promise.resolve()
    isCut = false
    await gateway.gap()
    expect(gateway.versions()).toEqual([])
    bus.publish('g1', [change(2)])
    await gateway.received(1)
  })

  test('[W6] what waits to be sent has a limit, past which messages are dropped and the gap is told', async () => {
    const clock = createFakeClock(SOME_INSTANT)
    const sent: number[] = []
    let release = () => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    const send = async (_: string, [, payload]: readonly (string | number)[]) => {
      sent.push(String(payload).length)
      await gate
    }
    const bus = createRedisBus({ connection: { follow: connection().follow, send }, clock })
    const large: BusMessage = { ...change(1), json: `"${'x'.repeat(1024 * 1024)}"` }
    for (let count = 0; count < 100; count++) bus.publish('g1', [large])
    expect(sent.length).toBeLessThan(17)
    const before = sent.length
    release()
    await clock.advance(1_000)
    expect(sent.slice(before)).toEqual(['gap'.length])
    await bus.close()
    expect(clock.timerCount()).toBe(0)
  })
})

describe.skipIf(isSkipped)(`redis bus, cluster${reason}`, () => {
  const { server, connection } = useRedisCluster()
  busContract('cluster', async (onError) =>
    createRedisBus({ connection: connection(), clock: systemClock, prefix: newPrefix(), onError }),
  )

  const masterOf = async (channel: string): Promise<number> =>
    Math.floor(((Number(await server().cli(0, 'CLUSTER', 'KEYSLOT', channel)) + 1) * 3 - 1) / SLOTS)

  test('[C7] a channel whose master handed over is followed on the new one, with a gap', async () => {
    const prefix = newPrefix()
    const bus = openBus(connection(), prefix)
    const gateway = await listen(bus, 'g1')
    const replica = 3 + (await masterOf(`${prefix}gw:g1`))
    await server().cli(replica, 'CLUSTER', 'FAILOVER')
    await gateway.gap()
    await publishUntil(bus, gateway, change(1))
    await server().waitUntilReady()
    await server().cli(replica - 3, 'CLUSTER', 'FAILOVER')
    await server().waitUntilReady()
  })

  test('[C7] a channel whose master died is followed on the one that takes its place, with a gap', async () => {
    const prefix = newPrefix()
    const bus = openBus(connection(), prefix)
    const gateway = await listen(bus, 'g1')
    await server().failover(await masterOf(`${prefix}gw:g1`))
    await gateway.gap()
    await publishUntil(bus, gateway, change(1))
  })
})

describe('redis frames', () => {
  const messages: BusMessage[] = [
    change(1),
    { kind: 'self', userId: 'zoë', revision: 2, isInvisible: false, json: '{"text":"a\\nb"}' },
    { ...change(2), inputs: { privacy: aFullRecord().privacy, contactsAt: 5 } },
    { kind: 'settings', userId: 'zoë', awayAfter: null },
    { kind: 'erased', userId: 'zoë', version: 8, at: SOME_INSTANT },
    change(Number.MAX_SAFE_INTEGER),
  ]

  test('[W3] messages come back as they were', () => {
    expect(decodePayload(encodeMessages(messages))).toEqual({ kind: 'messages', messages })
    const traced = messages.map((message) =>
      message.kind === 'change'
        ? { ...message, trace: `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01` }
        : message,
    )
    expect(decodePayload(encodeMessages([...traced, ...messages]))).toEqual({
      kind: 'messages',
      messages: [...traced, ...messages],
    })
  })

  test('[C7] what cannot be read counts as a gap: the receiver reads again', () => {
    const cut = encodeMessages(messages).split('\n').slice(0, -1).join('\n')
    for (const payload of ['gap', '', 'x', 'x\na\n1\n{}', cut]) {
      expect(decodePayload(payload)).toEqual({ kind: 'gap' })
    }
  })
})

function change(version: number): ChangeMessage {
  return { kind: 'change', userId: 'a', version, at: SOME_INSTANT, json: '{}', inputs: null }
}

type Listening = Awaited<ReturnType<typeof listen>>

async function listen(bus: Bus, gatewayId: string) {
  const received: BusMessage[] = []
  let gaps = 0
  const waiting = new Set<() => void>()
  const wake = () => {
    for (const check of waiting) check()
  }
  await bus.subscribe(
    gatewayId,
    (messages) => {
      received.push(...messages)
      wake()
    },
    () => {
      gaps++
      wake()
    },
  )

  const when = (what: string, isTrue: () => boolean): Promise<void> =>
    within(
      WAIT_MS,
      what,
      new Promise((resolve) => {
        const check = () => {
          if (!isTrue()) return
          waiting.delete(check)
          resolve()
        }
        waiting.add(check)
        check()
      }),
    )

  return {
    gaps: () => gaps,
    versions: () => received.map((message) => (message.kind === 'change' ? message.version : -1)),
    received: (count: number) => when(`message ${count}`, () => received.length >= count),
    gap: () => when('word of a gap', () => gaps > 0),
  }
}

/** Publishes over and over until it arrives: for what may be dropped once more on the way to health. */
async function publishUntil(bus: Bus, gateway: Listening, message: BusMessage): Promise<void> {
  const repeating = setInterval(() => bus.publish('g1', [message]), 50)
  try {
    await gateway.received(gateway.versions().length + 1)
  } finally {
    clearInterval(repeating)
  }
}
