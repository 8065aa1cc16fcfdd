// What a viewer sees (S5): every combination of settings against an oracle written from the rules. The oracle
// reads the words of a cell and never a privacy value, so it does not share a mistake with the evaluator. The
// presence object is compared too, of a present and of an invisible target.
import { expect, test } from 'bun:test'
import {
  AUDIENCES,
  type Audience,
  LAST_SEEN_PRECISIONS,
  type LastSeenPrecision,
  type Presence,
} from '@greendot/protocol'
import { choose, connected, createUser, say } from '../../../../../testing/worlds/presence-user.ts'
import { POLICIES } from '../core/policy.ts'
import type { Privacy } from '../core/privacy.ts'
import type { UserRecord } from '../core/record.ts'
import { toPresence } from '../core/view.ts'
import { asSeen } from './as-seen.ts'
import { type Party, type Relation, type ViewLevel, visibleTo } from './visibility.ts'

const RELATIONS = ['self', 'stranger', 'contact', 'has as contact', 'mutual', 'anonymous'] as const
const CHOSEN = [...AUDIENCES, null] as const
/** On which of the user's lists the other one of the two is. */
const OWN_LISTS = ['none', 'allowed', 'denied', 'both'] as const
const INVISIBLE = ['neither', 'target', 'viewer', 'both'] as const
const LISTS = [...OWN_LISTS, 'another allowed', 'another denied'] as const

interface Choice {
  status: Audience | null
  lastSeen: Audience | null
  lists: (typeof LISTS)[number]
  isReciprocal: boolean
  precision: LastSeenPrecision
}

interface Cell {
  target: Choice
  viewer: Choice
  /** What the viewer is to the target. */
  relation: (typeof RELATIONS)[number]
  byDefault: Audience
  /** Which of the two is invisible. */
  invisible: (typeof INVISIBLE)[number]
}

function choices(lists: readonly Choice['lists'][], precisions: readonly LastSeenPrecision[]): Choice[] {
  const all: Choice[] = []
  for (const status of CHOSEN)
    for (const lastSeen of CHOSEN)
      for (const list of lists)
        for (const isReciprocal of [false, true])
          for (const precision of precisions)
            all.push({ status, lastSeen, lists: list, isReciprocal, precision })
  return all
}

type Subject = 'status' | 'lastSeen'

function levelByTheRules(cell: Cell): ViewLevel {
  if (!maySee(cell, 'status')) return 'nothing'
  if (!maySee(cell, 'lastSeen')) return 'status'
  return cell.target.precision === 'exact' || cell.relation === 'self' ? 'everything' : 'approximate'
}

function maySee({ target, viewer, relation, byDefault }: Cell, subject: Subject): boolean {
  const audience = target[subject] ?? byDefault
  if (relation === 'self') return true
  if (relation === 'anonymous') {
    const deniesSomeUser = ['denied', 'both', 'another denied'].includes(target.lists)
    return audience === 'everyone' && !deniesSomeUser && !target.isReciprocal
  }
  if (target.lists === 'denied' || target.lists === 'both') return false
  if (target.lists === 'allowed') return true
  const isContact = relation === 'contact' || relation === 'mutual'
  if (audience === 'nobody' || (audience === 'contacts' && !isContact)) return false
  if (!target.isReciprocal) return true
  const inReturn = viewer[subject] ?? byDefault
  if (viewer.lists === 'denied' || viewer.lists === 'both') return false
  if (viewer.lists === 'allowed' || inReturn === 'everyone') return true
  return inReturn === 'contacts' && (relation === 'has as contact' || relation === 'mutual')
}

/** The settings as a value; `other` is the other one of the two. */
function privacyOf({ status, lastSeen, lists, isReciprocal, precision }: Choice, other: string): Privacy {
  const named = lists.startsWith('another') ? ['mallory'] : [other]
  return {
    statusVisibility: status,
    lastSeenVisibility: lastSeen,
    reciprocal: isReciprocal,
    lastSeenPrecision: precision,
    allow: ['allowed', 'both', 'another allowed'].includes(lists) ? named : [],
    deny: ['denied', 'both', 'another denied'].includes(lists) ? named : [],
  }
}

function relationOf(relation: Cell['relation']): Relation {
  return {
    viewerIsContact: relation === 'contact' || relation === 'mutual',
    targetIsContact: relation === 'has as contact' || relation === 'mutual',
  }
}

