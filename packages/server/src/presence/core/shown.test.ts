// What others see (SPEC P17, P18, P20, P21, P23, P24), by example: versions, last seen, settings and their
// expiries, and unknown users. Invisible users are in invisible.test.ts.
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
import { POLICIES } from './policy.ts'
import { emptyRecord } from './record.ts'
import { sourceOf, toPresence, unknownPresence } from './view.ts'

const { instant, calm, linger } = POLICIES
const T = 10_000_000

describe('[P17] version', () => {
  test('[P17] one more with each visible change of status, devices or custom status', () => {
    const alice = createUser(instant)
    expect(alice.at(T, connected('web#1', T)).version).toBe(1)
    expect(alice.at(T + 1, idle('web#1', T + 1)).version).toBe(2)
    expect(alice.at(T + 2, connected('mobile#1', T + 2)).version).toBe(3)
    expect(alice.at(T + 3, say('lunch', T + 3)).version).toBe(4)
    expect(alice.at(T + 4, say('lunch', T + 4, T + 1_000)).version).toBe(5)
    expect(alice.at(T + 1_000).version).toBe(6)
    expect(alice.at(T + 1_001, choose('busy', T + 1_001)).version).toBe(7)
    expect(alice.at(T + 1_002, left('mobile#1', T + 1_002)).version).toBe(8)
    expect(alice.at(T + 1_003, closed('web#1', T + 1_003)).version).toBe(8)
    expect(alice.at(T + 6_003).version).toBe(9)
  })

  test('[P17] [S6] the first is that of the change, whenever the user was looked up', () => {
    const changesAt = Date.UTC(2026, 0, 1)
    const early = createUser(calm)
    early.at(changesAt - 60_000, choose('auto', changesAt - 60_000))
    const late = createUser(calm)
    const shown = [early, late].map((user) => {
      user.at(changesAt, connected('web#1', changesAt))
      return user.at(changesAt + calm.onlineDelayMs).version
    })
    expect(shown[0]).toBe(shown[1]!)
    expect(shown[0]).toBeGreaterThan(365 * 24 * 3_600_000)
    expect(late.at(changesAt + 60_000, say('lunch', changesAt + 60_000)).version).toBe(shown[1]! + 1)
  })

  test('[P17] [D9] the same when nothing visible changes', () => {
    const alice = createUser(instant)
    const before = alice.at(T, connected('web#1', T), say('lunch', T))
    const quiet: PresenceEvent[] = [
      active('web#1', T + 1),
      connected('web#2', T + 2),
      idle('web#1', T + 3),
      left('web#1', T + 4),
      say('lunch', T + 5),
      choose('auto', T + 6),
      { type: 'set_away_after', at: T + 7, awayAfterMs: 60_000 },
      { type: 'tick' },
    ]
    for (const event of quiet) expect(alice.at(T + 10, event)).toEqual(before)
  })

  test('[P17] it continues from the archived version', () => {
    const alice = createUser(instant, emptyRecord(41))
    expect(alice.at(T, connected('web#1', T)).version).toBe(42)
  })
})

