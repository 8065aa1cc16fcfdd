// One example for each rule of the machine itself (SPEC P1 to P6). The same rules over random
// histories are in properties.test.ts.
import { describe, expect, test } from 'bun:test'
import {
  active,
  choose,
  closed,
  connected,
  createUser,
  idle,
  left,
  lost,
  say,
} from '../../../../../testing/worlds/presence-user.ts'
import type { PresenceEvent } from './event.ts'
import { nextDeadline, step } from './machine.ts'
import { POLICIES } from './policy.ts'
import { emptyRecord } from './record.ts'
import { TOMBSTONE_MS, TOMBSTONES_MAX } from './session-events.ts'

const { instant, calm } = POLICIES
const T = 1_000_000

describe('[P1] what changes nothing returns the same record', () => {
  test('[P1] no events, a tick before a deadline, and a tick for an unknown user', () => {
    const unknown = emptyRecord()
    expect(step(unknown, [{ type: 'tick' }], T, instant).record).toBe(unknown)
    const alice = createUser(instant)
    alice.at(T, connected('web#1', T), say('lunch', T, T + 500))
    expect(step(alice.record(), [], T + 1, instant).record).toBe(alice.record())
    expect(step(alice.record(), [{ type: 'tick' }], T + 499, instant).record).toBe(alice.record())
    expect(step(alice.record(), [{ type: 'tick' }], T + 500, instant).record).not.toBe(alice.record())
  })

  test('[P1] the end of an unknown session', () => {
    const unknown = emptyRecord()
    for (const end of [left('web#1', T), closed('web#1', T), lost('web#1', T, T - 1)]) {
      expect(step(unknown, [end], T, instant).record).toBe(unknown)
    }
  })
})

describe('[P2] only newer events count, and only once', () => {
  test('[P2] a report as old as the newest one applied, or older, changes nothing', () => {
    const alice = createUser(instant)
    alice.at(T, connected('web#1', T), idle('web#1', T + 10))
    const { sessions } = alice.record()
    const record = alice.record()
    for (const at of [T, T + 9, T + 10]) {
      expect(step(record, [active('web#1', at)], T + 20, instant).record).toBe(record)
      expect(step(record, [closed('web#1', at)], T + 20, instant).record).toBe(record)
      expect(step(record, [lost('web#1', at, T)], T + 20, instant).record).toBe(record)
    }
    alice.at(T + 20, active('web#1', T + 11))
    expect(alice.record().sessions[0]).toMatchObject({
      ...sessions[0]!,
      activity: 'active',
      eventAt: T + 11,
      lastActiveAt: T + 11,
    })
  })

  test.each([
    ['connected', connected('mobile#1', T + 5)],
    ['active', active('web#1', T + 5)],
    ['idle', idle('web#1', T + 5)],
    ['left', left('web#1', T + 5)],
    ['closed', closed('web#1', T + 5)],
    ['lost', lost('web#1', T + 5, T + 1)],
    ['set_availability', choose('busy', T + 5, T + 900_000)],
    ['set_custom_status', say('lunch', T + 5, T + 900_000)],
    ['set_away_after', { type: 'set_away_after', at: T + 5, awayAfterMs: 60_000 }],
  ] satisfies [string, PresenceEvent][])('[P2] %s twice equals once', (_, event) => {
    const alice = createUser(instant)
    alice.at(T, connected('web#1', T))
    alice.at(T + 5, event)
    const once = alice.record()
    alice.at(T + 5, event)
    alice.at(T + 6, event, event)
    expect(alice.record()).toBe(once)
  })

  test('[P2] a report of an unknown session adds it, so that a store which lost it heals', () => {
    const alice = createUser(instant)
    expect(alice.at(T, idle('web#1', T, { connectedAt: T - 60_000 }))).toMatchObject({
      status: 'away',
      devices: ['web'],
    })
  })
})

