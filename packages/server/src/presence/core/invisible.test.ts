// Invisible users (SPEC P19 and P22): going invisible is an ordinary change to offline, and after it nothing
// moves until the user is visible again. The own view shows the user as not invisible.
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
  type TestUser,
} from '../../../../../testing/worlds/presence-user.ts'
import type { PresenceEvent } from './event.ts'
import { POLICIES } from './policy.ts'
import { sourceOf, unknownPresence } from './view.ts'

const { instant, calm, linger } = POLICIES
const T = 10_000_000

/** A user on two devices who has been invisible since T + 1,000. */
function hidden(expiresAt: number | null = null, policy = instant): TestUser {
  const alice = createUser(policy)
  alice.at(T - 60_000, connected('web#1', T - 60_000), connected('mobile#1', T - 60_000))
  alice.at(T, say('lunch', T))
  alice.at(T + 1_000, choose('invisible', T + 1_000, expiresAt))
  return alice
}

describe('[P19] [S2] going invisible', () => {
  test('[P19] is one change to offline with last seen at that moment', () => {
    const alice = createUser(instant)
    const before = alice.at(T, connected('web#1', T), say('lunch', T))
    expect(alice.at(T + 1_000, choose('invisible', T + 1_000))).toEqual({
      ...before,
      status: 'offline',
      devices: [],
      last_seen: T + 1_000,
      version: before.version + 1,
    })
    expect(sourceOf(alice.record())).toBe('db')
  })

  test('[P19] looks like a goodbye of the same moment, then and later', () => {
    const start = createUser(instant)
    start.at(T, connected('web#1', T), say('lunch', T, T + 50_000))
    const invisible = createUser(instant, start.record())
    const gone = createUser(instant, start.record())
    expect(invisible.at(T + 1_000, choose('invisible', T + 1_000))).toEqual(
      gone.at(T + 1_000, left('web#1', T + 1_000)),
    )
    invisible.at(T + 2_000, active('web#1', T + 2_000), connected('mobile#1', T + 2_000))
    for (const at of [T + 2_000, T + 49_999, T + 50_000, T + 1e9])
      expect(invisible.at(at)).toEqual(gone.at(at))
  })

  test('[P19] is last seen when it was chosen, however late the event arrives', () => {
    const start = createUser(instant)
    start.at(T, connected('web#1', T))
    const invisible = createUser(instant, start.record())
    const gone = createUser(instant, start.record())
    expect(invisible.at(T + 1_060, choose('invisible', T + 1_000))).toEqual(
      gone.at(T + 1_060, left('web#1', T + 1_000)),
    )
  })

  test('[P19] while offline it changes nothing', () => {
    const alice = createUser(instant)
    alice.at(T, connected('web#1', T))
    const before = alice.at(T + 10, left('web#1', T + 10))
    expect(alice.at(T + 20, choose('invisible', T + 20))).toEqual(before)
    expect(alice.at(T + 30, connected('web#2', T + 30))).toEqual(before)
  })

  test('[P19] before the first connection it leaves the user unknown', () => {
    const alice = createUser(instant)
    const events = [
      choose('invisible', T),
      connected('web#1', T + 1),
      say('lunch', T + 2),
      idle('web#1', T + 3),
      closed('web#1', T + 4),
    ]
    for (const event of events) expect(alice.at(T + 10, event)).toEqual(unknownPresence('alice'))
    expect(alice.at(T + 1e9)).toEqual(unknownPresence('alice'))
    expect(alice.record().version).toBe(0)
  })

  test('[P19] [P14] while an arrival waits for its delay, the arrival is never shown', () => {
    const alice = createUser(calm)
    alice.at(T, connected('web#1', T))
    alice.at(T + 4_999, choose('invisible', T + 4_999))
    expect(alice.at(T + 1e9)).toEqual(unknownPresence('alice'))
  })

  test('[P19] together with a new custom status, the new one is not shown', () => {
    const alice = createUser(instant)
    alice.at(T, connected('web#1', T), say('lunch', T))
    const after = alice.at(T + 10, say('hiding', T + 10), choose('invisible', T + 10))
    expect(after).toMatchObject({ status: 'offline', custom_status: { text: 'lunch' }, version: 2 })
  })
})

