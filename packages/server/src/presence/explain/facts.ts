// Everything that had a part in why somebody is seen as they are, gathered once (S7): the votes, what
// people chose, what is shown, the privacy rulings, and what the clock will do next. Nothing is decided
// here: each fact is asked of the very code that decides it, so an explanation cannot tell another story.
import type { Presence, Status } from '@greendot/protocol'
import { isInvisible, nextDeadline, openView, step } from '../core/machine.ts'
import { byRecency, type Merged, mergeSessions } from '../core/merge.ts'
import type { Policy } from '../core/policy.ts'
import type { PrivacyRules } from '../core/privacy.ts'
import { emptyRecord, type Session, type UserRecord } from '../core/record.ts'
import { toPresence } from '../core/view.ts'
import { type Vote, voteChangesAt, voteOf } from '../core/votes.ts'
import { asSeen } from '../privacy/as-seen.ts'
import {
  type Person,
  type Relation,
  type Ruling,
  relevantRelation,
  type Verdict,
  type ViewLevel,
  visibleTo,
} from '../privacy/visibility.ts'

export interface ExplainInput {
  userId: string
  /** Null for somebody nobody has ever heard of. */
  record: UserRecord | null
  /** A person, whoever comes without a token, or a server key, from which nobody is hidden. */
  viewer: Person | 'anyone' | 'app'
  /** Parts that make no difference need not be looked up: no reason will name them. */
  relation: Relation
  rules: PrivacyRules
  policy: Policy
  now: number
}

export type Ruled = Ruling | { isVisible: true; rule: 'server_key' }

export interface Voting {
  session: Session
  vote: Vote
  changesAt: number | null
}

/** A change of the status shown that comes by itself. */
export interface Pending {
  status: Status
  at: number
}

export interface Facts extends Omit<ExplainInput, 'record'> {
  isHeardOf: boolean
  record: UserRecord
  /** In the order of the devices shown. */
  votes: readonly Voting[]
  activity: Merged['activity']
  /** What the devices alone say, before delays and choices. */
  rawStatus: Status
  isMasked: boolean
  /** What the person would show without the mask. */
  openStatus: Status
  /** The presence object before privacy. */
  whole: Presence
  level: ViewLevel
  status: Ruled
  lastSeen: Ruled
  /** The same the other way round: what the user may see of the viewer; null when no person is looking. */
  inReturn: Verdict | null
  /** What this viewer gets. */
  answer: Presence
  pending: Pending | null
  nextDeadlineAt: number | null
}

const RAW: Record<Merged['activity'], Status> = {
  active: 'online',
  idle: 'away',
  lingering: 'away',
  none: 'offline',
}

export function gatherFacts(input: ExplainInput): Facts {
  const { userId, rules, policy } = input
  const record = input.record ?? emptyRecord()
  // A clock a little behind the one that settled the record must not bring back what it has seen expire.
  const now = Math.max(input.now, record.settledAt)
  const { activity } = mergeSessions(record.sessions, now, policy)
  const whole = toPresence(userId, record)
  const judgement = judge(input, record)
  return {
    ...input,
    now,
    isHeardOf: input.record !== null,
    record,
    votes: record.sessions.toSorted(byRecency).map((session) => ({
      session,
      vote: voteOf(session, now, policy),
      changesAt: voteChangesAt(session, now, policy),
    })),
    activity,
    rawStatus: RAW[activity],
    isMasked: isInvisible(record, now),
    openStatus: openView(record, now, policy).status,
    whole,
    ...judgement,
    answer: asSeen(whole, judgement.level, rules, input.now),
    pending: pendingOf(record, policy),
    nextDeadlineAt: nextDeadline(record, policy),
  }
}

const SEES_ALL: Ruled = { isVisible: true, rule: 'server_key' }

type Judgement = Pick<Facts, 'level' | 'status' | 'lastSeen' | 'inReturn'>

function judge({ userId, viewer, relation, rules }: ExplainInput, { privacy }: UserRecord): Judgement {
  const target: Person = { userId, privacy }
  if (viewer === 'app') return { level: 'everything', status: SEES_ALL, lastSeen: SEES_ALL, inReturn: null }
  if (viewer === 'anyone') return { ...visibleTo(target, null, relation, rules), inReturn: null }
  // Taking what makes no difference for given leaves it out of the reasons, which may not have known it.
  const needed = relevantRelation(target, viewer, rules)
  const known: Relation = {
    viewerIsContact: relation.viewerIsContact || !needed.viewerIsContact,
    targetIsContact: relation.targetIsContact || !needed.targetIsContact,
  }
  const mirrored: Relation = {
    viewerIsContact: known.targetIsContact,
    targetIsContact: known.viewerIsContact,
  }
  const inReturn = visibleTo(viewer, target, mirrored, rules)
  return { ...visibleTo(target, viewer, known, rules), inReturn }
}

/** Lets the deadlines pass one by one, with nothing else happening, until people see another status. */
function pendingOf(before: UserRecord, policy: Policy): Pending | null {
  let record = before
  for (let at = nextDeadline(record, policy); at !== null; at = nextDeadline(record, policy)) {
    record = step(record, [{ type: 'tick' }], at, policy).record
    if (record.shown.status !== before.shown.status) return { status: record.shown.status, at }
  }
  return null
}
