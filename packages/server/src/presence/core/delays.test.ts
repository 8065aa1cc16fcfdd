// Departures and arrivals (SPEC P10 to P16), by example: which vote a session keeps after its end, when an
// arrival is shown, and how a device that comes back carries on.
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
} from '../../../../../testing/worlds/presence-user.ts'
import { POLICIES } from './policy.ts'

const { instant, calm, linger } = POLICIES
const T = 10_000_000

describe('[D2] departures', () => {
  test.each([
    ['instant', instant],
    ['calm', calm],
    ['linger', linger],
  ] as const)('[P10] under %s a goodbye takes effect at once', (_, policy) => {
    const alice = createUser(policy)
    alice.at(T, connected('web#1', T))
    expect(alice.at(T + 60_000).status).toBe('online')
    expect(alice.at(T + 60_001, left('web#1', T + 60_001))).toMatchObject({
      status: 'offline',
      devices: [],
      last_seen: T + 60_001,
    })
    expect(alice.dueAt()).toBeNull()
  })

  test('[P10] a goodbye ends only its own session; another tab stays', () => {
    const alice = createUser(instant)
    alice.at(T, connected('web#1', T), connected('web#2', T))
    expect(alice.at(T + 1, left('web#1', T + 1)).status).toBe('online')
    expect(alice.at(T + 2, left('web#2', T + 2)).status).toBe('offline')
  })

  test('[P10] a goodbye that arrives after the socket closed ends the grace', () => {
    for (const end of [closed('web#1', T + 10_000), lost('web#1', T + 10_000, T + 5_000)]) {
      const alice = createUser(linger)
      alice.at(T, connected('web#1', T))
      alice.at(T + 10_000, end)
      expect(alice.at(T + 10_001, left('web#1', T + 10_001)).status).toBe('offline')
    }
  })

  test('[P11] a closed socket keeps its vote for the offline delay', () => {
    const alice = createUser(calm)
    alice.at(T, connected('web#1', T), connected('mobile#1', T))
    alice.at(T + 9_000, idle('mobile#1', T + 9_000))
    alice.at(T + 10_000, closed('web#1', T + 10_000))
    expect(alice.at(T + 39_999)).toMatchObject({ status: 'online', devices: ['web', 'mobile'] })
    expect(alice.at(T + 40_000)).toMatchObject({ status: 'away', devices: ['mobile'] })
  })

  test('[P12] a session lost by silence keeps its vote for the offline delay after its time to live', () => {
    const alice = createUser(instant)
    alice.at(T, connected('web#1', T))
    expect(alice.at(T + 30_000, lost('web#1', T + 30_000, T)).status).toBe('online')
    expect(alice.at(T + 34_999).status).toBe('online')
    expect(alice.at(T + 35_000)).toMatchObject({ status: 'offline', last_seen: T })
  })

  test('[P12] a loss that is found late is dated to the end of the time to live', () => {
    const alice = createUser(instant)
    alice.at(T, connected('web#1', T))
    expect(alice.at(T + 33_000, lost('web#1', T + 30_000, T)).status).toBe('online')
    expect(alice.dueAt()).toBe(T + 35_000)
    const bob = createUser(instant)
    bob.at(T, connected('web#1', T))
    expect(bob.at(T + 90_000, lost('web#1', T + 30_000, T)).status).toBe('offline')
  })

  test('[P12] [D5] with lingering a lost session is away from the end of its time to live', () => {
    const alice = createUser(linger)
    alice.at(T, connected('web#1', T))
    expect(alice.at(T + 29_999).status).toBe('online')
    expect(alice.at(T + 30_000, lost('web#1', T + 30_000, T)).status).toBe('away')
  })

  test('[P13] [D5] with lingering a closed socket is away from the offline delay to linger_ms', () => {
    const alice = createUser(linger)
    alice.at(T, connected('web#1', T))
    alice.at(T + 1_000, closed('web#1', T + 1_000))
    expect(alice.at(T + 5_999).status).toBe('online')
    expect(alice.at(T + 6_000).status).toBe('away')
    expect(alice.at(T + 300_999).status).toBe('away')
    expect(alice.at(T + 301_000)).toMatchObject({ status: 'offline', last_seen: T + 1_000 })
  })

  test('[P13] any session that counts wins over a lingering one', () => {
    const alice = createUser(linger)
    alice.at(T, connected('web#1', T), connected('mobile#1', T))
    alice.at(T + 30_000, lost('web#1', T + 30_000, T))
    expect(alice.at(T + 30_000)).toMatchObject({ status: 'online', devices: ['mobile'] })
    expect(alice.at(T + 40_000, left('mobile#1', T + 40_000)).status).toBe('away')
    expect(alice.at(T + 299_999).status).toBe('away')
    expect(alice.at(T + 300_000).status).toBe('offline')
  })

  test('[P13] a linger shorter than the offline delay adds nothing', () => {
    const alice = createUser({ ...calm, lingerMs: 10_000 })
    alice.at(T, connected('web#1', T))
    alice.at(T + 20_000, closed('web#1', T + 20_000))
    expect(alice.at(T + 49_999).status).toBe('online')
    expect(alice.at(T + 50_000).status).toBe('offline')
    alice.at(T + 60_000, connected('web#2', T + 60_000))
    expect(alice.at(T + 200_000).status).toBe('online')
    expect(alice.at(T + 200_001, lost('web#2', T + 200_001, T + 110_001)).status).toBe('offline')
  })
})