const HERE_AT = 1_700_000_000_000
const HIDDEN_AT = HERE_AT + 1_000
const NOW = HIDDEN_AT + 60_000
const BUSY: Presence = {
  user_id: 'bob',
  status: 'busy',
  last_seen: HERE_AT,
  custom_status: { text: 'lunch', emoji: null, expires_at: null },
  devices: ['web'],
  version: 1,
}
/** Invisible is not hidden: viewers see the target leave at that moment, and nothing after it. */
const INVISIBLE_BUSY: Presence = { ...BUSY, status: 'offline', last_seen: HIDDEN_AT, devices: [], version: 2 }
const UNKNOWN = { status: 'offline', last_seen: null, custom_status: null, devices: [], version: 0 } as const

/** A busy user; an invisible one goes on being busy unseen. */
function recordOf(isInvisible: boolean): UserRecord {
  const user = createUser(POLICIES.instant)
  user.at(HERE_AT, connected('web#1', HERE_AT), choose('busy', HERE_AT), say('lunch', HERE_AT))
  if (isInvisible) {
    user.at(HIDDEN_AT, choose('invisible', HIDDEN_AT))
    user.at(HIDDEN_AT + 10, connected('mobile#1', HIDDEN_AT + 10), say('unseen', HIDDEN_AT + 10))
  }
  return user.record()
}

function seenByTheRules({ invisible }: Cell, level: ViewLevel): Presence {
  const whole = invisible === 'target' || invisible === 'both' ? INVISIBLE_BUSY : BUSY
  if (level === 'nothing') return { user_id: 'bob', ...UNKNOWN, devices: [] }
  if (level === 'everything') return whole
  const { last_seen, ...rest } = whole
  return level === 'status'
    ? { ...rest, last_seen: null }
    : { ...rest, last_seen: null, last_seen_bucket: 'recently' }
}

const looksLike = (one: Presence, other: Presence): boolean =>
  one.status === other.status &&
  one.last_seen === other.last_seen &&
  one.last_seen_bucket === other.last_seen_bucket &&
  one.custom_status?.text === other.custom_status?.text &&
  one.devices.length === other.devices.length &&
  one.version === other.version

test('[S5] [P19, P28, P29, P30, P31, P32] every combination of relation, audiences, defaults, lists, reciprocity, precision and invisibility', () => {
  const targets = choices(LISTS, LAST_SEEN_PRECISIONS)
  // The precision of the viewer's own last seen makes no difference.
  const viewers = choices(OWN_LISTS, ['exact'])
  const [present, invisibleRecord] = [recordOf(false), recordOf(true)]
  let cells = 0
  for (const invisible of INVISIBLE) {
    // Whole records, in case the evaluator looks at more than it needs.
    const ofTarget = invisible === 'target' || invisible === 'both' ? invisibleRecord : present
    const ofViewer = invisible === 'viewer' || invisible === 'both' ? invisibleRecord : present
    const presence = toPresence('bob', ofTarget)
    const viewerParties = viewers.map((viewer) => ({
      ...ofViewer,
      userId: 'alice',
      privacy: privacyOf(viewer, 'bob'),
    }))
    for (const target of targets) {
      const bob: Party = { ...ofTarget, userId: 'bob', privacy: privacyOf(target, 'alice') }
      for (const relation of RELATIONS) {
        const between = relationOf(relation)
        for (const [index, viewer] of viewers.entries()) {
          const party = relation === 'self' ? bob : relation === 'anonymous' ? null : viewerParties[index]!
          for (const byDefault of AUDIENCES) {
            const cell: Cell = { target, viewer, relation, byDefault, invisible }
            const rules = { defaultVisibility: byDefault, hiddenAs: 'offline' } as const
            const { level, status, lastSeen } = visibleTo(bob, party, between, rules)
            const expected = levelByTheRules(cell)
            const seen = asSeen(presence, level, rules, NOW)
            const agrees =
              level === expected &&
              status.isVisible === (expected !== 'nothing') &&
              lastSeen.isVisible === (expected === 'everything' || expected === 'approximate') &&
              looksLike(seen, seenByTheRules(cell, expected))
            if (!agrees) throw new Error(differs(cell, expected, { level, status, lastSeen, seen }))
            cells++
          }
        }
      }
    }
  }
  expect(cells).toBe(4 * 384 * 6 * 128 * 3)
})

function differs(cell: Cell, expected: ViewLevel, verdict: unknown): string {
  return `the rules say ${expected}\n  cell: ${JSON.stringify(cell)}\n  verdict: ${JSON.stringify(verdict)}`
}
