// The rules of the machine itself (SPEC P1 to P6) over random histories and policies: purity, replays, order and
// deadlines. What others see is in properties-shown.test.ts, what they never see in properties-blips.test.ts.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  type Delivery,
  FAR_MS,
  type History,
  histories,
} from '../../../../../testing/worlds/presence-histories.ts'
import {
  deepFreeze,
  everyRecord,
  framesOf,
  holds,
} from '../../../../../testing/worlds/presence-properties.ts'
import { lookOf } from '../../../../../testing/worlds/presence-user.ts'
import { chunksOf } from '../../platform/chunks.ts'
import type { PresenceEvent } from './event.ts'
import { nextDeadline, step } from './machine.ts'
import { emptyRecord, type UserRecord } from './record.ts'

function play({ policy, deliveries }: History): UserRecord {
  return deliveries.reduce(
    (record, { events, now }) => step(record, events, now, policy).record,
    emptyRecord(),
  )
}

const endOf = (history: History): number => history.deliveries.at(-1)?.now ?? 0

test('[P1] step does not mutate its input, and gives the same result for the same input', () => {
  holds(
    fc.property(histories(), (history) => {
      deepFreeze(history.deliveries)
      let record = deepFreeze(emptyRecord())
      for (const { events, now } of history.deliveries) {
        const first = step(record, events, now, history.policy)
        expect(step(record, events, now, history.policy)).toEqual(first)
        record = deepFreeze(first.record)
      }
    }),
  )
})

test('[P1] a record that went through a store steps to the same results', () => {
  holds(
    fc.property(histories(), (history) => {
      let record = emptyRecord()
      for (const { events, now } of history.deliveries) {
        const stored: UserRecord = JSON.parse(JSON.stringify(record))
        const fromStore = step(stored, events, now, history.policy)
        const fromMemory = step(record, events, now, history.policy)
        expect(fromStore).toEqual(fromMemory)
        expect(fromStore.record === stored).toBe(fromMemory.record === record)
        record = fromMemory.record
      }
    }),
  )
})

test('[P2] [P3] [D9] replayed events, one at a time, in any order and at any later time, change nothing', () => {
  const laterMs = fc.oneof(fc.constant(0), fc.nat(30), fc.nat(200_000), fc.nat(FAR_MS))
  const replays = fc.array(fc.record({ pick: fc.nat(), laterMs }), { maxLength: 40 })
  holds(
    fc.property(histories(), replays, (history, replays) => {
      const events = history.deliveries.flatMap((delivery) => delivery.events)
      let record = play(history)
      let now = endOf(history)
      for (const { pick, laterMs } of replays) {
        now += laterMs
        record = step(record, [], now, history.policy).record
        expect(step(record, [events[pick % events.length]!], now, history.policy).record).toBe(record)
      }
    }),
  )
})

test('[P2] [P3] every prefix of a history, delivered again as a whole, changes nothing', () => {
  holds(
    fc.property(histories(), fc.nat(), fc.nat(FAR_MS), (history, cut, laterMs) => {
      const deliveries = history.deliveries.slice(0, 1 + (cut % history.deliveries.length))
      const now = endOf({ ...history, deliveries }) + laterMs
      const once = step(play({ ...history, deliveries }), [], now, history.policy).record
      const replayed = deliveries.flatMap((delivery) => delivery.events)
      expect(step(once, replayed, now, history.policy).record).toBe(once)
    }),
  )
})

test('[P2] a history in which every event comes twice is the same history', () => {
  holds(
    fc.property(histories(), (history) => {
      const twice = history.deliveries.map(
        ({ now, events }): Delivery => ({
          now,
          events: events.flatMap((event) => [event, event]),
        }),
      )
      expect(play({ ...history, deliveries: twice })).toEqual(play(history))
    }),
  )
})

test('[P3] an ended session stays ended the way it ended, whatever is reported', () => {
  holds(
    fc.property(histories(), (history) => {
      const endedIds = new Set<string>()
      for (const { before, after } of framesOf(history)) {
        const known = new Map(after.sessions.map((session) => [session.id, session]))
        for (const session of before.sessions) {
          const now = known.get(session.id)
          if (now === undefined) endedIds.add(session.id)
          else if (session.end.state !== 'live') expect(now).toBe(session)
        }
        for (const id of known.keys()) expect(endedIds).not.toContain(id)
      }
    }),
  )
})

/** The events of one device at one instant, in a longer history. */
function splitByDevice(events: readonly PresenceEvent[], deviceOf: Map<string, string>): PresenceEvent[][] {
  const groups = new Map<string, PresenceEvent[]>()
  for (const [index, event] of events.entries()) {
    const owner = 'sessionId' in event ? deviceOf.get(event.sessionId)! : `choice-${index}`
    groups.set(owner, [...(groups.get(owner) ?? []), event])
  }
  return [...groups.values()]
}

