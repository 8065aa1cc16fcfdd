// Why somebody is seen as they are (S7), as an operator reads it: each story word for word, because the
// words are the feature. Bob is looked at, by alice unless it says otherwise, a little after ten. The
// stories about privacy are in explain-privacy.test.ts.
import { describe, expect, test } from 'bun:test'
import {
  choose,
  closed,
  connected,
  createPerson,
  idle,
  left,
  lost,
  say,
} from '../../../../../testing/presence-person.ts'
import { aRecord, OPEN_RULES } from '../../../../../testing/records.ts'
import type { PresenceEvent } from '../core/event.ts'
import { POLICIES, type Policy } from '../core/policy.ts'
import type { UserRecord } from '../core/record.ts'
import { type ExplainInput, explain } from './explain.ts'

const { instant, calm, linger } = POLICIES
const T = Date.UTC(2026, 3, 17, 10)
const iso = (ms: number) => new Date(T + ms).toISOString()

/** Bob after each of these, `ms` after ten. */
function bob(policy: Policy, ...happened: [ms: number, ...events: PresenceEvent[]][]): UserRecord {
  const person = createPerson(policy)
  for (const [ms, ...events] of happened) person.at(T + ms, ...events)
  return person.record()
}

function about(record: UserRecord | null, ms: number, other: Partial<ExplainInput> = {}) {
  return explain({
    userId: 'bob',
    record,
    viewer: { userId: 'alice', privacy: null },
    relation: { viewerIsContact: false, targetIsContact: false },
    rules: OPEN_RULES,
    policy: instant,
    now: T + ms,
    ...other,
  })
}

const OPEN = "bob shows the status and the last seen to everyone by the server's default."
const WEB_ACTIVE = 'bob has 1 session: web is active, so bob is online.'
const NO_DEADLINE = 'No deadline is set.'
const watched = (away: string, ttl: string, then: string) =>
  `The gateway watches live sessions: one without activity for ${away} is idle, and one without a sign of life for ${ttl} is lost and ${then}.`
const WATCHED = watched('5 min', '30 s', 'stops counting 5 s later')

