// Explanations (S7) word for word, because the words are the feature. The target is bob and the viewer alice,
// unless a test says otherwise. Sentences about privacy are in privacy.test.ts.
import { describe, expect, test } from 'bun:test'
import {
  choose,
  closed,
  connected,
  createUser,
  idle,
  left,
  lost,
  say,
} from '../../../../../testing/worlds/presence-user.ts'
import { aRecord, OPEN_RULES } from '../../../../../testing/worlds/records.ts'
import type { PresenceEvent } from '../core/event.ts'
import { POLICIES, type Policy } from '../core/policy.ts'
import type { UserRecord } from '../core/record.ts'
import { type ExplainInput, explain } from './explain.ts'

const { instant, calm, linger } = POLICIES
const T = Date.UTC(2026, 3, 17, 10)
const iso = (ms: number) => new Date(T + ms).toISOString()

/** The record after each of these steps, `ms` after the start. */
function bob(policy: Policy, ...steps: [ms: number, ...events: PresenceEvent[]][]): UserRecord {
  const user = createUser(policy)
  for (const [ms, ...events] of steps) user.at(T + ms, ...events)
  return user.record()
}

const party = (userId: string) => ({ userId, privacy: null, contactsAt: 0 })

function about(record: UserRecord | null, ms: number, other: Partial<ExplainInput> = {}) {
  return explain({
    userId: 'bob',
    record,
    viewer: party('alice'),
    relation: { viewerIsContact: false, targetIsContact: false },
    rules: OPEN_RULES,
    policy: instant,
    now: T + ms,
    ...other,
  })
}

const OPEN = "bob shows the status and last seen to everyone by the server's default."
const WEB_ACTIVE = 'bob has 1 session: web is active, so bob is online.'
const NO_DEADLINE = 'No deadline is set.'
const limits = (away: string, ttl: string, then: string) => [
  `A live session is idle after ${away} without activity.`,
  `A live session is lost after ${ttl} without a sign of life, and ${then}.`,
]
const LIMITS = limits('5 min', '30 s', 'stops counting 5 s later')