describe('[P19] [S2] while invisible nothing moves', () => {
  test.each([
    ['another device', connected('desktop#1', T + 2_000)],
    ['activity', active('web#1', T + 2_000)],
    ['idleness', idle('web#1', T + 2_000)],
    ['a goodbye', left('web#1', T + 2_000)],
    ['a closed socket', closed('web#1', T + 2_000)],
    ['silence', lost('web#1', T + 2_000, T)],
    ['a new custom status', say('dinner', T + 2_000)],
    ['a custom status with an expiry', say('dinner', T + 2_000, T + 3_000)],
    ['the end of the custom status', say(null, T + 2_000)],
    ['invisible once more', choose('invisible', T + 2_000, T + 1e10)],
    ['another time until away', { type: 'set_away_after', at: T + 2_000, awayAfterMs: 1 }],
  ] satisfies [string, PresenceEvent][])('[P19] %s', (_, event) => {
    const alice = hidden()
    const before = alice.at(T + 1_500)
    expect(alice.at(T + 2_000, event)).toEqual(before)
    expect(alice.at(T + 1e9)).toEqual(before)
  })

  test('[P19] not even when all sessions end, linger and are over', () => {
    const alice = hidden(null, linger)
    const before = alice.at(T + 1_500)
    alice.at(T + 2_000, closed('web#1', T + 2_000), closed('mobile#1', T + 2_000))
    for (const at of [T + 7_000, T + 302_000, T + 1e9]) expect(alice.at(at)).toEqual(before)
    expect(alice.record().sessions).toEqual([])
  })

  test('[P19] [P21] the custom status shown expires on time, and last seen stays', () => {
    const alice = createUser(instant)
    alice.at(T, connected('web#1', T), say('lunch', T, T + 60_000))
    const invisible = alice.at(T + 1_000, choose('invisible', T + 1_000))
    // A later one is set while invisible; the deadline of the shown one stands.
    alice.at(T + 2_000, say('dinner', T + 2_000, T + 90_000))
    expect(alice.at(T + 59_999)).toEqual(invisible)
    expect(alice.at(T + 60_000)).toEqual({
      ...invisible,
      custom_status: null,
      version: invisible.version + 1,
    })
    expect(alice.at(T + 89_999).version).toBe(invisible.version + 1)
    expect(alice.at(T + 1e9).version).toBe(invisible.version + 1)
  })
})

