// Random histories of one user, for property tests of the presence core. fast-check draws a list of moves;
// `play` turns them into deliveries that keep the contract of the gateways (SPEC P2): the events of one session
// have strictly increasing instants, and a lost session has no later proof of life. A delivery may come later
// than its events happened, as on a real network.
import type { Activity, Platform } from '@greendot/protocol'
import fc from 'fast-check'
import type { PresenceEvent, SessionFacts } from '../../packages/server/src/presence/core/event.ts'
import { POLICIES, type Policy } from '../../packages/server/src/presence/core/policy.ts'

/** Events that reach the machine together, at one instant. */
export interface Delivery {
  now: number
  events: PresenceEvent[]
}

export interface History {
  policy: Policy
  deliveries: Delivery[]
}

// Far enough from zero that "minutes ago" is still a positive instant.
export const DAWN_AT = 10_000_000
/** Beyond every delay and expiry, and longer than ended sessions are remembered. */
export const FAR_MS = 100_000_000

const DEVICES: readonly { deviceId: string; platform: Platform }[] = [
  { deviceId: 'laptop', platform: 'web' },
  { deviceId: 'phone', platform: 'mobile' },
  // A second browser: `devices` must not repeat its platform.
  { deviceId: 'kiosk', platform: 'web' },
  { deviceId: 'tablet', platform: 'tablet' },
]

const ODD_POLICIES: readonly Policy[] = [
  { ...POLICIES.instant, onlineDelayMs: 0, offlineDelayMs: 0 },
  { ...POLICIES.instant, onlineDelayMs: 20_000, offlineDelayMs: 0 },
  // The linger is over before the offline delay, and before silence is even noticed.
  { ...POLICIES.calm, lingerMs: 7_000 },
  { ...POLICIES.linger, onlineDelayMs: 10_000, offlineDelayMs: 0 },
  { ...POLICIES.linger, heartbeatTtlMs: 1_000, onlineDelayMs: 1, offlineDelayMs: 1, lingerMs: 1_001 },
]

export const policies: fc.Arbitrary<Policy> = fc.constantFrom(...Object.values(POLICIES), ...ODD_POLICIES)

/** A time: zero, a moment, close to one of the policy's delays, or very long. */
export type Span =
  | { kind: 'ms'; ms: number }
  | {
      kind: 'figure'
      figure: 'onlineDelayMs' | 'offlineDelayMs' | 'heartbeatTtlMs' | 'lingerMs'
      offMs: number
    }

const spans: fc.Arbitrary<Span> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('ms' as const), ms: fc.nat(30) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('figure' as const),
      figure: fc.constantFrom('onlineDelayMs', 'offlineDelayMs', 'heartbeatTtlMs', 'lingerMs'),
      offMs: fc.integer({ min: -1, max: 1 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('ms' as const), ms: fc.nat(40_000) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('ms' as const), ms: fc.nat(700_000) }) },
)

function spanMs(span: Span, policy: Policy): number {
  return span.kind === 'ms' ? span.ms : Math.max(0, policy[span.figure] + span.offMs)
}

type Action =
  /** Not `reported`: the machine learns of the session from its next report. */
  | { do: 'connect'; device: number; activity: Activity; reported: boolean }
  | { do: 'report'; pick: number; activity: Activity }
  | { do: 'end'; pick: number; how: 'left' | 'closed' | 'lost' }
  /** From an ended session whose gateway was cut off. */
  | { do: 'late report'; pick: number; what: 'left' | Activity }
  | { do: 'availability'; status: 'auto' | 'away' | 'busy' | 'invisible'; lasts: Span | null }
  | { do: 'say'; text: string | null; lasts: Span | null }
  | { do: 'away after'; awayAfterMs: number | null }
  | { do: 'tick' }

interface Move {
  action: Action
  /** How long after the former delivery; `together` joins it instead. */
  gap: Span | 'together'
  /** How long it took the event to arrive. */
  lagMs: number
}

const pick = fc.nat(7)
const activity = fc.constantFrom<Activity>('active', 'idle')
const lasts = fc.option(spans, { freq: 2 })

const sessionActions = (punctual: boolean): fc.WeightedArbitrary<Action>[] => [
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('connect'),
      device: fc.nat(3),
      activity,
      reported: punctual ? fc.constant(true) : fc.constantFrom(true, true, true, true, false),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('report'), pick, activity }) },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('end'), pick, how: fc.constantFrom('left', 'closed', 'lost') }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('late report'),
      pick,
      what: fc.constantFrom('left', 'active', 'idle'),
    }),
  },
]

const settingActions: fc.WeightedArbitrary<Action>[] = [
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('availability'),
      status: fc.constantFrom('auto', 'away', 'busy', 'invisible', 'invisible'),
      lasts,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('say'), text: fc.constantFrom('lunch', 'focus', null), lasts }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('away after'), awayAfterMs: fc.constantFrom(60_000, null) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('tick') }) },
]