describe('[P3] an ended session stays ended', () => {
  const life = [connected('web#1', T), idle('web#1', T + 10), active('web#1', T + 20)]

  test.each([
    ['left', left('web#1', T + 30)],
    ['closed', closed('web#1', T + 30)],
    ['lost', lost('web#1', T + 30, T + 20)],
  ] satisfies [string, PresenceEvent][])(
    '[P3] after %s its events change nothing, at once or years later',
    (_, end) => {
      const alice = createUser(instant)
      for (const event of life) alice.at(T + 20, event)
      alice.at(T + 30, end)
      for (const now of [T + 31, T + 5_030, T + TOMBSTONE_MS, T + 2 * TOMBSTONE_MS, T + 1e11]) {
        alice.at(now)
        const before = alice.record()
        for (const event of [...life, end]) expect(step(before, [event], now, instant).record).toBe(before)
      }
      expect(alice.at(T + 1e11)).toMatchObject({ status: 'offline', devices: [] })
    },
  )

  test('[P3] a gateway that was cut off cannot bring back a session that was declared lost', () => {
    const alice = createUser(calm)
    alice.at(T, connected('web#1', T))
    alice.at(T + 90_000, lost('web#1', T + 90_000, T))
    for (const at of [T + 90_001, T + 120_000, T + 120_001, T + 1e9]) {
      alice.at(at)
      const before = alice.record()
      for (const word of [active('web#1', at, { connectedAt: T }), idle('web#1', at, { connectedAt: T })]) {
        expect(step(before, [word], at, calm).record).toBe(before)
      }
    }
  })

  test('[P3] it is remembered by id for 120 s, then by the instant it ended', () => {
    const alice = createUser(instant)
    alice.at(T, connected('web#1', T))
    alice.at(T + 10, left('web#1', T + 10))
    alice.at(T + 10 + TOMBSTONE_MS - 1, say('almost', T + 1))
    expect(alice.record()).toMatchObject({ tombstones: [{ id: 'web#1', endedAt: T + 10 }], forgottenAt: 0 })
    alice.at(T + 10 + TOMBSTONE_MS, say('now', T + 2))
    expect(alice.record()).toMatchObject({ tombstones: [], forgottenAt: T + 10 })
    const before = alice.record()
    expect(step(before, [connected('web#1', T)], T + TOMBSTONE_MS + 20, instant).record).toBe(before)
    // An unknown session that started before it counts as over too.
    const stranger = active('desktop#1', T + TOMBSTONE_MS + 20, { connectedAt: T + 10 })
    expect(step(before, [stranger], T + TOMBSTONE_MS + 20, instant).record).toBe(before)
    expect(alice.at(T + TOMBSTONE_MS + 20, connected('desktop#2', T + 11)).devices).toEqual(['desktop'])
  })

  test('[P3] a device comes back as a new session', () => {
    const alice = createUser(instant)
    alice.at(T, connected('web#1', T))
    alice.at(T + 10, left('web#1', T + 10))
    expect(alice.at(T + 20, connected('web#2', T + 20))).toMatchObject({ status: 'online', devices: ['web'] })
  })

  test('[P3] a client that reconnects more often than ids are kept leaves no ghost', () => {
    const alice = createUser(instant)
    const rounds = Array.from({ length: 3 * TOMBSTONES_MAX }, (_, index) => index)
    const events = rounds.flatMap((n) => [connected(`web#${n}`, T + 2 * n), left(`web#${n}`, T + 2 * n + 1)])
    for (const event of events) alice.at('at' in event ? event.at : T, event)
    expect(alice.record().tombstones).toHaveLength(TOMBSTONES_MAX)
    const before = alice.record()
    for (const event of events) expect(step(before, [event], T + 1_000, instant).record).toBe(before)
  })

  test('[P3] a gateway whose clock runs ahead leaves no ghost either', () => {
    const alice = createUser(calm)
    const early = [connected('web#1', T + 40), closed('web#1', T + 41)]
    alice.at(T, ...early)
    alice.at(T + 2 * TOMBSTONE_MS, say('lunch', T))
    const before = alice.record()
    for (const event of early) expect(step(before, [event], T + 2 * TOMBSTONE_MS, calm).record).toBe(before)
  })
})

