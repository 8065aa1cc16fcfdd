// A world around the outbox for its tests: connections that may be slow or dead, targets that change,
// and a naive model of what every connection must have been told. Each frame is held against the
// model the moment it is sent; `expectTruth` says what must be true once everything has calmed down.
import { expect } from 'bun:test'
import { createOutbox, type Outbox, type SendResult } from '../packages/server/src/gateway/delivery/outbox.ts'
import { ALL_AT_ONCE, type Plans } from '../packages/server/src/gateway/delivery/plans.ts'
import { createTargetTable } from '../packages/server/src/gateway/delivery/target-table.ts'
import {
  discreetCrowd,
  isDiscreetCrowd,
  NIL,
  openCrowd,
} from '../packages/server/src/gateway/delivery/watch-index.ts'
import { type Pace, USUAL_PACE } from '../packages/server/src/gateway/delivery/waves.ts'
import type { Clock } from '../packages/server/src/platform/clock.ts'
import type { FakeClock } from './fake-clock.ts'

/** A connection as the model sees it; its number may have belonged to another one before. */
interface Connection {
  socket: SendResult
  /** Not to be noticed. */
  isDiscreet: boolean
  watches: Set<number>
  /** Newest version it was told, per target, by snapshot or by push. */
  told: Map<number, number>
  own: { wanted: number; told: number }
  frames: number
  heard: { at: number; frame: unknown }[]
  lastFrameAt: { presence_change: number; self: number }
}

export interface OutboxWorld {
  outbox: Outbox
  framesSent(): number
  /** Frames with changes that this connection was sent. */
  framesTo(connection: number): number
  /** Every frame this connection was sent, and when. */
  heard(connection: number): readonly { at: number; frame: unknown }[]
  /** Whom the connection watches. */
  watched(connection: number): readonly number[]
  /** The newest version of the target that the connection was told. */
  told(connection: number, target: number): number | undefined
  watch(connection: number, target: number): void
  unwatch(connection: number, target: number): void
  /** Whoever is behind the connection is not to be noticed from now on, or is again. */
  setDiscreet(connection: number, isDiscreet: boolean): void
  /** The connection ends and its number goes to a new one. */
  replace(connection: number): void
  change(target: number): void
  changeOwn(connection: number): void
  /** What sending to this connection leads to from now on. */
  become(connection: number, socket: SendResult): void
  /** Lets slow readers catch up and the dead go, and waits until nothing is left to say. */
  calmDown(): Promise<void>
  expectTruth(): void
}

export interface WorldOptions {
  clock: FakeClock
  flushMs: number
  connections: number
  targets: number
  /** How changes reach large audiences; without it, all at once. */
  plans?: Plans
  pace?: Pace
  /** Time one send seems to take, to make turns run out of their budget. */
  sendCostMs?: number
  /** How far the outbox's idea of the time is from the truth. */
  skewMs?: () => number
}

const newConnection = (): Connection => ({
  socket: 'sent',
  isDiscreet: false,
  watches: new Set(),
  told: new Map(),
  own: { wanted: 0, told: 0 },
  frames: 0,
  heard: [],
  lastFrameAt: { presence_change: Number.NEGATIVE_INFINITY, self: Number.NEGATIVE_INFINITY },
})

