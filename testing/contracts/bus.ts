// The contract of Bus, run on every adapter. Delivery is awaited: a test that something does not arrive
// publishes a later message that does arrive, and checks then.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { Bus, BusMessage, ChangeMessage } from '../../packages/server/src/bus/port.ts'
import { aFullRecord, SOME_INSTANT } from '../worlds/records.ts'

/** Makes a bus for one test. Errors of subscribers go to `onError`. The suite closes it. */
export type MakeBus = (onError: (error: unknown) => void) => Promise<Bus>

const BATCH_SIZE = 10_000

export function busContract(name: string, makeBus: MakeBus): void {
  describe(`bus contract: ${name}`, () => {
    let bus: Bus
    let errors: Inbox<unknown>
    beforeEach(async () => {
      errors = createInbox()
      bus = await makeBus((error) => errors.put([error]))
    })
    afterEach(() => bus.close())

    async function listen(gatewayId: string): Promise<Inbox<BusMessage> & { stop: () => void }> {
      const inbox = createInbox<BusMessage>()
      const stop = await bus.subscribe(gatewayId, inbox.put)
      return { ...inbox, stop }
    }

    test('[W3] a gateway receives every kind of message as it was sent', async () => {
      const gateway = await listen('g1')
      const sent: BusMessage[] = [
        {
          kind: 'change',
          userId: 'zoë👩🏽‍🚀',
          version: 42,
          at: SOME_INSTANT,
          json: '{"text":"a \\"b\\"\\n📅"}',
          inputs: null,
        },
        {
          kind: 'change',
          userId: 'zoë',
          version: 43,
          at: SOME_INSTANT,
          json: '{}',
          inputs: { privacy: aFullRecord().privacy, contactsAt: SOME_INSTANT },
        },
        { kind: 'settings', userId: 'a:{b}', awayAfter: { awayAfterMs: null, setAt: 7 } },
        { kind: 'settings', userId: 'a:{b}', awayAfter: null },
        { kind: 'erased', userId: 'a:{b}', version: 7, at: SOME_INSTANT },
        {
          kind: 'disconnect',
          userId: 'a:{b}',
          disconnect: { deviceId: null, at: 1, issuedBefore: 2, until: null, reason: 'a\nb "c"' },
        },
        { kind: 'left', userId: 'a:{b}', deviceId: 'd1', at: SOME_INSTANT },
        { kind: 'foreign', from: 'f-a', ref: '1z', text: '["g",[],[],false,false]' },
        { kind: 'foreign_answer', ref: '1z', rejections: null },
        { kind: 'foreign_answer', ref: '1z', rejections: [{ index: 3, code: 'forbidden', message: 'a\nb' }] },
        { kind: 'self', userId: 'a:{b}', revision: Number.MAX_SAFE_INTEGER, isInvisible: false, json: '{}' },
      ]
      bus.publish('g1', sent)
      expect(await gateway.first(sent.length)).toEqual(sent)
    })

    test('[W4] a message reaches the gateway it is for and no other', async () => {
      const one = await listen('g1')
      const two = await listen('g2')
      bus.publish('g1', [change(1)])
      bus.publish('g2', [change(2)])
      bus.publish('g1', [change(3)])
      expect(versions(await one.first(2))).toEqual([1, 3])
      expect(versions(await two.first(1))).toEqual([2])
      expect(one.all()).toHaveLength(2)
      expect(two.all()).toHaveLength(1)
    })

    test('[W4] publishing to a gateway without a subscriber is harmless', async () => {
      const gateway = await listen('g1')
      bus.publish('unknown', [change(1)])
      bus.publish('g1', [])
      bus.publish('g1', [change(2)])
      expect(versions(await gateway.first(1))).toEqual([2])
    })

    test('[W9] messages to one gateway keep their order within and between publishes', async () => {
      const gateway = await listen('g1')
      for (let version = 0; version < 300; version += 3) {
        bus.publish('g1', [change(version), change(version + 1), change(version + 2)])
      }
      expect(versions(await gateway.first(300))).toEqual(Array.from({ length: 300 }, (_, version) => version))
    })

    test('[W3] a batch of 10,000 messages arrives whole, in order and once', async () => {
      const gateway = await listen('g1')
      const expected = Array.from({ length: BATCH_SIZE }, (_, version) => version)
      bus.publish('g1', expected.map(change))
      bus.publish('g1', [change(BATCH_SIZE)])
      expect(versions(await gateway.first(BATCH_SIZE + 1))).toEqual([...expected, BATCH_SIZE])
      expect(gateway.all()).toHaveLength(BATCH_SIZE + 1)
    })

    test('[W6] publishing never runs the subscriber within the call', async () => {
      const gateway = await listen('g1')
      bus.publish('g1', [change(1)])
      expect(gateway.all()).toHaveLength(0)
      expect(versions(await gateway.first(1))).toEqual([1])
    })

    test('[W3] a publisher may reuse its list once it has published', async () => {
      const gateway = await listen('g1')
      const buffer = [change(1)]
      bus.publish('g1', buffer)
      buffer.length = 0
      buffer.push(change(2))
      bus.publish('g1', buffer)
      expect(versions(await gateway.first(2))).toEqual([1, 2])
    })

    test('[W3] no gap is reported while every message arrives', async () => {
      const inbox = createInbox<BusMessage>()
      let gaps = 0
      await bus.subscribe('g1', inbox.put, () => {
        gaps++
      })
      for (let version = 0; version < 10; version++) bus.publish('g1', [change(version)])
      await inbox.first(10)
      expect(gaps).toBe(0)
    })

    test('[C7] what a subscriber throws is reported and stops neither publisher nor later messages', async () => {
      const received = createInbox<BusMessage>()
      await bus.subscribe('g1', (messages) => {
        received.put(messages)
        throw new Error(`cannot take ${versions(messages)}`)
      })
      const other = await listen('g2')
      bus.publish('g1', [change(1)])
      bus.publish('g2', [change(2)])
      bus.publish('g1', [change(3)])
      expect(versions(await received.first(2))).toEqual([1, 3])
      expect(versions(await other.first(1))).toEqual([2])
      expect((await errors.first(2)).map(String)).toEqual(['Error: cannot take 1', 'Error: cannot take 3'])
    })

    test('[W3] after stopping nothing more arrives, and stopping twice is fine', async () => {
      const gone = await listen('g1')
      const other = await listen('g2')
      bus.publish('g1', [change(1)])
      await gone.first(1)
      gone.stop()
      gone.stop()
      bus.publish('g1', [change(2)])
      bus.publish('g2', [change(3)])
      await other.first(1)
      expect(versions(gone.all())).toEqual([1])
    })

    test('[C7] a gateway can subscribe again, and an old stop does not end the new subscription', async () => {
      const before = await listen('g1')
      before.stop()
      const after = await listen('g1')
      before.stop()
      bus.publish('g1', [change(1)])
      expect(versions(await after.first(1))).toEqual([1])
      expect(before.all()).toEqual([])
    })

    test('[C7] a closed bus delivers nothing and ignores late publishes', async () => {
      const closing = await makeBus((error) => errors.put([error]))
      const received: BusMessage[] = []
      const stop = await closing.subscribe('g1', (messages) => received.push(...messages))
      await closing.close()
      closing.publish('g1', [change(1)])
      const other = await listen('g2')
      bus.publish('g2', [change(2)])
      await other.first(1)
      expect(received).toEqual([])
      expect(errors.all()).toEqual([])
      stop()
    })
  })
}

const change = (version: number): ChangeMessage => ({
  kind: 'change',
  userId: `user-${version}`,
  version,
  at: SOME_INSTANT,
  json: `{"version":${version}}`,
  inputs: null,
})

const versions = (messages: readonly BusMessage[]): number[] =>
  messages.map((message) => (message.kind === 'change' ? message.version : -1))

interface Inbox<Item> {
  put(items: readonly Item[]): void
  all(): Item[]
  /** Resolves once that many messages have arrived. */
  first(count: number): Promise<Item[]>
}

function createInbox<Item>(): Inbox<Item> {
  const items: Item[] = []
  const waiting: { count: number; resolve: (items: Item[]) => void }[] = []
  return {
    put(arrived) {
      for (const item of arrived) items.push(item)
      for (const { count, resolve } of waiting) if (items.length >= count) resolve(items.slice(0, count))
    },
    all: () => items.slice(),
    first(count) {
      if (items.length >= count) return Promise.resolve(items.slice(0, count))
      return new Promise((resolve) => waiting.push({ count, resolve }))
    },
  }
}