// Mostly none, often a while, and a few milliseconds ahead of the machine where clocks differ.
const lags = fc.oneof(
  { weight: 4, arbitrary: fc.constant(0) },
  { weight: 2, arbitrary: fc.nat(20_000) },
  { weight: 1, arbitrary: fc.integer({ min: -40, max: -1 }) },
)

export interface HistoryOptions {
  /** Only session events, no settings. */
  sessionsOnly?: boolean
  /** Every event is delivered at the instant it happens, and none is left out. */
  punctual?: boolean
  lengthMax?: number
}

export function histories(options: HistoryOptions = {}): fc.Arbitrary<History> {
  const { sessionsOnly = false, punctual = false, lengthMax = 30 } = options
  const moves = fc.array(
    fc.record<Move>({
      action: fc.oneof(...sessionActions(punctual), ...(sessionsOnly ? [] : settingActions)),
      gap: fc.oneof(
        { weight: 4, arbitrary: spans },
        { weight: 1, arbitrary: fc.constant('together' as const) },
      ),
      lagMs: punctual ? fc.constant(0) : lags,
    }),
    { minLength: 1, maxLength: lengthMax, size: 'max' },
  )
  return fc
    .record({ policy: policies, moves })
    .map(({ policy, moves }) => play(policy, moves))
    .filter(({ deliveries }) => deliveries.length > 0)
}

interface OpenSession extends SessionFacts {
  eventAt: number
  isReported: boolean
}

// A session that is not reported by then may count as over (SPEC P3), so gateways report sooner.
const REPORTED_WITHIN_MS = 60_000

/** Turns moves into deliveries. Moves without a session to act on are left out. */
function play(policy: Policy, moves: readonly Move[]): History {
  const deliveries: Delivery[] = []
  const open: OpenSession[] = []
  const ended: OpenSession[] = []
  let now = DAWN_AT
  let started = 0

  // Two events of one session within a millisecond: the second one is dated a little ahead, as
  // gateways do to keep their instants increasing.
  const stamp = (session: OpenSession, at: number) => {
    session.eventAt = Math.max(session.eventAt + 1, at)
    return session.eventAt
  }

  const report = (session: OpenSession, activity: Activity, at: number): PresenceEvent | null => {
    if (!session.isReported && session.connectedAt + REPORTED_WITHIN_MS < at) return null
    session.isReported = true
    const eventAt = stamp(session, at)
    if (activity === 'active') session.lastActiveAt = eventAt
    const { sessionId, deviceId, platform, gatewayId, connectedAt, lastActiveAt } = session
    const facts = { sessionId, deviceId, platform, gatewayId, connectedAt, lastActiveAt }
    return { type: activity, at: eventAt, activity, ...facts }
  }

  const act = (action: Action, at: number): PresenceEvent | null => {
    switch (action.do) {
      case 'connect': {
        const device = DEVICES[action.device]!
        const sessionId = `${device.deviceId}-${String(++started).padStart(3, '0')}`
        const facts = { sessionId, ...device, gatewayId: 'g1', connectedAt: at, lastActiveAt: at }
        open.push({ ...facts, eventAt: at, isReported: action.reported })
        return action.reported ? { type: 'connected', at, activity: action.activity, ...facts } : null
      }
      case 'report': {
        const session = open[action.pick % open.length]
        return session === undefined ? null : report(session, action.activity, at)
      }
      case 'end': {
        const [session] = open.length === 0 ? [] : open.splice(action.pick % open.length, 1)
        if (session === undefined) return null
        const knownAt = session.eventAt
        const eventAt = stamp(session, at)
        if (action.how !== 'left') ended.push(session)
        if (action.how !== 'lost') return { type: action.how, at: eventAt, sessionId: session.sessionId }
        const provenAt = Math.max(knownAt, eventAt - policy.heartbeatTtlMs)
        return { type: 'lost', at: eventAt, sessionId: session.sessionId, provenAt }
      }
      case 'late report': {
        const session = ended[action.pick % ended.length]
        if (session === undefined) return null
        if (action.what !== 'left') return report(session, action.what, at)
        return { type: 'left', at: stamp(session, at), sessionId: session.sessionId }
      }
      case 'availability': {
        const expiresAt = action.lasts === null ? null : at + spanMs(action.lasts, policy)
        return { type: 'set_availability', at, status: action.status, expiresAt }
      }
      case 'say': {
        const expiresAt = action.lasts === null ? null : at + spanMs(action.lasts, policy)
        return { type: 'set_custom_status', at, text: action.text, emoji: null, expiresAt }
      }
      case 'away after':
        return { type: 'set_away_after', at, awayAfterMs: action.awayAfterMs }
      case 'tick':
        return { type: 'tick' }
    }
  }

  for (const { action, gap, lagMs } of moves) {
    if (gap !== 'together') now += spanMs(gap, policy)
    const event = act(action, now - lagMs)
    if (event === null) continue
    const former = deliveries.at(-1)
    if (gap === 'together' && former?.now === now) former.events.push(event)
    else deliveries.push({ now, events: [event] })
  }
  return { policy, deliveries }
}