describe('[P14] [D6] arrivals', () => {
  test('[P14] an arrival is shown when the online delay has passed', () => {
    const alice = createUser(calm)
    expect(alice.at(T, connected('web#1', T))).toMatchObject({ status: 'offline', version: 0 })
    expect(alice.at(T + 4_999).version).toBe(0)
    expect(alice.at(T + 5_000)).toMatchObject({ status: 'online', devices: ['web'], version: 1 })
  })

  test.each([
    ['left', left('web#1', T + 4_999)],
    ['closed', closed('web#1', T + 4_999)],
    ['was lost', lost('web#1', T + 4_999, T + 1)],
  ] as const)('[P14] an arrival that %s before that was never visible', (_, end) => {
    const alice = createUser(calm)
    alice.at(T, connected('web#1', T))
    alice.at(T + 4_999, end)
    expect(alice.dueAt()).toBeNull()
    expect(alice.at(T + 1e9)).toMatchObject({ status: 'offline', last_seen: null, version: 0 })
  })

  test('[P14] an arrival that ends at the deadline was visible', () => {
    const alice = createUser(calm)
    alice.at(T, connected('web#1', T))
    expect(alice.at(T + 5_000, closed('web#1', T + 5_000)).status).toBe('online')
    expect(alice.at(T + 34_999).status).toBe('online')
    expect(alice.at(T + 35_000).status).toBe('offline')
  })

  test('[P14] the delay is of one session: earlier sessions do not shorten it', () => {
    const alice = createUser(calm)
    alice.at(T, connected('web#1', T))
    alice.at(T + 4_900, connected('mobile#1', T + 4_900))
    alice.at(T + 4_950, left('web#1', T + 4_950))
    expect(alice.dueAt()).toBe(T + 9_900)
    expect(alice.at(T + 9_899).version).toBe(0)
    expect(alice.at(T + 9_900)).toMatchObject({ status: 'online', devices: ['mobile'] })
  })

  test('[P14] the first of several devices decides, and the others are shown with it', () => {
    const alice = createUser(calm)
    alice.at(T, connected('web#1', T))
    alice.at(T + 4_000, connected('mobile#1', T + 4_000))
    expect(alice.at(T + 5_000)).toMatchObject({ devices: ['mobile', 'web'], version: 1 })
  })

  test('[P14] a report that arrives late does not start the delay again', () => {
    const alice = createUser(calm)
    expect(alice.at(T + 7_000, active('web#1', T + 7_000, { connectedAt: T })).status).toBe('online')
  })

  test('[P14] a user who is present shows another device at once', () => {
    const alice = createUser(calm)
    alice.at(T, connected('web#1', T))
    expect(alice.at(T + 6_000, connected('mobile#1', T + 6_000)).devices).toEqual(['mobile', 'web'])
  })
})