describe('[S7] sessions and delays', () => {
  test('[S7] several devices: the vote of each, the deciding one first', () => {
    const record = bob(
      instant,
      [0, connected('mobile#1', T), connected('web#1', T)],
      [5_000, idle('mobile#1', T + 5_000)],
    )
    const { because, details } = about(record, 6_000)
    expect(because).toEqual([
      `bob has 2 sessions: web is active, mobile is idle (last active at ${iso(0)}), so bob is online.`,
      NO_DEADLINE,
      ...LIMITS,
      OPEN,
      'So alice sees bob as online.',
    ])
    expect(details.sessions).toEqual([
      {
        session_id: 'web#1',
        device_id: 'device-web',
        platform: 'web',
        gateway_id: 'g1',
        state: 'live',
        activity: 'active',
        vote: 'active',
        vote_changes_at: null,
      },
      expect.objectContaining({ session_id: 'mobile#1', activity: 'idle', vote: 'idle' }),
    ])
    expect(details).toMatchObject({
      raw_status: 'online',
      here: 'here',
      pending: null,
      next_deadline_at: null,
    })
  })

  test('[S7] a socket that closed counts until its deadline', () => {
    const record = bob(instant, [0, connected('web#1', T)], [5_000, closed('web#1', T + 5_000)])
    const { because, details } = about(record, 7_000)
    expect(because).toEqual([
      'bob has 1 session: web still counts as active, so bob is online.',
      `web closed without a goodbye at ${iso(5_000)} (2 s ago) and counts until ${iso(10_000)} (in 3 s).`,
      `The next deadline is ${iso(10_000)} (in 3 s): web stops counting.`,
      `If nothing else happens, bob is shown as offline from ${iso(10_000)} (in 3 s).`,
      OPEN,
      'So alice sees bob as online.',
    ])
    expect(details.sessions).toMatchObject([{ state: 'closed', vote: 'active', vote_changes_at: T + 10_000 }])
    expect(details).toMatchObject({
      pending: { status: 'offline', at: T + 10_000 },
      next_deadline_at: T + 10_000,
    })
  })

  test('[S7] a deadline that no sweep has found yet', () => {
    const record = bob(instant, [0, connected('web#1', T)], [5_000, closed('web#1', T + 5_000)])
    const { answer, because, details } = about(record, 12_000)
    expect(because).toEqual([
      'bob has 1 session: web is gone, so bob is offline.',
      `web closed without a goodbye at ${iso(5_000)} (7 s ago) and no longer counts.`,
      `The deadline of ${iso(10_000)} waits for the next sweep: web stops counting.`,
      'If nothing else happens, bob is shown as offline then.',
      OPEN,
      'So alice sees bob as online.',
    ])
    expect(answer.status).toBe('online')
    expect(details.sessions).toMatchObject([{ vote: 'gone', vote_changes_at: null }])
  })

  test('[S7] two tabs of one browser have their ids, and silence counts from the last sign of life', () => {
    const record = bob(
      instant,
      [0, connected('web#1', T), connected('web#2', T)],
      [40_000, lost('web#2', T + 40_000, T + 10_000)],
    )
    const { because, details } = about(record, 41_000)
    expect(because.slice(0, 5)).toEqual([
      'bob has 2 sessions: web (web#1) is active, web (web#2) still counts as active, so bob is online.',
      `web (web#2) has been silent since ${iso(10_000)} (31 s ago) and counts until ${iso(45_000)} (in 4 s).`,
      `The next deadline is ${iso(45_000)} (in 4 s): web (web#2) stops counting.`,
      ...LIMITS,
    ])
    // The deadline ends a session that does not decide the status.
    expect(details).toMatchObject({ pending: null, next_deadline_at: T + 45_000 })
  })

  test('[S7] a session that ends counts, then lingers, and a manual status does not count then', () => {
    const record = bob(
      linger,
      [0, connected('web#1', T), choose('busy', T)],
      [5_000, closed('web#1', T + 5_000)],
    )
    expect(about(record, 6_000, { policy: linger }).because.slice(1, 4)).toEqual([
      `web closed without a goodbye at ${iso(5_000)} (1 s ago) and counts until ${iso(10_000)} (in 4 s), then lingers as away.`,
      'bob chose busy, which replaces online.',
      `The next deadline is ${iso(10_000)} (in 4 s): web begins to linger.`,
    ])
    const fading = createUser(linger, record)
    fading.at(T + 20_000)
    const { because, details } = about(fading.record(), 20_000, { policy: linger })
    expect(because).toEqual([
      'bob has 1 session: web lingers as away, so bob is away.',
      `web closed without a goodbye at ${iso(5_000)} (15 s ago) and lingers until ${iso(305_000)} (in 5 min).`,
      'bob chose busy, which does not count while bob only lingers.',
      `The next deadline is ${iso(305_000)} (in 5 min): web stops counting.`,
      `If nothing else happens, bob is shown as offline from ${iso(305_000)} (in 5 min).`,
      OPEN,
      'So alice sees bob as away.',
    ])
    expect(details.sessions).toMatchObject([{ vote: 'lingering', vote_changes_at: T + 305_000 }])
  })

  test('[S7] an arrival that is not shown yet', () => {
    const record = bob(calm, [0, connected('web#1', T)])
    const { answer, because, details } = about(record, 2_000, { policy: calm })
    expect(because).toEqual([
      WEB_ACTIVE,
      `bob is arriving and is not shown before ${iso(5_000)} (in 3 s), because of the online delay of 5 s.`,
      'bob has nothing to show: no last seen and no custom status.',
      `The next deadline is ${iso(5_000)} (in 3 s): the online delay of bob ends.`,
      ...limits('5 min', '90 s', 'stops counting 30 s later'),
      `If nothing else happens, bob is shown as online from ${iso(5_000)} (in 3 s).`,
      'So alice sees bob as offline, like every viewer.',
    ])
    expect(answer.version).toBe(0)
    expect(details).toMatchObject({ raw_status: 'online', here: 'arriving', shown: { status: 'offline' } })
    expect(details.pending).toEqual({ status: 'online', at: T + 5_000 })
  })

  test('[S7] a user who left', () => {
    const record = bob(instant, [0, connected('web#1', T)], [5_000, left('web#1', T + 5_000)])
    expect(about(record, 6_000).because).toEqual([
      'bob has no sessions, so bob is offline.',
      NO_DEADLINE,
      OPEN,
      `So alice sees bob as offline, last seen at ${iso(5_000)}.`,
    ])
  })

  test('[S7] an unknown user', () => {
    const { answer, because, details } = about(null, 0)
    expect(because).toEqual(['bob is unknown.', 'So alice sees bob as offline, like every viewer.'])
    expect(answer.version).toBe(0)
    expect(details).toMatchObject({ sessions: [], here: 'absent', shown: { since: null }, version: 0 })
    const asNull = about(null, 0, { rules: { ...OPEN_RULES, hiddenAs: null } })
    expect(asNull.because.at(-1)).toBe('So alice sees no status of bob, like every viewer.')
  })

  test('[S7] a record from the archive while the hot store does not answer', () => {
    const record = aRecord({ shown: { status: 'online' } })
    expect(about(record, 0).because.slice(0, 2)).toEqual([
      'bob has no sessions, so bob is offline.',
      'The status shown of bob is the last known one: online.',
    ])
  })
})

