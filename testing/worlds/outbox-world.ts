// Delivery with connections that may be slow or dead and targets that change, beside a naive model of what
// every connection must have been told, half of them in the compact encoding. Each frame is compared with the model the moment it is sent;
// `expectTruth` checks what must hold once nothing is left to send.
import { expect } from 'bun:test'
import { decodeServerFrame, type Encoding } from '@greendot/protocol'
import {
  createDelivery,
  type Delivery,
  type Sink,
} from '../../packages/server/src/gateway/delivery/delivery.ts'
import { ALL_AT_ONCE, type Plans } from '../../packages/server/src/gateway/delivery/plans.ts'
import { type Pace, USUAL_PACE } from '../../packages/server/src/gateway/delivery/waves.ts'
import type { Clock } from '../../packages/server/src/platform/clock.ts'
import { createTally, type Tally } from '../../packages/server/src/platform/measuring/tally.ts'
import { NIL } from '../../packages/server/src/platform/typed-arrays.ts'
import { unknownPresence } from '../../packages/server/src/presence/core/view.ts'
import { createEvaluator } from '../../packages/server/src/presence/privacy/evaluator.ts'
import type { FakeClock } from './fake-clock.ts'
import { OPEN_RULES } from './records.ts'

/** What a sink answers to `send`: sent, kept but no more for now, or gone. */
const ANSWERS = { sent: 1, blocked: -1, gone: 0 } as const
export type SinkState = keyof typeof ANSWERS

/** A connection in the model; its number may have belonged to another one before. */
interface Connection {
  sink: SinkState
  watches: Set<number>
  /** Newest version it was told, by target, by snapshot or by push. */
  told: Map<number, number>
  own: { wanted: number; told: number }
  openedAt: number
  frames: Record<Frame['type'], { count: number; lastAt: number }>
}

type Frame =
  | { type: 'self'; revision: number }
  | { type: 'presence_change'; changes: { user_id: string; version: number }[] }

export interface OutboxWorld {
  delivery: Delivery
  framesSent(): number
  /** Frames with changes that this connection was sent. */
  framesTo(connection: number): number
  /** The newest version of the target that the connection was told. */
  told(connection: number, target: number): number | undefined
  watch(connection: number, target: number): void
  unwatch(connection: number, target: number): void
  /** The connection ends and its number goes to a new one. */
  replace(connection: number): void
  change(target: number): void
  changeOwn(connection: number): void
  /** What sending to this connection leads to from now on. */
  become(connection: number, sink: SinkState): void
  tally: Tally
  /** Unblocks slow connections, replaces dead ones, and waits until nothing is left to send. */
  calmDown(): Promise<void>
  expectTruth(): void
}

export interface OutboxWorldOptions {
  clock: FakeClock
  flushMs: number
  connections: number
  targets: number
  /** How changes reach large audiences; without it, all at once. */
  plans?: Plans
  pace?: Pace
  /** Time one send seems to take, to make turns run out of their budget. */
  sendCostMs?: number
  /** How far the wall clock of delivery is from the truth. */
  skewMs?: () => number
}

/** Neighbours differ, so that targets have watchers of both kinds. */
const encodingOf = (number: number): Encoding => (number % 2 === 0 ? 'json' : 'compact')

function readAs(encoding: Encoding, text: string): Frame {
  if (encoding === 'json') return JSON.parse(text)
  expect(text).not.toStartWith('{"type":"presence_change"')
  return decodeServerFrame(text) as unknown as Frame
}

const newConnection = (openedAt: number): Connection => ({
  sink: 'sent',
  watches: new Set(),
  told: new Map(),
  own: { wanted: 0, told: 0 },
  openedAt,
  frames: {
    presence_change: { count: 0, lastAt: Number.NEGATIVE_INFINITY },
    self: { count: 0, lastAt: Number.NEGATIVE_INFINITY },
  },
})