describe('[P18] [S4] last seen', () => {
  test('[P18] a goodbye and a closed socket are proof of the moment they happened', () => {
    const alice = createUser(instant)
    alice.at(T, connected('web#1', T))
    expect(alice.at(T + 90, left('web#1', T + 80)).last_seen).toBe(T + 80)
    alice.at(T + 100, connected('web#2', T + 100))
    alice.at(T + 900, closed('web#2', T + 800))
    expect(alice.at(T + 5_800)).toMatchObject({ status: 'offline', last_seen: T + 800 })
  })

  test.each([
    ['instant', instant, T + 35_000],
    ['linger', linger, T + 300_000],
  ] as const)('[P18] for a lost session under %s it is the last proof of life', (_, policy, offlineAt) => {
    const alice = createUser(policy)
    alice.at(T - 5_000, connected('web#1', T - 5_000))
    alice.at(T + 30_400, lost('web#1', T + 30_000, T))
    expect(alice.at(offlineAt)).toMatchObject({ status: 'offline', last_seen: T })
  })

  test('[P18] it never goes backwards, not even for a session lost with an old proof of life', () => {
    const alice = createUser(instant)
    alice.at(T, connected('web#1', T), connected('mobile#1', T))
    alice.at(T + 50_000, left('mobile#1', T + 50_000))
    alice.at(T + 51_000, lost('web#1', T + 51_000, T + 21_000))
    expect(alice.at(T + 56_000)).toMatchObject({ status: 'offline', last_seen: T + 50_000 })
  })

  test('[P18] it is frozen between visible changes: one version is one object', () => {
    const alice = createUser(instant)
    const before = alice.at(T, connected('web#1', T))
    expect(before.last_seen).toBe(T)
    expect(alice.at(T + 60_000, active('web#1', T + 60_000))).toEqual(before)
    expect(alice.record().lastSeen).toBe(T + 60_000)
    expect(alice.at(T + 70_000, say('lunch', T + 70_000))).toMatchObject({
      last_seen: T + 60_000,
      version: 2,
    })
  })

  test('[P18] it is never in the future, by a clock that runs behind either', () => {
    const alice = createUser(instant)
    expect(alice.at(T, connected('web#1', T + 5_000))).toMatchObject({ version: 0 })
    alice.at(T + 5_000)
    expect(alice.at(T + 5_001, left('web#1', T + 9_000)).last_seen).toBe(T + 5_001)
  })

  test('[P18] [P14] an arrival that was not shown does not move it', () => {
    const alice = createUser(calm)
    alice.at(T, connected('web#1', T))
    const before = alice.at(T + 60_000, left('web#1', T + 60_000))
    alice.at(T + 70_000, connected('web#2', T + 70_000))
    alice.at(T + 71_000, left('web#2', T + 71_000))
    expect(alice.at(T + 80_000)).toEqual(before)
    // Nor when the next visible change is one of an absent user.
    expect(alice.at(T + 90_000, say('back soon', T + 90_000)).last_seen).toBe(T + 60_000)
  })
})

describe('[P20] [S1] [S3] the newest setting wins', () => {
  test('[P20] an older setting that arrives later changes nothing', () => {
    const alice = createUser(instant)
    alice.at(T, connected('web#1', T))
    const before = alice.at(T + 20, choose('busy', T + 10), say('new', T + 10))
    expect(alice.at(T + 30, choose('away', T + 9), say('old', T + 9))).toEqual(before)
    expect(alice.at(T + 40, choose('away', T + 11)).status).toBe('away')
  })

  test.each([
    ['availability', choose('away', T), choose('busy', T)],
    ['availability that differs in its expiry', choose('busy', T, T + 500), choose('busy', T, T + 5_000)],
    ['custom status', say('a', T), say('b', T)],
    ['a custom status and its end', say('a', T), say(null, T)],
    [
      'away after',
      { type: 'set_away_after', at: T, awayAfterMs: 60_000 },
      { type: 'set_away_after', at: T, awayAfterMs: null },
    ],
  ] satisfies [string, PresenceEvent, PresenceEvent][])(
    '[P20] settings of the same instant give one outcome in both orders: %s',
    (_, one, other) => {
      const [a, b] = [createUser(instant), createUser(instant)]
      for (const event of [connected('web#1', T), one, other]) a.at(T, event)
      for (const event of [connected('web#1', T), other, one]) b.at(T, event)
      const { version: _a, ...outcomeA } = a.record()
      const { version: _b, ...outcomeB } = b.record()
      expect(outcomeA).toEqual(outcomeB)
    },
  )

  test('[P20] automatic and an empty custom status have no expiry', () => {
    const alice = createUser(instant)
    alice.at(T, choose('auto', T, T + 500), say(null, T, T + 500))
    expect(alice.dueAt()).toBeNull()
    expect(alice.own(T)).toMatchObject({
      availability: 'auto',
      availability_expires_at: null,
      custom_status: null,
    })
  })
})