export function createOutboxWorld(options: WorldOptions): OutboxWorld {
  const { clock, flushMs, plans = ALL_AT_ONCE, pace = USUAL_PACE, sendCostMs = 0, skewMs = () => 0 } = options
  const connections = Array.from({ length: options.connections }, newConnection)
  const versions = new Array<number>(options.targets).fill(1)
  const targets = createTargetTable({ mask: (json) => json, now: () => 0 })
  let spentMs = 0
  let framesSent = 0
  let changesSent = 0
  let changesCounted = 0

  const jsonOf = (target: number) => JSON.stringify({ user_id: String(target), version: versions[target] })
  for (const target of versions.keys()) targets.update(target, 1, jsonOf(target), clock.now())

  const outboxClock: Clock = {
    ...clock,
    now: () => clock.now() + skewMs(),
    elapsed: () => clock.elapsed() + spentMs,
  }
  const outbox = createOutbox({
    targets,
    clock: outboxClock,
    flushMs,
    plans,
    pace,
    send(number, frame) {
      spentMs += sendCostMs
      const connection = connections[number]!
      if (connection.socket !== 'gone') hear(connection, JSON.parse(frame))
      return connection.socket
    },
    ownFrame(number) {
      const { own } = connections[number]!
      return own.wanted > own.told ? JSON.stringify({ type: 'self', revision: own.wanted }) : null
    },
    onFrame(changes, waitedMs) {
      changesCounted += changes
      if (options.skewMs === undefined) expect(waitedMs).toBeGreaterThanOrEqual(0)
    },
  })
  const { index } = outbox

  type Frame =
    | { type: 'self'; revision: number }
    | { type: 'presence_change'; changes: { user_id: string; version: number }[] }

  function hear(connection: Connection, frame: Frame): void {
    framesSent++
    connection.heard.push({ at: clock.now(), frame })
    // One frame of a kind per flush interval; a hair less for fractions of milliseconds.
    expect(clock.now() - connection.lastFrameAt[frame.type]).toBeGreaterThan(flushMs - 0.001)
    connection.lastFrameAt[frame.type] = clock.now()
    if (frame.type === 'self') {
      expect(frame.revision).toBeGreaterThan(connection.own.told)
      connection.own.told = frame.revision
      return
    }
    connection.frames++
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

  return {
    outbox,
    framesSent: () => framesSent,
    framesTo: (number) => connections[number]!.frames,
    heard: (number) => connections[number]!.heard,
    watched: (number) => [...connections[number]!.watches],
    told: (number, target) => connections[number]!.told.get(target),
    watch(number, target) {
      const connection = connections[number]!
      expect(index.watch(number, target, connection.isDiscreet)).toBe(!connection.watches.has(target))
      if (connection.watches.has(target)) return
      connection.watches.add(target)
      connection.told.set(target, versions[target]!)
    },
    unwatch(number, target) {
      const connection = connections[number]!
      expect(index.unwatch(number, target)).toBe(connection.watches.delete(target))
      connection.told.delete(target)
    },
    setDiscreet(number, isDiscreet) {
      connections[number]!.isDiscreet = isDiscreet
      outbox.setDiscreet(number, isDiscreet)
    },
    replace(number) {
      outbox.forget(number)
      const dropped: number[] = []
      index.clear(number, (target) => dropped.push(target))
      expect(new Set(dropped)).toEqual(connections[number]!.watches)
      connections[number] = newConnection()
    },
    change(target) {
      versions[target]!++
      expect(targets.update(target, versions[target]!, jsonOf(target), outboxClock.now())).toBe(true)
      outbox.markTarget(target)
    },
    changeOwn(number) {
      connections[number]!.own.wanted++
      outbox.markOwn(number)
    },
    become(number, socket) {
      const connection = connections[number]!
      // The dead stay dead until they are replaced.
      if (connection.socket === 'gone') return
      connection.socket = socket
      if (socket === 'sent') outbox.unblock(number)
    },
    async calmDown() {
      for (const [number, { socket }] of connections.entries()) {
        if (socket === 'blocked') this.become(number, 'sent')
        if (socket === 'gone') this.replace(number)
      }
      for (let round = 0; clock.timerCount() > 0 && round < 20; round++) await clock.advance(flushMs)
      // The last wave has its time, the one that waited for it too.
      for (let round = 0; clock.timerCount() > 0 && round < 2; round++) await clock.advance(plans.paceMsMax)
      for (let round = 0; clock.timerCount() > 0 && round < 3; round++) await clock.advance(flushMs)
    },
    expectTruth() {
      for (const [number, connection] of connections.entries()) {
        expect(index.degree(number)).toBe(connection.watches.size)
        for (const target of connection.watches) expect(connection.told.get(target)).toBe(versions[target]!)
        expect(connection.own.told).toBe(connection.own.wanted)
      }
      expect(outbox.blocked()).toBe(0)
      expect(outbox.waves()).toEqual({ walking: 0, waiting: 0 })
      expect(changesCounted).toBeGreaterThanOrEqual(changesSent)
      // Whoever has nothing to say sets no timer.
      expect(clock.timerCount()).toBe(0)
      for (let target = 0; target < versions.length; target++) {
        const watchers: number[] = []
        for (const crowd of [openCrowd(target), discreetCrowd(target)]) {
          const before = watchers.length
          for (let edge = index.firstWatcher(crowd); edge !== NIL; edge = index.nextWatcher(edge)) {
            const number = index.connectionOf(edge)
            expect(isDiscreetCrowd(crowd)).toBe(connections[number]!.isDiscreet)
            watchers.push(number)
          }
          expect(index.watchers(crowd)).toBe(watchers.length - before)
        }
        const expected = [...connections.keys()].filter((number) => connections[number]!.watches.has(target))
        expect(watchers.sort()).toEqual(expected.sort())
      }
    },
  }
}