export function createOutboxWorld(options: OutboxWorldOptions): OutboxWorld {
  const { clock, flushMs, plans = ALL_AT_ONCE, pace = USUAL_PACE, sendCostMs = 0, skewMs = () => 0 } = options
  const connections = Array.from({ length: options.connections }, () => newConnection(clock.elapsed()))
  const versions = new Array<number>(options.targets).fill(1)
  const tally = createTally()
  let spentMs = 0
  let framesSent = 0
  let changesSent = 0

  const skewedClock: Clock = {
    ...clock,
    now: () => clock.now() + skewMs(),
    elapsed: () => clock.elapsed() + spentMs,
  }
  if (options.skewMs === undefined)
    tally.propagation.observe = (waitedMs) => expect(waitedMs).toBeGreaterThanOrEqual(0)
  const evaluator = createEvaluator(OPEN_RULES)
  const interner = { name: (target: number) => `${target}` }
  const delivery = createDelivery({ interner, evaluator, clock: skewedClock, flushMs, plans, pace, tally })
  const { edges, targets } = delivery
  for (const number of connections.keys()) attach(number)

  const jsonOf = (target: number) =>
    JSON.stringify({
      ...unknownPresence(String(target)),
      last_seen: versions[target],
      version: versions[target],
    })

  function attach(number: number): void {
    const encoding = encodingOf(number)
    const sink: Sink = {
      send(frame) {
        spentMs += sendCostMs
        const connection = connections[number]!
        if (connection.sink !== 'gone') hear(connection, readAs(encoding, frame))
        return ANSWERS[connection.sink]
      },
    }
    delivery.attach(number, sink, encoding)
  }

  /** One frame of a kind per flush interval. A turn that sends for long may be late, but never extra. */
  function expectPaced({ openedAt, frames }: Connection, type: Frame['type']): void {
    const now = skewedClock.elapsed()
    const sent = frames[type]
    // A hair less, for fractions of milliseconds.
    if (sendCostMs === 0) expect(now - sent.lastAt).toBeGreaterThan(flushMs - 0.001)
    expect(++sent.count).toBeLessThanOrEqual((now - openedAt) / flushMs + 1)
    sent.lastAt = now
  }

  function hear(connection: Connection, frame: Frame): void {
    framesSent++
    expectPaced(connection, frame.type)
    if (frame.type === 'self') {
      expect(frame.revision).toBeGreaterThan(connection.own.told)
      connection.own.told = frame.revision
      return
    }
    expect(frame.changes.length).toBeGreaterThan(0)
    expect(new Set(frame.changes.map(({ user_id }) => user_id)).size).toBe(frame.changes.length)
    for (const { user_id, version } of frame.changes) {
      const target = Number(user_id)
      changesSent++
      expect(connection.watches.has(target)).toBe(true)
      expect(version).toBe(versions[target]!)
      expect(version).toBeGreaterThan(connection.told.get(target)!)
      connection.told.set(target, version)
    }
  }

  /** As the gateway does with the last reference to a target. */
  function forgetUnwatched(target: number): void {
    if (edges.watchers(target) === 0) delivery.forget(target)
  }

  function become(number: number, sink: SinkState): void {
    const connection = connections[number]!
    // A dead connection stays dead until it is replaced.
    if (connection.sink === 'gone') return
    connection.sink = sink
    if (sink === 'sent') delivery.unblock(number)
  }

  function replace(number: number): void {
    delivery.detach(number)
    const dropped: number[] = []
    delivery.clear(number, (target) => dropped.push(target))
    expect(new Set(dropped)).toEqual(connections[number]!.watches)
    for (const target of dropped) forgetUnwatched(target)
    connections[number] = newConnection(skewedClock.elapsed())
    attach(number)
  }

  return {
    delivery,
    framesSent: () => framesSent,
    framesTo: (number) => connections[number]!.frames.presence_change.count,
    told: (number, target) => connections[number]!.told.get(target),
    watch(number, target) {
      const connection = connections[number]!
      expect(edges.find(number, target) !== NIL).toBe(connection.watches.has(target))
      if (connection.watches.has(target)) return
      if (!targets.isKnown(target))
        delivery.learn(target, versions[target]!, jsonOf(target), skewedClock.now())
      delivery.watch(number, target)
      connection.watches.add(target)
      connection.told.set(target, versions[target]!)
    },
    unwatch(number, target) {
      const connection = connections[number]!
      expect(delivery.unwatch(number, target)).toBe(connection.watches.delete(target))
      connection.told.delete(target)
      forgetUnwatched(target)
    },
    replace,
    change(target) {
      versions[target]!++
      if (!targets.isKnown(target)) return
      expect(delivery.change(target, versions[target]!, jsonOf(target), skewedClock.now())).toBe(true)
    },
    changeOwn(number) {
      const { own } = connections[number]!
      delivery.own(number, JSON.stringify({ type: 'self', revision: ++own.wanted }))
    },
    become,
    tally,
    async calmDown() {
      for (const [number, { sink }] of connections.entries()) {
        if (sink === 'blocked') become(number, 'sent')
        if (sink === 'gone') replace(number)
      }
      for (let round = 0; clock.timerCount() > 0 && round < 20; round++) await clock.advance(flushMs)
      // The last wave has its time, and so has the one that waited for it.
      for (let round = 0; clock.timerCount() > 0 && round < 2; round++) await clock.advance(plans.paceMsMax)
      for (let round = 0; clock.timerCount() > 0 && round < 3; round++) await clock.advance(flushMs)
    },
    expectTruth() {
      for (const [number, connection] of connections.entries()) {
        expect(edges.degree(number)).toBe(connection.watches.size)
        for (const target of connection.watches) expect(connection.told.get(target)).toBe(versions[target]!)
        expect(connection.own.told).toBe(connection.own.wanted)
        expect(delivery.isCaughtUp(number)).toBe(true)
      }
      expect(delivery.blocked()).toBe(0)
      expect(delivery.waves()).toEqual({ walking: 0, waiting: 0 })
      // Frames to dead connections count as well.
      expect(tally.deliveries).toBeGreaterThanOrEqual(changesSent)
      // With nothing to send no timer is set.
      expect(clock.timerCount()).toBe(0)
      for (let target = 0; target < versions.length; target++) {
        const watchers: number[] = []
        for (let edge = edges.firstWatcher(target); edge !== NIL; edge = edges.nextWatcher(edge))
          watchers.push(edges.connectionOf(edge))
        expect(edges.watchers(target)).toBe(watchers.length)
        const expected = [...connections.keys()].filter((number) => connections[number]!.watches.has(target))
        expect(watchers.sort()).toEqual(expected.sort())
      }
    },
  }
}
