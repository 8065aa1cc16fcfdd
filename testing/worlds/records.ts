// Small records for tests of stores and buses. They are plain values of the right shape; the machine need not
// be able to produce them.
import type { PrivacyRules } from '../../packages/server/src/presence/core/privacy.ts'
import {
  emptyRecord,
  type Session,
  type Shown,
  type UserRecord,
} from '../../packages/server/src/presence/core/record.ts'
import type { Commit } from '../../packages/server/src/store/port.ts'

/** The default rules of a server. */
export const OPEN_RULES: PrivacyRules = { defaultVisibility: 'everyone', hiddenAs: 'offline' }

/** A fixed instant for tests, well away from zero. */
export const SOME_INSTANT = 1_700_000_000_000

export function aSession(fields: Partial<Session> = {}): Session {
  return {
    id: 'session-1',
    deviceId: 'device-1',
    platform: 'web',
    gatewayId: 'gateway-1',
    activity: 'active',
    connectedAt: SOME_INSTANT,
    lastActiveAt: SOME_INSTANT,
    eventAt: SOME_INSTANT,
    end: { state: 'live' },
    ...fields,
  }
}

export function aRecord(
  fields: Partial<Omit<UserRecord, 'shown'>> & { shown?: Partial<Shown> } = {},
): UserRecord {
  return {
    ...emptyRecord(1),
    ...fields,
    shown: {
      status: 'offline',
      since: SOME_INSTANT,
      lastSeen: null,
      customStatus: null,
      devices: [],
      ...fields.shown,
    },
  }
}

/** An online user with one live session on each of the gateways. */
export function aRecordOn(...gatewayIds: string[]): UserRecord {
  return aRecord({
    sessions: gatewayIds.map((gatewayId, index) => aSession({ id: `session-${index}`, gatewayId })),
    here: { state: 'here' },
    shown: { status: 'online', devices: ['web'] },
  })
}

/** A record in which every field and every variant is set, for adapters that serialise. */
export function aFullRecord(): UserRecord {
  return {
    settings: 'unknown',
    sessions: [
      aSession({
        id: 'live',
        platform: 'desktop',
        activity: 'idle',
        connectedAt: 1,
        lastActiveAt: 2,
        eventAt: 3,
      }),
      aSession({ id: 'closed', end: { state: 'closed', since: SOME_INSTANT + 1 } }),
      aSession({ id: 'lost', end: { state: 'lost', since: SOME_INSTANT + 3, provenAt: SOME_INSTANT + 2 } }),
    ],
    tombstones: [{ id: 'gone', endedAt: SOME_INSTANT - 5 }],
    forgottenAt: SOME_INSTANT - 10,
    availability: { status: 'busy', expiresAt: null, setAt: SOME_INSTANT - 3 },
    customStatus: {
      text: 'In "a" meeting\n\u0000',
      emoji: '📅',
      expiresAt: SOME_INSTANT + 4,
      setAt: SOME_INSTANT,
    },
    awayAfter: { awayAfterMs: 120_000, setAt: SOME_INSTANT - 4 },
    privacy: {
      statusVisibility: 'contacts',
      lastSeenVisibility: null,
      reciprocal: true,
      lastSeenPrecision: 'approximate',
      allow: ['zoë'],
      deny: ['mallory', 'trudy'],
      setAt: SOME_INSTANT - 5,
    },
    history: { isKept: true, setAt: SOME_INSTANT - 7 },
    contactsAt: SOME_INSTANT - 6,
    here: { state: 'arriving', showAt: SOME_INSTANT + 5_000 },
    shown: {
      status: 'busy',
      since: SOME_INSTANT,
      lastSeen: SOME_INSTANT - 1,
      customStatus: { text: null, emoji: '🏝️', expiresAt: null },
      devices: ['desktop', 'mobile'],
    },
    lastSeen: SOME_INSTANT - 1,
    version: 42,
    settledAt: SOME_INSTANT - 2,
  }
}

/** A first commit of a user without deadlines; name what differs. */
export function aCommit(userId: string, fields: Partial<Commit> = {}): Commit {
  return { userId, expectedRevision: 0, record: aRecord(), dueAt: null, retainUntil: null, ...fields }
}