function devicesOf(history: History): Map<string, string> {
  const deviceOf = new Map<string, string>()
  for (const { events } of history.deliveries) {
    for (const event of events) if ('connectedAt' in event) deviceOf.set(event.sessionId, event.deviceId)
  }
  return deviceOf
}

/** The groups merged in an order that `picks` decides, each group keeping its own order. */
function interleave(groups: readonly PresenceEvent[][], picks: readonly number[]): PresenceEvent[] {
  const rest = groups.map((group) => [...group])
  const merged: PresenceEvent[] = []
  for (let turn = 0; rest.some((group) => group.length > 0); turn++) {
    const waiting = rest.filter((group) => group.length > 0)
    merged.push(waiting[(picks[turn % picks.length] ?? 0) % waiting.length]!.shift()!)
  }
  return merged
}

const picks = fc.array(fc.nat(), { minLength: 5, maxLength: 5 })

test('[P4] [D7] applied together, the order of different devices does not change the record', () => {
  // Few deliveries with many events, so that there is an order to change.
  const fewDeliveries = fc.record({ history: histories(), size: fc.integer({ min: 2, max: 8 }) })
  holds(
    fc.property(fewDeliveries, picks, ({ history, size }, picks) => {
      const deviceOf = devicesOf(history)
      let record = emptyRecord()
      for (const together of chunksOf(history.deliveries, size)) {
        const now = together.at(-1)!.now
        const events = together.flatMap((delivery) => delivery.events)
        const shuffled = interleave(splitByDevice(events, deviceOf), picks)
        const result = step(record, events, now, history.policy)
        expect(step(record, shuffled, now, history.policy)).toEqual(result)
        record = result.record
      }
    }),
  )
})

test('[P4] [D7] one after the other at one instant, the order of devices does not change the outcome', () => {
  holds(
    fc.property(histories({ sessionsOnly: true, punctual: true }), picks, (history, picks) => {
      const deviceOf = devicesOf(history)
      let record = emptyRecord()
      for (const { events, now } of history.deliveries) {
        const inTurn = (turns: readonly PresenceEvent[]): UserRecord =>
          turns.reduce((before, event) => step(before, [event], now, history.policy).record, record)
        const groups = splitByDevice(events, deviceOf)
        const ends = [groups.flat(), groups.toReversed().flat(), interleave(groups, picks)].map(inTurn)
        for (const { sessions, shown } of ends.slice(1)) {
          expect(sessions).toEqual(ends[0]!.sessions)
          expect(lookOf({ ...ends[0]!, shown })).toEqual(lookOf(ends[0]!))
        }
        record = ends[0]!
      }
    }),
  )
})

test('[P5] stepping once equals stepping at every deadline on the way, version included', () => {
  holds(
    fc.property(histories(), fc.nat(FAR_MS), (history, laterMs) => {
      const { policy } = history
      const last: Delivery = { now: endOf(history) + laterMs, events: [{ type: 'tick' }] }
      let record = emptyRecord()
      for (const { events, now } of [...history.deliveries, last]) {
        const atOnce = step(record, events, now, policy)
        let due = nextDeadline(record, policy)
        while (due !== null && due <= now) {
          const onTheWay = step(record, [{ type: 'tick' }], due, policy)
          record = onTheWay.record
          expect(record.settledAt).toBe(due)
          due = onTheWay.dueAt
        }
        expect(step(record, events, now, policy)).toEqual(atOnce)
        record = atOnce.record
      }
    }),
  )
})

test('[P6] dueAt is the first instant at which a tick changes something, and null when none does', () => {
  holds(
    fc.property(histories(), (history) => {
      const { policy } = history
      for (const { after, dueAt, now } of framesOf(history)) {
        const tick = (at: number) => step(after, [{ type: 'tick' }], at, policy).record
        if (dueAt === null) {
          expect(tick(now + FAR_MS)).toBe(after)
          continue
        }
        expect(dueAt).toBeGreaterThan(now)
        expect(tick(dueAt - 1)).toBe(after)
        expect(tick(dueAt)).not.toEqual(after)
      }
    }),
  )
})

test('[P6] deadlines are met in order and come to an end', () => {
  holds(
    fc.property(histories(), (history) => {
      const settledAt = everyRecord(history).map(({ record }) => record.settledAt)
      expect(settledAt).toEqual(settledAt.toSorted((a, b) => a - b))
      expect(nextDeadline(everyRecord(history).at(-1)!.record, history.policy)).toBeNull()
    }),
  )
})