describe('[P21] [S3] expiries', () => {
  test('[P21] a custom status disappears at its deadline', () => {
    const alice = createUser(instant)
    const before = alice.at(T, say('lunch', T, T + 60_000))
    expect(before).toMatchObject({
      custom_status: { text: 'lunch', emoji: null, expires_at: T + 60_000 },
      version: 1,
    })
    expect(alice.at(T + 59_999)).toEqual(before)
    alice.at(T + 60_000)
    expect(alice.record()).toMatchObject({ version: 2, shown: { customStatus: null } })
  })

  test('[P21] an availability returns to automatic at its deadline', () => {
    const alice = createUser(instant)
    alice.at(T, connected('web#1', T), choose('busy', T, T + 60_000))
    expect(alice.at(T + 59_999)).toMatchObject({ status: 'busy', version: 1 })
    expect(alice.own(T + 59_999)).toMatchObject({ availability: 'busy', availability_expires_at: T + 60_000 })
    expect(alice.at(T + 60_000)).toMatchObject({ status: 'online', version: 2 })
    expect(alice.own(T + 60_000)).toMatchObject({ availability: 'auto', availability_expires_at: null })
  })

  test('[P21] everything that ends at one deadline is one visible change', () => {
    const alice = createUser(instant)
    alice.at(T, connected('web#1', T), choose('busy', T, T + 10_000), say('lunch', T, T + 10_000))
    alice.at(T + 5_000, closed('web#1', T + 5_000))
    expect(alice.at(T + 9_999).version).toBe(1)
    expect(alice.at(T + 10_000)).toMatchObject({ status: 'offline', custom_status: null, version: 2 })
  })

  test('[P21] a setting that had expired before it arrived is never shown', () => {
    const alice = createUser(instant)
    alice.at(T, connected('web#1', T))
    expect(alice.at(T + 10, choose('busy', T + 1, T + 10), say('lunch', T + 1, T + 10))).toMatchObject({
      status: 'online',
      custom_status: null,
      version: 1,
    })
  })
})

describe('[P23] nothing to show', () => {
  test('[P23] a new user looks like an unknown user', () => {
    expect(toPresence('alice', emptyRecord(77))).toEqual(unknownPresence('alice'))
    const alice = createUser(calm)
    expect(alice.at(T, connected('web#1', T), choose('busy', T))).toEqual(unknownPresence('alice'))
    expect(sourceOf(alice.record())).toBe('db')
  })

  test('[P23] so does a user whose custom status has gone; the versions go on', () => {
    const alice = createUser(instant)
    expect(alice.at(T, say('lunch', T)).version).toBe(1)
    expect(alice.at(T + 1, say(null, T + 1))).toEqual(unknownPresence('alice'))
    expect(alice.at(T + 2, say('dinner', T + 2)).version).toBe(3)
  })

  test('[P23] a user who was ever seen keeps a version', () => {
    const alice = createUser(instant)
    alice.at(T, connected('web#1', T))
    expect(alice.at(T + 1, left('web#1', T + 1))).toMatchObject({
      status: 'offline',
      last_seen: T + 1,
      version: 2,
    })
  })
})

test('[P24] after the last deadline a user without a live session is offline', () => {
  for (const policy of [instant, calm, linger]) {
    const alice = createUser(policy)
    alice.at(T, connected('web#1', T), connected('web#2', T), connected('mobile#1', T), choose('away', T))
    alice.at(T + 100_000, closed('web#1', T + 100_000))
    alice.at(T + 110_000, lost('web#2', T + 110_000, T + 80_000))
    alice.at(T + 120_000, closed('mobile#1', T + 120_000))
    const lastAt = T + 120_000 + Math.max(policy.offlineDelayMs, policy.lingerMs)
    expect(alice.at(lastAt - 1).status).toBe('away')
    expect(alice.at(lastAt)).toMatchObject({ status: 'offline', devices: [], last_seen: T + 120_000 })
    expect(alice.record().sessions).toEqual([])
    expect(alice.dueAt()).toBeNull()
  }
})