describe('[P4] events applied together are one change', () => {
  test('[P4] one device replaces another: one version, never offline in between', () => {
    const alice = createUser(calm)
    alice.at(T, connected('web#1', T))
    const before = alice.at(T + 10_000)
    const after = alice.at(
      T + 20_000,
      left('web#1', T + 20_000),
      connected('mobile#1', T + 20_000),
      say('hi', T + 20_000),
    )
    expect(after).toMatchObject({ status: 'online', devices: ['mobile'], version: before.version + 1 })
  })

  test('[P4] [D7] the order of different devices does not matter, together or one by one', () => {
    const events = [
      left('web#1', T + 20_000),
      connected('mobile#1', T + 20_000),
      idle('desktop#1', T + 20_000),
    ]
    const orders = [
      [0, 1, 2],
      [0, 2, 1],
      [1, 0, 2],
      [1, 2, 0],
      [2, 0, 1],
      [2, 1, 0],
    ]
    const start = createUser(calm)
    start.at(T, connected('web#1', T), connected('desktop#1', T))
    start.at(T + 10_000)
    const together = orders.map((order) => {
      const alice = createUser(calm, start.record())
      alice.at(T + 20_000, ...order.map((index) => events[index]!))
      return alice.record()
    })
    for (const record of together) expect(record).toEqual(together[0]!)
    for (const order of orders) {
      const alice = createUser(calm, start.record())
      for (const index of order) alice.at(T + 20_000, events[index]!)
      expect(alice.record().sessions).toEqual(together[0]!.sessions)
      expect(alice.at(T + 20_000)).toMatchObject({ status: 'online', devices: ['mobile', 'desktop'] })
    }
  })

  test('[P4] a device that comes at the instant another leaves does not wait for the online delay', () => {
    for (const events of [
      [left('web#1', T + 20_000), connected('mobile#1', T + 20_000)],
      [connected('mobile#1', T + 20_000), left('web#1', T + 20_000)],
    ]) {
      const alice = createUser(calm)
      alice.at(T, connected('web#1', T))
      for (const event of events) alice.at(T + 20_000, event)
      expect(alice.at(T + 20_000)).toMatchObject({ status: 'online', devices: ['mobile'] })
    }
    const late = createUser(calm)
    late.at(T, connected('web#1', T))
    late.at(T + 20_000, left('web#1', T + 20_000))
    expect(late.at(T + 20_001, connected('mobile#1', T + 20_001)).status).toBe('offline')
  })

  test('[P4] a batch that arrives minutes late does not end the session that is still live', () => {
    const now = T + TOMBSTONE_MS + 50_000
    const [came, went, stays] = [connected('web#1', T + 1), left('web#1', T + 2), connected('mobile#1', T)]
    const records = [
      [came, went, stays],
      [came, stays, went],
      [stays, came, went],
    ].map((events) => step(emptyRecord(), events, now, instant).record)
    for (const record of records) expect(record).toEqual(records[0]!)
    expect(records[0]!.shown).toMatchObject({ status: 'online', devices: ['mobile'] })
  })
})

describe('[P5] [P6] deadlines', () => {
  test('[P5] stepping once, long after, equals stepping at every deadline', () => {
    const start = createUser(calm)
    start.at(T, connected('web#1', T), choose('busy', T, T + 60_000), say('lunch', T, T + 70_000))
    start.at(T + 50_000, closed('web#1', T + 50_000))
    const late = createUser(calm, start.record())
    late.at(T + 1e9)
    const onTime = createUser(calm, start.record())
    const dueAts: (number | null)[] = []
    for (let dueAt = start.dueAt(); dueAt !== null && dueAts.length < 9; dueAt = onTime.dueAt()) {
      dueAts.push(dueAt)
      onTime.at(dueAt, { type: 'tick' })
    }
    expect(dueAts).toEqual([T + 60_000, T + 70_000, T + 80_000])
    expect(late.record()).toEqual(onTime.record())
    expect(late.record()).toMatchObject({ version: 5, shown: { status: 'offline', since: T + 80_000 } })
  })

  test('[P5] deadlines up to now come before the events of now', () => {
    const alice = createUser(instant)
    alice.at(T, connected('web#1', T))
    alice.at(T + 10, closed('web#1', T + 10))
    // The grace ended first, so this is a departure and an arrival, not a return.
    expect(alice.at(T + 5_010, connected('web#2', T + 5_010))).toMatchObject({ status: 'online', version: 3 })
  })

  test('[P6] dueAt is the earliest of votes, waits and expiries, and null when there is none', () => {
    const alice = createUser(calm)
    alice.at(T, connected('web#1', T))
    expect(alice.dueAt()).toBe(T + 5_000)
    alice.at(T + 5_000)
    expect(alice.dueAt()).toBeNull()
    alice.at(T + 6_000, say('lunch', T + 6_000, T + 50_000))
    expect(alice.dueAt()).toBe(T + 50_000)
    alice.at(T + 7_000, closed('web#1', T + 7_000))
    expect(alice.dueAt()).toBe(T + 37_000)
    alice.at(T + 8_000, choose('away', T + 8_000, T + 9_000))
    expect(alice.dueAt()).toBe(T + 9_000)
    alice.at(T + 60_000)
    expect(alice.dueAt()).toBeNull()
    expect(nextDeadline(alice.record(), calm)).toBeNull()
  })

  test('[P6] an expiry that others cannot see is still a deadline: the own view changes', () => {
    const alice = createUser(instant)
    alice.at(T, choose('busy', T, T + 1_000))
    expect(alice.dueAt()).toBe(T + 1_000)
  })
})
