// The three presets by their figures, each checked one millisecond before its deadline and at it.
// The figures are written out: a preset that changes must change here as well.
import { describe, expect, test } from 'bun:test'
import {
  closed,
  connected,
  createUser,
  left,
  lost,
  type TestUser,
} from '../../../../../testing/worlds/presence-user.ts'
import { POLICIES } from './policy.ts'

const T = 10_000_000
const SECOND = 1_000
const MINUTE = 60 * SECOND

/** The status changes at `at`, without an event, and not before. */
function expectTurn(user: TestUser, at: number, from: string, to: string): void {
  expect({ at, status: user.at(at - 1).status }).toEqual({ at, status: from as 'online' })
  expect(user.dueAt()).toBe(at)
  expect({ at, status: user.at(at).status }).toEqual({ at, status: to as 'online' })
}

test('[D1] [D4] [D6] the figures of the presets', () => {
  expect(POLICIES).toEqual({
    instant: {
      heartbeatIntervalMs: 15 * SECOND,
      heartbeatTtlMs: 30 * SECOND,
      awayAfterMs: 5 * MINUTE,
      onlineDelayMs: 0,
      offlineDelayMs: 5 * SECOND,
      lingerMs: 0,
    },
    calm: {
      heartbeatIntervalMs: 30 * SECOND,
      heartbeatTtlMs: 90 * SECOND,
      awayAfterMs: 5 * MINUTE,
      onlineDelayMs: 5 * SECOND,
      offlineDelayMs: 30 * SECOND,
      lingerMs: 0,
    },
    linger: {
      heartbeatIntervalMs: 15 * SECOND,
      heartbeatTtlMs: 30 * SECOND,
      awayAfterMs: 5 * MINUTE,
      onlineDelayMs: 0,
      offlineDelayMs: 5 * SECOND,
      lingerMs: 5 * MINUTE,
    },
  })
})

describe('[P11] [P12] [P14] instant', () => {
  const here = () => {
    const alice = createUser(POLICIES.instant)
    expect(alice.at(T, connected('web#1', T)).status).toBe('online')
    expect(alice.dueAt()).toBeNull()
    return alice
  }

  test('[D2] a goodbye is offline at once', () => {
    expect(here().at(T + MINUTE, left('web#1', T + MINUTE)).status).toBe('offline')
  })

  test('[D2] a closed socket is offline after 5 s', () => {
    const alice = here()
    alice.at(T + MINUTE, closed('web#1', T + MINUTE))
    expectTurn(alice, T + MINUTE + 5 * SECOND, 'online', 'offline')
  })

  test('[D2] silence is offline after its 30 s and 5 s more', () => {
    const alice = here()
    alice.at(T + 30 * SECOND, lost('web#1', T + 30 * SECOND, T))
    expectTurn(alice, T + 35 * SECOND, 'online', 'offline')
  })
})

describe('[P11] [P12] [P14] calm', () => {
  test('[D6] 5 s to come online', () => {
    const alice = createUser(POLICIES.calm)
    alice.at(T, connected('web#1', T))
    expectTurn(alice, T + 5 * SECOND, 'offline', 'online')
  })

  test('[D6] 30 s to go offline after a closed socket', () => {
    const alice = createUser(POLICIES.calm)
    alice.at(T, connected('web#1', T))
    alice.at(T + MINUTE, closed('web#1', T + MINUTE))
    expectTurn(alice, T + MINUTE + 30 * SECOND, 'online', 'offline')
  })

  test('[D2] [D6] silence is offline after its 90 s and 30 s more', () => {
    const alice = createUser(POLICIES.calm)
    alice.at(T, connected('web#1', T))
    alice.at(T + 90 * SECOND, lost('web#1', T + 90 * SECOND, T))
    expectTurn(alice, T + 120 * SECOND, 'online', 'offline')
  })

  test('[D2] a goodbye is offline at once all the same', () => {
    const alice = createUser(POLICIES.calm)
    alice.at(T, connected('web#1', T))
    alice.at(T + 5 * SECOND)
    expect(alice.at(T + MINUTE, left('web#1', T + MINUTE)).status).toBe('offline')
  })
})

describe('[P12] [P13] [D5] linger', () => {
  test('[D5] silence: online under 30 s, away under 5 min, then offline', () => {
    const alice = createUser(POLICIES.linger)
    alice.at(T, connected('web#1', T))
    expect(alice.at(T + 30 * SECOND - 1)).toMatchObject({ status: 'online', devices: ['web'] })
    expect(alice.at(T + 30 * SECOND, lost('web#1', T + 30 * SECOND, T))).toMatchObject({
      status: 'away',
      devices: [],
    })
    expectTurn(alice, T + 5 * MINUTE, 'away', 'offline')
    expect(alice.at(T + 5 * MINUTE)).toMatchObject({ last_seen: T, version: 3 })
  })

  test('[D5] a late sweep delays away, and does not delay offline as well', () => {
    const alice = createUser(POLICIES.linger)
    alice.at(T, connected('web#1', T))
    alice.at(T + 31 * SECOND, lost('web#1', T + 30 * SECOND, T))
    expectTurn(alice, T + 5 * MINUTE, 'away', 'offline')
  })

  test('[D5] a closed socket: online for 5 s, away until 5 min, then offline', () => {
    const alice = createUser(POLICIES.linger)
    alice.at(T, connected('web#1', T))
    alice.at(T + MINUTE, closed('web#1', T + MINUTE))
    expectTurn(alice, T + MINUTE + 5 * SECOND, 'online', 'away')
    expectTurn(alice, T + 6 * MINUTE, 'away', 'offline')
  })

  test('[D2] a goodbye does not linger', () => {
    const alice = createUser(POLICIES.linger)
    alice.at(T, connected('web#1', T))
    expect(alice.at(T + MINUTE, left('web#1', T + MINUTE)).status).toBe('offline')
    expect(alice.dueAt()).toBeNull()
  })

  test('[D5] a device that comes back while it lingers is shown at once', () => {
    const alice = createUser(POLICIES.linger)
    alice.at(T, connected('web#1', T))
    alice.at(T + 30 * SECOND, lost('web#1', T + 30 * SECOND, T))
    expect(alice.at(T + 4 * MINUTE, connected('web#2', T + 4 * MINUTE))).toMatchObject({
      status: 'online',
      devices: ['web'],
    })
    expect(alice.dueAt()).toBeNull()
  })
})

test('[P11] [P14] without delays everything shows at once', () => {
  const alice = createUser({ ...POLICIES.instant, onlineDelayMs: 0, offlineDelayMs: 0 })
  expect(alice.at(T, connected('web#1', T)).status).toBe('online')
  expect(alice.at(T + 1, closed('web#1', T + 1)).status).toBe('offline')
  expect(alice.at(T + 2, connected('web#2', T + 2)).status).toBe('online')
  expect(alice.at(T + 30_002, lost('web#2', T + 30_002, T + 2)).status).toBe('offline')
  expect(alice.dueAt()).toBeNull()
})
