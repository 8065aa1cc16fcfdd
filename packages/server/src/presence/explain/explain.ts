// Why a viewer sees a user as it does (S7): for operators, behind a server key. Pure; it reads a record exactly
// as a reader does, so `answer` is byte for byte what the viewer gets, and the rest explains it. Answered as
// JSON, hence the names.
import type {
  Activity,
  Availability,
  CustomStatus,
  Platform,
  Presence,
  Settings,
  Status,
} from '@greendot/protocol'
import type { Here, SessionEnd } from '../core/record.ts'
import type { Vote } from '../core/votes.ts'
import { toSettings } from '../people/settings-view.ts'
import type { ViewLevel } from '../privacy/visibility.ts'
import { type ExplainInput, type Facts, gatherFacts, type Pending, type Ruled, type Voting } from './facts.ts'
import { sentencesOf } from './sentences.ts'

export type { ExplainInput } from './facts.ts'

export interface Explanation {
  /** Exactly what this viewer gets. */
  answer: Presence
  /** Sentences in the order of the decision. */
  because: string[]
  details: ExplanationDetails
}

export interface ExplainedSession {
  session_id: string
  device_id: string
  platform: Platform
  gateway_id: string
  state: SessionEnd['state']
  activity: Activity
  vote: Vote
  vote_changes_at: number | null
}

export interface ExplainedRuling {
  visible: boolean
  rule: Ruled['rule']
}

/** A setting stays here after its expiry, when it counts no more. */
type Chosen<T> = T & { expires_at: number | null; set_at: number; is_expired: boolean }

export interface ExplanationDetails {
  sessions: ExplainedSession[]
  /** By the sessions alone, before delays and settings. */
  raw_status: Status
  here: Here['state']
  /** What a viewer sees that may see everything; `since` is null for a user who was never shown. */
  shown: {
    status: Status
    since: number | null
    last_seen: number | null
    custom_status: CustomStatus | null
    devices: Platform[]
  }
  availability: Chosen<{ status: Availability }> | null
  custom_status: Chosen<{ text: string | null; emoji: string | null }> | null
  /** The settings in force, with the server's defaults filled in. */
  privacy: Omit<Settings, 'away_after_ms' | 'history'>
  rulings: { status: ExplainedRuling; last_seen: ExplainedRuling }
  /** The view level, under its name in the API. */
  sight: ViewLevel
  /** The next change of the status shown, if nothing else happens. */
  pending: Pending | null
  next_deadline_at: number | null
  away_after_ms: number
  /** The true version; viewers from whom the user is hidden get 0 instead. */
  version: number
}

export function explain(input: ExplainInput): Explanation {
  const facts = gatherFacts(input)
  return { answer: facts.answer, because: sentencesOf(facts), details: detailsOf(facts) }
}

function detailsOf(facts: Facts): ExplanationDetails {
  const { record, whole, policy, rules, now } = facts
  const { availability, customStatus, shown } = record
  // A history changes nothing that a viewer sees.
  const { away_after_ms, history: _, ...privacy } = toSettings(record, policy, rules)
  const when = ({ expiresAt, setAt }: { expiresAt: number | null; setAt: number }) => ({
    expires_at: expiresAt,
    set_at: setAt,
    is_expired: expiresAt !== null && expiresAt <= now,
  })
  return {
    sessions: facts.votes.map(toSession),
    raw_status: facts.rawStatus,
    here: record.here.state,
    shown: {
      status: shown.status,
      since: shown.since === 0 ? null : shown.since,
      last_seen: whole.last_seen,
      custom_status: whole.custom_status,
      devices: whole.devices,
    },
    availability: availability && { status: availability.status, ...when(availability) },
    custom_status: customStatus && {
      text: customStatus.text,
      emoji: customStatus.emoji,
      ...when(customStatus),
    },
    privacy,
    rulings: { status: toRuling(facts.status), last_seen: toRuling(facts.lastSeen) },
    sight: facts.level,
    pending: facts.pending,
    next_deadline_at: facts.nextDeadlineAt,
    away_after_ms,
    version: record.version,
  }
}

const toSession = ({ session, vote, changesAt }: Voting): ExplainedSession => ({
  session_id: session.id,
  device_id: session.deviceId,
  platform: session.platform,
  gateway_id: session.gatewayId,
  state: session.end.state,
  activity: session.activity,
  vote,
  vote_changes_at: changesAt,
})

const toRuling = ({ isVisible, rule }: Ruled): ExplainedRuling => ({ visible: isVisible, rule })