describe('[S7] manual settings', () => {
  test('[S7] a manual status replaces that of the sessions until it expires', () => {
    const record = bob(instant, [0, connected('web#1', T), choose('busy', T, T + 60_000)])
    const { because, details } = about(record, 2_000)
    expect(because).toEqual([
      WEB_ACTIVE,
      `bob chose busy until ${iso(60_000)}, which replaces online.`,
      `The next deadline is ${iso(60_000)} (in 58 s): the availability of bob expires.`,
      ...LIMITS,
      `If nothing else happens, bob is shown as online from ${iso(60_000)} (in 58 s).`,
      OPEN,
      'So alice sees bob as busy.',
    ])
    expect(details.availability).toEqual({
      status: 'busy',
      expires_at: T + 60_000,
      set_at: T,
      is_expired: false,
    })
    expect(details.pending).toEqual({ status: 'online', at: T + 60_000 })
  })

  test('[S7] a manual status that equals that of the sessions, and one of an absent user', () => {
    const idling = bob(instant, [0, connected('web#1', T), choose('away', T)], [1, idle('web#1', T + 1)])
    expect(about(idling, 2).because[1]).toBe('bob chose away, which is what the sessions say too.')
    const absent = bob(instant, [0, choose('away', T)])
    expect(about(absent, 2).because[1]).toBe('bob chose away, which is shown only while bob is present.')
  })

  test('[S7] settings that have expired', () => {
    const chosen = [choose('busy', T, T + 1_000), say('lunch', T, T + 2_000)]
    const { because, details } = about(bob(instant, [0, connected('web#1', T), ...chosen], [3_000]), 3_000)
    expect(because).toEqual([
      WEB_ACTIVE,
      `bob chose busy until ${iso(1_000)}, which has expired.`,
      `The custom status of bob expired at ${iso(2_000)}.`,
      NO_DEADLINE,
      ...LIMITS,
      OPEN,
      'So alice sees bob as online.',
    ])
    expect(details.availability).toMatchObject({ status: 'busy', is_expired: true })
    expect(details.custom_status).toEqual({
      text: 'lunch',
      emoji: null,
      expires_at: T + 2_000,
      set_at: T,
      is_expired: true,
    })
    expect(details.shown.custom_status).toBeNull()
  })

  test('[S7] an invisible user: what others see, and what they would see', () => {
    const record = bob(
      instant,
      [0, connected('web#1', T), say('lunch', T)],
      [1_000, choose('invisible', T + 1_000)],
      [2_000, say('hiding', T + 2_000)],
    )
    const invisible = [
      WEB_ACTIVE,
      'bob is invisible, so others see bob as offline.',
      'Without that others would see bob as online.',
      'Others see the custom status from before bob was invisible.',
      NO_DEADLINE,
      ...LIMITS,
    ]
    expect(about(record, 3_000).because).toEqual([
      ...invisible,
      OPEN,
      `So alice sees bob as offline, last seen at ${iso(1_000)}.`,
    ])
    expect(about(record, 3_000, { viewer: party('bob') }).because).toEqual([
      ...invisible,
      'bob sees everything that is shown of bob.',
      'Only the own view shows bob as not invisible: online.',
      `So bob sees bob as offline, last seen at ${iso(1_000)}.`,
    ])
    const details = about(record, 3_000).details
    expect(details.custom_status?.text).toBe('hiding')
    expect(details.shown.custom_status?.text).toBe('lunch')
  })

  test('[S7] a custom status that was set while invisible', () => {
    const record = bob(instant, [0, choose('invisible', T, T + 9_000)], [1, say('hiding', T + 1)])
    expect(about(record, 2).because.slice(1, 3)).toEqual([
      `bob is invisible until ${iso(9_000)}, so others see bob as offline.`,
      'The custom status is not shown while bob is invisible.',
    ])
  })
})

describe('[S7] the next deadline', () => {
  test('[S7] a custom status of an offline user that will expire', () => {
    const record = bob(instant, [0, say('lunch', T, T + 3_600_000)])
    const { because, details } = about(record, 0)
    expect(because).toEqual([
      'bob has no sessions, so bob is offline.',
      `The custom status of bob is set until ${iso(3_600_000)} (in 60 min).`,
      `The next deadline is ${iso(3_600_000)} (in 60 min): the custom status of bob expires.`,
      OPEN,
      'So alice sees bob as offline.',
    ])
    expect(details).toMatchObject({ pending: null, next_deadline_at: T + 3_600_000 })
  })

  test('[S7] a custom status from before the user was invisible that will expire', () => {
    const record = bob(
      instant,
      [0, say('lunch', T, T + 60_000)],
      [1_000, choose('invisible', T + 1_000)],
      [2_000, say('hiding', T + 2_000)],
    )
    expect(about(record, 3_000).because).toContain(
      `The next deadline is ${iso(60_000)} (in 57 s): the custom status that others see expires.`,
    )
  })

  test('[S7] names everything that ends at the same instant', () => {
    const chosen = [choose('busy', T, T + 60_000), say('lunch', T, T + 60_000)]
    const record = bob(
      instant,
      [0, connected('web#1', T), connected('web#2', T), ...chosen],
      [55_000, closed('web#1', T + 55_000), closed('web#2', T + 55_000)],
    )
    expect(about(record, 56_000).because).toContain(
      `The next deadline is ${iso(60_000)} (in 4 s): web (web#1) stops counting and web (web#2) stops counting and the availability of bob expires and the custom status of bob expires.`,
    )
  })

  test('[S7] the limits of live sessions go by the policy and by the settings of the user', () => {
    const chosen = { type: 'set_away_after', at: T, awayAfterMs: 600_000 } as const
    const record = bob(linger, [0, connected('web#1', T), chosen])
    expect(about(record, 1, { policy: linger }).because.slice(2, 4)).toEqual(
      limits('10 min', '30 s', 'lingers as away until 5 min after that sign'),
    )
  })
})