describe('[P15] [P16] a device that comes back', () => {
  test.each([
    ['closed', closed('web#1', T + 60_000)],
    ['was lost', lost('web#1', T + 60_000, T + 30_000)],
  ] as const)('[P16] [D6] a device that %s and is back before the delay ends was never gone', (_, end) => {
    const alice = createUser(instant)
    alice.at(T, connected('web#1', T), connected('mobile#1', T + 1))
    const before = alice.at(T + 59_999)
    alice.at(T + 60_000, end)
    expect(alice.at(T + 64_999, connected('web#2', T + 64_999))).toEqual(before)
    expect(alice.at(T + 1e9)).toEqual(before)
    expect(alice.dueAt()).toBeNull()
  })

  test('[P16] back at the deadline is a departure and an arrival', () => {
    const alice = createUser(instant)
    const before = alice.at(T, connected('web#1', T))
    alice.at(T + 60_000, closed('web#1', T + 60_000))
    const after = alice.at(T + 65_000, connected('web#2', T + 65_000))
    expect(after).toMatchObject({ status: 'online', version: before.version + 2 })
  })

  test('[P15] a reload does not wake an idle device', () => {
    const alice = createUser(instant)
    alice.at(T, connected('web#1', T))
    const before = alice.at(T + 10, idle('web#1', T + 10))
    alice.at(T + 20, closed('web#1', T + 20))
    expect(alice.at(T + 30, connected('web#2', T + 30))).toEqual(before)
    expect(alice.record().sessions).toMatchObject([{ id: 'web#2', activity: 'idle', lastActiveAt: T }])
    expect(alice.at(T + 40, active('web#2', T + 40)).status).toBe('online')
  })

  test('[P15] a reload does not change the order of devices', () => {
    const alice = createUser(instant)
    alice.at(T, connected('web#1', T), connected('mobile#1', T + 1))
    const before = alice.at(T + 10, active('mobile#1', T + 10))
    alice.at(T + 20, closed('web#1', T + 20))
    expect(alice.at(T + 30, connected('web#2', T + 30))).toEqual(before)
  })

  test('[P15] a new session that states the activity of its device does not change the order either', () => {
    for (const say of [active, idle]) {
      const alice = createUser(instant)
      alice.at(T, connected('desktop#1', T), connected('mobile#1', T + 1))
      const before = alice.at(T + 10, say('desktop#1', T + 10, { lastActiveAt: T }), say('mobile#1', T + 11))
      // Another process takes over the sessions of both devices, while the former ones still look live.
      const [at, lastActiveAt] = [T + 20, T + 20]
      const after = alice.at(
        at,
        say('desktop#2', at, { lastActiveAt }),
        say('mobile#2', at, { lastActiveAt }),
      )
      expect(after).toEqual(before)
      alice.at(T + 30, lost('desktop#1', T + 30, T), lost('mobile#1', T + 30, T))
      expect(alice.at(T + 1e6)).toEqual(before)
    }
  })

  test('[P15, P9] a new session that states another activity counts from now', () => {
    const alice = createUser(instant)
    alice.at(T, connected('desktop#1', T), connected('mobile#1', T + 1))
    expect(alice.at(T + 10, idle('desktop#1', T + 10)).devices).toEqual(['mobile', 'desktop'])
    expect(alice.at(T + 20, active('desktop#2', T + 20)).devices).toEqual(['desktop', 'mobile'])
  })

  test('[P15] closed and back in one batch is no change either', () => {
    const alice = createUser(instant)
    alice.at(T, connected('web#1', T))
    const before = alice.at(T + 10, idle('web#1', T + 10))
    expect(alice.at(T + 30, closed('web#1', T + 20), connected('web#2', T + 30))).toEqual(before)
  })

  test('[P15] a move to another gateway whose end is heard of before its beginning does not wake an idle device', () => {
    const alice = createUser(instant)
    alice.at(T, connected('web#1', T))
    const before = alice.at(T + 10, idle('web#1', T + 10))
    // The former gateway noticed the end after the next one had its connection.
    alice.at(T + 30, closed('web#1', T + 30))
    expect(alice.at(T + 40, connected('web#2', T + 20))).toEqual(before)
  })

  test('[P15, P26] a new session that is announced again does not wake its idle device', () => {
    const alice = createUser(instant)
    alice.at(T, connected('web#1', T))
    alice.at(T + 10, idle('web#1', T + 10), closed('web#1', T + 11))
    const before = alice.at(T + 20, connected('web#2', T + 20))
    expect(before.status).toBe('away')
    // Its gateway did not know yet that the device is idle.
    expect(alice.at(T + 30, connected('web#2', T + 30))).toEqual(before)
  })

  test('[P15] with several tabs it carries on as the one that is shown', () => {
    const alice = createUser(instant)
    alice.at(T, connected('web#1', T), connected('web#2', T + 1), connected('mobile#1', T + 2))
    alice.at(T + 10, idle('web#1', T + 10))
    const before = alice.at(T + 20, active('web#2', T + 20))
    alice.at(T + 30, closed('web#1', T + 30), closed('web#2', T + 30))
    expect(alice.at(T + 40, connected('web#3', T + 40))).toEqual(before)
    expect(alice.at(T + 1e9)).toEqual(before)
  })

  test('[P15] a tab that counts decides before a lingering tab that was active later', () => {
    const alice = createUser(linger)
    alice.at(T, connected('web#1', T), connected('web#2', T))
    alice.at(T + 10, idle('web#2', T + 10))
    alice.at(T + 20, closed('web#1', T + 20))
    const before = alice.at(T + 60_000, closed('web#2', T + 60_000))
    expect(before).toMatchObject({ status: 'away', devices: ['web'] })
    expect(alice.at(T + 60_010, connected('web#3', T + 60_010))).toEqual(before)
  })

  test('[P15] another device does not take over the activity of a device that left', () => {
    const alice = createUser(instant)
    alice.at(T, connected('web#1', T))
    alice.at(T + 10, idle('web#1', T + 10))
    alice.at(T + 20, closed('web#1', T + 20))
    expect(alice.at(T + 30, connected('mobile#1', T + 30))).toMatchObject({
      status: 'online',
      devices: ['mobile', 'web'],
    })
    expect(alice.at(T + 5_020).devices).toEqual(['mobile'])
  })

  test('[P15] a half-open connection that is found lost after the device is back is over', () => {
    const alice = createUser(linger)
    alice.at(T, connected('web#1', T))
    const before = alice.at(T + 10_000, connected('web#2', T + 10_000))
    expect(alice.at(T + 30_000, lost('web#1', T + 30_000, T))).toEqual(before)
    // It does not linger when the device then says goodbye.
    expect(alice.at(T + 40_000, left('web#2', T + 40_000)).status).toBe('offline')
  })

  test('[P16] a device that comes back does not end a manual status', () => {
    const alice = createUser(calm)
    alice.at(T, connected('web#1', T), choose('busy', T))
    const before = alice.at(T + 5_000)
    alice.at(T + 10_000, closed('web#1', T + 10_000))
    expect(alice.at(T + 39_999, connected('web#2', T + 39_999))).toEqual(before)
  })
})
