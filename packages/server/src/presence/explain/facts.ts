// Everything that decides how a user is seen, gathered once (S7): votes, settings, what is shown, privacy
// rulings and deadlines. Nothing is decided here: each fact comes from the code that decides it, so an
// explanation cannot differ from the answer.
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
  type Party,
  type Relation,
  type Ruling,
  relevantRelation,
  type Verdict,
  type ViewLevel,
  visibleTo,
} from '../privacy/visibility.ts'

export interface ExplainInput {
  userId: string
  /** Null for an unknown user. */
  record: UserRecord | null
  /** A user, an anonymous viewer, or a server key, which sees everything. */
  viewer: Party | 'anyone' | 'app'
  /** Parts that make no difference need not be looked up: no sentence names them. */
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
  isKnown: boolean
  record: UserRecord
  /** In the order of the devices shown. */
  votes: readonly Voting[]
  activity: Merged['activity']
  /** By the sessions alone, before delays and settings. */
  rawStatus: Status
  isInvisibleNow: boolean
  /** What would be shown if the user were not invisible. */
  openStatus: Status
  /** The presence object before privacy. */
  whole: Presence
  level: ViewLevel
  status: Ruled
  lastSeen: Ruled
  /** The other direction: what the user may see of the viewer; null when the viewer is no user. */
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
  // A clock a little behind the one that settled the record must not bring back what has expired.
  const now = Math.max(input.now, record.settledAt)
  const { activity } = mergeSessions(record.sessions, now, policy)
  const whole = toPresence(userId, record)
  const judgement = judge(input, record)
  return {
    ...input,
    now,
    isKnown: input.record !== null,
    record,
    votes: record.sessions.toSorted(byRecency).map((session) => ({
      session,
      vote: voteOf(session, now, policy),
      changesAt: voteChangesAt(session, now, policy),
    })),
    activity,
    rawStatus: RAW[activity],
    isInvisibleNow: isInvisible(record, now),
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

function judge(
  { userId, viewer, relation, rules }: ExplainInput,
  { privacy, contactsAt }: UserRecord,
): Judgement {
  const target: Party = { userId, privacy, contactsAt }
  if (viewer === 'app') return { level: 'everything', status: SEES_ALL, lastSeen: SEES_ALL, inReturn: null }
  if (viewer === 'anyone') return { ...visibleTo(target, null, relation, rules), inReturn: null }
  // Parts that make no difference count as true, so that no sentence names what was not looked up.
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

/** Lets the deadlines pass one by one, without other events, until another status is shown. */
function pendingOf(before: UserRecord, policy: Policy): Pending | null {
  let record = before
  for (let at = nextDeadline(record, policy); at !== null; at = nextDeadline(record, policy)) {
    record = step(record, [{ type: 'tick' }], at, policy).record
    if (record.shown.status !== before.shown.status) return { status: record.shown.status, at }
  }
  return null
}