describe('[S7] sessions and delays', () => {
  test('[S7] several devices: who votes what, the deciding one first', () => {
    const record = bob(
      instant,
      [0, connected('mobile#1', T), connected('web#1', T)],
      [5_000, idle('mobile#1', T + 5_000)],
    )
    const { because, details } = about(record, 6_000)
    expect(because).toEqual([
      `bob has 2 sessions: web is active, mobile is idle (last active at ${iso(0)}), so bob is online.`,
      NO_DEADLINE,
      WATCHED,
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

  test('[S7] a socket that closed still counts, until its deadline', () => {
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

  test('[S7] a deadline that no sweep has seen yet', () => {
    const record = bob(instant, [0, connected('web#1', T)], [5_000, closed('web#1', T + 5_000)])
    const { answer, because, details } = about(record, 12_000)
    expect(because).toEqual([
      'bob has 1 session: web is gone, so bob is offline.',
      `web closed without a goodbye at ${iso(5_000)} (7 s ago) and no longer counts.`,
      `What was due at ${iso(10_000)} waits for the next sweep: web stops counting.`,
      'If nothing else happens, bob is shown as offline then.',
      OPEN,
      'So alice sees bob as online.',
    ])
    expect(answer.status).toBe('online')
    expect(details.sessions).toMatchObject([{ vote: 'gone', vote_changes_at: null }])
  })

  test('[S7] two tabs of one browser are told apart, and silence is told from the last sign of life', () => {
    const record = bob(
      instant,
      [0, connected('web#1', T), connected('web#2', T)],
      [40_000, lost('web#2', T + 40_000, T + 10_000)],
    )
    const { because, details } = about(record, 41_000)
    expect(because.slice(0, 4)).toEqual([
      'bob has 2 sessions: web (web#1) is active, web (web#2) still counts as active, so bob is online.',
      `web (web#2) has been silent since ${iso(10_000)} (31 s ago) and counts until ${iso(45_000)} (in 4 s).`,
      `The next deadline is ${iso(45_000)} (in 4 s): web (web#2) stops counting.`,
      WATCHED,
    ])
    // The deadline ends a session that nobody will miss.
    expect(details).toMatchObject({ pending: null, next_deadline_at: T + 45_000 })
  })

  test('[S7] lingering: first it counts, then it fades, and a choice does not hold it up', () => {
    const record = bob(
      linger,
      [0, connected('web#1', T), choose('busy', T)],
      [5_000, closed('web#1', T + 5_000)],
    )
    expect(about(record, 6_000, { policy: linger }).because.slice(1, 4)).toEqual([
      `web closed without a goodbye at ${iso(5_000)} (1 s ago) and counts until ${iso(10_000)} (in 4 s), then lingers as away.`,
      'bob chose busy, which stands in place of online.',
      `The next deadline is ${iso(10_000)} (in 4 s): web begins to linger.`,
    ])
    const fading = createPerson(linger, record)
    fading.at(T + 20_000)
    const { because, details } = about(fading.record(), 20_000, { policy: linger })
    expect(because).toEqual([
      'bob has 1 session: web lingers as away, so bob is away.',
      `web closed without a goodbye at ${iso(5_000)} (15 s ago) and lingers until ${iso(305_000)} (in 5 min).`,
      'bob chose busy, which does not count for somebody who only lingers.',
      `The next deadline is ${iso(305_000)} (in 5 min): web stops counting.`,
      `If nothing else happens, bob is shown as offline from ${iso(305_000)} (in 5 min).`,
      OPEN,
      'So alice sees bob as away.',
    ])
    expect(details.sessions).toMatchObject([{ vote: 'lingering', vote_changes_at: T + 305_000 }])
  })

  test('[S7] arriving: nobody sees it yet', () => {
    const record = bob(calm, [0, connected('web#1', T)])
    const { answer, because, details } = about(record, 2_000, { policy: calm })
    expect(because).toEqual([
      WEB_ACTIVE,
      `bob is arriving: nobody sees it until ${iso(5_000)} (in 3 s), because of the online delay of 5 s.`,
      'There is nothing to show of bob: no last seen, no custom status.',
      `The next deadline is ${iso(5_000)} (in 3 s): the online delay of bob ends.`,
      watched('5 min', '90 s', 'stops counting 30 s later'),
      `If nothing else happens, bob is shown as online from ${iso(5_000)} (in 3 s).`,
      'So alice sees bob as offline, as everybody does.',
    ])
    expect(answer.version).toBe(0)
    expect(details).toMatchObject({ raw_status: 'online', here: 'arriving', shown: { status: 'offline' } })
    expect(details.pending).toEqual({ status: 'online', at: T + 5_000 })
  })

  test('[S7] gone', () => {
    const record = bob(instant, [0, connected('web#1', T)], [5_000, left('web#1', T + 5_000)])
    expect(about(record, 6_000).because).toEqual([
      'bob has no sessions, so bob is offline.',
      NO_DEADLINE,
      OPEN,
      `So alice sees bob as offline, last seen at ${iso(5_000)}.`,
    ])
  })

  test('[S7] somebody nobody has ever heard of', () => {
    const { answer, because, details } = about(null, 0)
    expect(because).toEqual([
      'Nobody has ever heard of bob.',
      'So alice sees bob as offline, as everybody does.',
    ])
    expect(answer.version).toBe(0)
    expect(details).toMatchObject({ sessions: [], here: 'absent', shown: { since: null }, version: 0 })
    const asNull = about(null, 0, { rules: { ...OPEN_RULES, hiddenAs: null } })
    expect(asNull.because.at(-1)).toBe('So alice sees no status of bob at all, as everybody does.')
  })

  test('[S7] a record that was guessed while the hot store was away', () => {
    const record = aRecord({ shown: { status: 'online' } })
    expect(about(record, 0).because.slice(0, 2)).toEqual([
      'bob has no sessions, so bob is offline.',
      'What people are shown of bob is what was last known: online.',
    ])
  })
})

describe('[S7] choices', () => {
  test('[S7] a choice stands in place of what the sessions say, until it expires', () => {
    const record = bob(instant, [0, connected('web#1', T), choose('busy', T, T + 60_000)])
    const { because, details } = about(record, 2_000)
    expect(because).toEqual([
      WEB_ACTIVE,
      `bob chose busy until ${iso(60_000)}, which stands in place of online.`,
      `The next deadline is ${iso(60_000)} (in 58 s): what bob chose by hand expires.`,
      WATCHED,
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

  test('[S7] a choice that says what the sessions say, and one of somebody who is not here', () => {
    const idling = bob(instant, [0, connected('web#1', T), choose('away', T)], [1, idle('web#1', T + 1)])
    expect(about(idling, 2).because[1]).toBe('bob chose away, which the sessions say as well.')
    const absent = bob(instant, [0, choose('away', T)])
    expect(about(absent, 2).because[1]).toBe('bob chose away, which shows only while bob is here.')
  })

  test('[S7] choices that expired are told as such', () => {
    const chosen = [choose('busy', T, T + 1_000), say('lunch', T, T + 2_000)]
    const { because, details } = about(bob(instant, [0, connected('web#1', T), ...chosen], [3_000]), 3_000)
    expect(because).toEqual([
      WEB_ACTIVE,
      `bob chose busy until ${iso(1_000)}, which has passed.`,
      `The custom status of bob expired at ${iso(2_000)}.`,
      NO_DEADLINE,
      WATCHED,
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

  test('[S7] invisible: what others see, and what is behind it', () => {
    const record = bob(
      instant,
      [0, connected('web#1', T), say('lunch', T)],
      [1_000, choose('invisible', T + 1_000)],
      [2_000, say('hiding', T + 2_000)],
    )
    const masked = [
      WEB_ACTIVE,
      'bob is invisible, so everybody else sees bob as offline.',
      'Otherwise bob would be online.',
      'The custom status others see is the one from before bob was invisible.',
      NO_DEADLINE,
      WATCHED,
    ]
    expect(about(record, 3_000).because).toEqual([
      ...masked,
      OPEN,
      `So alice sees bob as offline, last seen at ${iso(1_000)}.`,
    ])
    expect(about(record, 3_000, { viewer: { userId: 'bob', privacy: null } }).because).toEqual([
      ...masked,
      'People see everything that is shown of themselves.',
      'Only the own view of bob looks behind the mask: online.',
      `So bob sees themself as offline, last seen at ${iso(1_000)}.`,
    ])
    const details = about(record, 3_000).details
    expect(details.custom_status?.text).toBe('hiding')
    expect(details.shown.custom_status?.text).toBe('lunch')
  })

  test('[S7] a custom status that was set behind the mask is nobody else to see', () => {
    const record = bob(instant, [0, choose('invisible', T, T + 9_000)], [1, say('hiding', T + 1)])
    expect(about(record, 2).because.slice(1, 3)).toEqual([
      `bob is invisible until ${iso(9_000)}, so everybody else sees bob as offline.`,
      'While bob is invisible, nobody sees the custom status.',
    ])
  })
})

describe('[S7] what comes next', () => {
  test('[S7] a custom status that is going to expire, of somebody who is gone', () => {
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

  test('[S7] one that only others see, because there is another behind the mask', () => {
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

  test('[S7] everything that ends at the same instant', () => {
    const chosen = [choose('busy', T, T + 60_000), say('lunch', T, T + 60_000)]
    const record = bob(
      instant,
      [0, connected('web#1', T), connected('web#2', T), ...chosen],
      [55_000, closed('web#1', T + 55_000), closed('web#2', T + 55_000)],
    )
    expect(about(record, 56_000).because).toContain(
      `The next deadline is ${iso(60_000)} (in 4 s): web (web#1) stops counting and web (web#2) stops counting and what bob chose by hand expires and the custom status of bob expires.`,
    )
  })

  test('[S7] what the gateway watches for goes by the policy and by what the person chose', () => {
    const chosen = { type: 'set_away_after', at: T, awayAfterMs: 600_000 } as const
    const record = bob(linger, [0, connected('web#1', T), chosen])
    expect(about(record, 1, { policy: linger }).because).toContain(
      watched('10 min', '30 s', 'lingers as away until 5 min after that sign'),
    )
  })
})