describe('[P19] [S1] visible again', () => {
  test('[P19] by choice: one change to the present state', () => {
    const alice = hidden()
    const before = alice.at(T + 1_500)
    alice.at(T + 2_000, left('web#1', T + 2_000), say('dinner', T + 2_000), connected('desktop#1', T + 2_000))
    expect(alice.at(T + 3_000, choose('auto', T + 3_000))).toEqual({
      ...before,
      status: 'online',
      devices: ['desktop', 'mobile'],
      custom_status: { text: 'dinner', emoji: null, expires_at: null },
      last_seen: T + 2_000,
      version: before.version + 1,
    })
  })

  test('[P19] as busy', () => {
    expect(hidden().at(T + 3_000, choose('busy', T + 3_000))).toMatchObject({
      status: 'busy',
      devices: ['mobile', 'web'],
    })
  })

  test('[P19] [P21] by expiry while present', () => {
    const alice = hidden(T + 61_000)
    const before = alice.at(T + 60_999)
    expect(alice.dueAt()).toBe(T + 61_000)
    expect(alice.at(T + 61_000)).toEqual({
      ...before,
      status: 'online',
      devices: ['mobile', 'web'],
      version: before.version + 1,
    })
  })

  test('[P19] [P21] by expiry while absent: nothing gives away later sessions', () => {
    const alice = hidden(T + 61_000)
    const before = alice.at(T + 1_500)
    alice.at(T + 2_000, active('web#1', T + 2_000), left('mobile#1', T + 2_000))
    alice.at(T + 3_000, left('web#1', T + 3_000))
    expect(alice.at(T + 61_000)).toEqual(before)
    // Neither does a visible change while the user is still absent.
    expect(alice.at(T + 70_000, say('dinner', T + 70_000)).last_seen).toBe(T + 1_000)
    expect(alice.at(T + 80_000, connected('web#2', T + 80_000))).toMatchObject({
      status: 'online',
      last_seen: T + 80_000,
    })
  })

  test('[P19] by choice while absent: nothing moves but a custom status that changed', () => {
    const quiet = hidden()
    const before = quiet.at(T + 1_500)
    quiet.at(T + 2_000, left('web#1', T + 2_000), left('mobile#1', T + 2_000))
    expect(quiet.at(T + 3_000, choose('auto', T + 3_000))).toEqual(before)
    const talker = hidden()
    talker.at(T + 2_000, left('web#1', T + 2_000), left('mobile#1', T + 2_000), say(null, T + 2_000))
    expect(talker.at(T + 3_000, choose('auto', T + 3_000))).toEqual({
      ...before,
      custom_status: null,
      version: before.version + 1,
    })
  })

  test('[P19] and invisible again within one batch: the user was never visible', () => {
    const alice = hidden()
    const before = alice.at(T + 1_500)
    expect(alice.at(T + 4_000, choose('auto', T + 3_000), choose('invisible', T + 3_001))).toEqual(before)
  })
})

describe('[P22] [S2] the own view', () => {
  test('[P22] is what others see, plus availability and live sessions', () => {
    const alice = createUser(instant)
    alice.at(T, connected('web#1', T), connected('mobile#1', T + 1), choose('busy', T, T + 50_000))
    const seen = alice.at(T + 10, closed('web#1', T + 10))
    expect(alice.own(T + 10)).toEqual({
      ...seen,
      availability: 'busy',
      availability_expires_at: T + 50_000,
      sessions: [
        {
          session_id: 'mobile#1',
          device_id: 'device-mobile',
          platform: 'mobile',
          activity: 'active',
          connected_at: T + 1,
        },
      ],
    })
  })

  test('[P22] shows an invisible user as not invisible', () => {
    const alice = hidden(T + 90_000)
    alice.at(T + 2_000, idle('web#1', T + 2_000), active('mobile#1', T + 2_000), say('dinner', T + 2_000))
    expect(alice.own(T + 2_000)).toMatchObject({
      status: 'online',
      devices: ['mobile', 'web'],
      custom_status: { text: 'dinner' },
      last_seen: T + 2_000,
      availability: 'invisible',
      availability_expires_at: T + 90_000,
    })
    alice.at(T + 3_000, idle('mobile#1', T + 3_000))
    expect(alice.own(T + 3_000).status).toBe('away')
    alice.at(T + 4_000, left('mobile#1', T + 4_000))
    expect(alice.own(T + 4_000)).toMatchObject({ status: 'away', devices: ['web'], last_seen: T + 4_000 })
  })

  test('[P22] has the version that others see', () => {
    const alice = hidden()
    const { version } = alice.at(T + 1_500)
    alice.at(T + 2_000, say('dinner', T + 2_000), left('web#1', T + 2_000))
    expect(alice.own(T + 2_000).version).toBe(version)
  })

  test('[P22] [P21] is automatic once invisible has expired', () => {
    const alice = hidden(T + 61_000)
    alice.at(T + 61_000)
    expect(alice.own(T + 61_000)).toMatchObject({
      ...alice.at(T + 61_000),
      availability: 'auto',
      availability_expires_at: null,
    })
  })
})
