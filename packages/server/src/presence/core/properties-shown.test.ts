// What others see, over random histories: versions, last seen, blips, invisible users, and that every user goes
// offline in the end (SPEC P7 to P24). Every property looks at the record after each delivery and at each
// deadline in between, so no visible state is missed.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { histories } from '../../../../../testing/worlds/presence-histories.ts'
import { everyRecord, framesOf, holds } from '../../../../../testing/worlds/presence-properties.ts'
import { type Look, lookOf } from '../../../../../testing/worlds/presence-user.ts'
import type { PresenceEvent } from './event.ts'
import { isInvisible, nextDeadline, step } from './machine.ts'
import type { Policy } from './policy.ts'
import type { Session, UserRecord } from './record.ts'
import { toOwnPresence, toPresence } from './view.ts'

/** Each record of a history with the one before it. */
function* changes(history: Parameters<typeof everyRecord>[0]) {
  const all = everyRecord(history)
  for (let index = 1; index < all.length; index++) {
    const { record: after, at } = all[index]!
    yield { before: all[index - 1]!.record, after, at }
  }
}

test('[P17] version grows by one with a visible change and never otherwise', () => {
  holds(
    fc.property(histories(), (history) => {
      for (const { before, after } of changes(history)) {
        const isVisible = !Bun.deepEquals(lookOf(before), lookOf(after))
        expect(after.version - before.version).toBe(isVisible ? 1 : 0)
      }
    }),
  )
})

test('[P17] [P18] one version is one object, through a whole history', () => {
  holds(
    fc.property(histories(), (history) => {
      const byVersion = new Map<number, unknown>()
      for (const { record } of everyRecord(history)) {
        const presence = toPresence('alice', record)
        const known = byVersion.get(presence.version)
        if (known === undefined) byVersion.set(presence.version, presence)
        else expect(presence).toEqual(known as typeof presence)
      }
    }),
  )
})

test('[P18] last seen never goes backwards and is never in the future', () => {
  holds(
    fc.property(histories(), (history) => {
      for (const { before, after, at } of changes(history)) {
        expect(after.lastSeen ?? 0).toBeGreaterThanOrEqual(before.lastSeen ?? 0)
        expect(after.shown.lastSeen ?? 0).toBeGreaterThanOrEqual(before.shown.lastSeen ?? 0)
        expect(after.lastSeen ?? 0).toBeLessThanOrEqual(at)
        // What is shown is never later than what is known.
        expect(after.shown.lastSeen ?? 0).toBeLessThanOrEqual(after.lastSeen ?? 0)
      }
    }),
  )
})

/** When the user was present by this event; null when it proves nothing. */
function proofOf(event: PresenceEvent): number | null {
  switch (event.type) {
    case 'connected':
    case 'active':
    case 'idle':
      return event.lastActiveAt
    case 'left':
    case 'closed':
      return event.at
    case 'lost':
      return event.provenAt
    default:
      return null
  }
}

test('[P18] last seen is a proof of life: never later than the newest, never older than that of the departure', () => {
  holds(
    fc.property(histories({ sessionsOnly: true }), (history) => {
      let newestAt = 0
      for (const { before, after, events, now } of framesOf(history)) {
        for (const event of events) newestAt = Math.max(newestAt, Math.min(proofOf(event) ?? 0, now))
        expect(after.lastSeen ?? 0).toBeLessThanOrEqual(newestAt)
        for (const event of events) {
          if (event.type !== 'left' && event.type !== 'closed' && event.type !== 'lost') continue
          const wasLive = before.sessions.some((session) => session.id === event.sessionId && isLive(session))
          if (wasLive) expect(after.lastSeen).toBeGreaterThanOrEqual(Math.min(proofOf(event)!, now))
        }
      }
      for (const { before, after } of changes(history)) {
        const went = before.shown.status !== 'offline' && after.shown.status === 'offline'
        if (went) expect(after.shown.lastSeen).toBe(after.lastSeen)
      }
    }),
  )
})

const isLive = (session: Session): boolean => session.end.state === 'live'

// Larger than any instant of a history: active sessions come before idle ones.
const ALWAYS_AHEAD = 1e12

/** What the rules P7 to P13 say of a settled record, written independently of the machine. */
function lookByTheRules(record: UserRecord, at: number, policy: Policy): Pick<Look, 'status' | 'devices'> {
  if (record.here.state !== 'here' || isInvisible(record, at)) return { status: 'offline', devices: [] }
  const counted = record.sessions.filter((session) => fullUntil(session, policy) > at)
  if (counted.length === 0) {
    const lingers = record.sessions.some((session) => overAt(session, policy) > at)
    return { status: lingers ? 'away' : 'offline', devices: [] }
  }
  const rank = (session: Session) => (session.activity === 'active' ? ALWAYS_AHEAD : 0) + session.lastActiveAt
  const byPlatform = Map.groupBy(counted, (session) => session.platform)
  const best = [...byPlatform].map(([platform, own]) => ({ platform, rank: Math.max(...own.map(rank)) }))
  best.sort((a, b) => b.rank - a.rank || a.platform.localeCompare(b.platform))
  const devices = best.map(({ platform }) => platform)
  const { status = 'auto', expiresAt = null } = record.availability ?? {}
  const isChosen = (status === 'away' || status === 'busy') && (expiresAt ?? at + 1) > at
  if (isChosen) return { status, devices }
  return { status: counted.some(({ activity }) => activity === 'active') ? 'online' : 'away', devices }
}

/** Until when a session keeps its vote. */
function fullUntil({ end }: Session, policy: Policy): number {
  if (end.state === 'live') return Number.POSITIVE_INFINITY
  return end.state === 'lost' && policy.lingerMs > 0 ? end.since : end.since + policy.offlineDelayMs
}

test('[P7] [P8] [P9] [P13] status and devices follow from the sessions and the manual status', () => {
  holds(
    fc.property(histories(), (history) => {
      for (const { record, at } of everyRecord(history)) {
        const { status, devices } = lookOf(record)
        expect({ status, devices }).toEqual(lookByTheRules(record, at, history.policy))
      }
    }),
  )
})

test('[P14] no arrival is shown before a session has been live for the online delay', () => {
  holds(
    fc.property(histories({ punctual: true }), (history) => {
      const { policy } = history
      for (const { before, after, at } of changes(history)) {
        if (before.here.state === 'here' || after.here.state !== 'here') continue
        // A session that came before the others had gone is no arrival.
        const isDue = (session: Session) =>
          session.connectedAt + policy.onlineDelayMs <= at || session.connectedAt <= before.shown.since
        expect(after.sessions.some((session) => isLive(session) && isDue(session))).toBe(true)
      }
    }),
  )
})

test('[P24] without a live session, the deadlines lead to offline within the time of the policy', () => {
  holds(
    fc.property(histories(), (history) => {
      const { policy } = history
      for (const { after } of framesOf(history)) {
        if (after.sessions.some(isLive)) continue
        const byAt = Math.max(0, ...after.sessions.map((session) => overAt(session, policy)))
        let record = after
        // At most two deadlines for each session and one for each setting.
        const ticksMax = 2 * after.sessions.length + 3
        for (let ticks = 0; nextDeadline(record, policy) !== null; ticks++) {
          expect(ticks).toBeLessThan(ticksMax)
          record = step(record, [{ type: 'tick' }], nextDeadline(record, policy)!, policy).record
        }
        expect(toPresence('alice', record)).toMatchObject({ status: 'offline', devices: [] })
        expect(record.sessions).toEqual([])
        const onTime = step(after, [{ type: 'tick' }], Math.max(byAt, after.settledAt), policy).record
        expect(onTime.shown.status).toBe('offline')
      }
    }),
  )
})

/** When an ended session is over at the latest, by P11 to P13. */
function overAt({ end }: Session, policy: Policy): number {
  switch (end.state) {
    case 'live':
      return Number.POSITIVE_INFINITY
    case 'closed':
      return end.since + Math.max(policy.offlineDelayMs, policy.lingerMs)
    case 'lost':
      if (policy.lingerMs === 0) return end.since + policy.offlineDelayMs
      return Math.max(end.since, end.provenAt + policy.lingerMs)
  }
}

test('[P19] [S2] while invisible nothing moves but the expiry of the custom status shown', () => {
  holds(
    fc.property(histories(), (history) => {
      for (const { before, after, at } of changes(history)) {
        const wasInvisible = isInvisible(before, before.settledAt)
        if (!wasInvisible || !isInvisible(after, at)) continue
        const was = toPresence('alice', before)
        const is = toPresence('alice', after)
        const expiresAt = was.custom_status?.expires_at ?? null
        const expired = expiresAt !== null && expiresAt <= at
        if (!expired) expect(is).toEqual(was)
        else expect(lookOf(after)).toEqual({ status: 'offline', devices: [], custom_status: null })
        expect(after.shown.lastSeen).toBe(before.shown.lastSeen)
      }
    }),
  )
})

test('[P19] [S2] going invisible is one change to offline, last seen when it was chosen', () => {
  holds(
    fc.property(histories(), (history) => {
      for (const { before, after, at } of changes(history)) {
        if (isInvisible(before, before.settledAt) || !isInvisible(after, at)) continue
        const was = toPresence('alice', before)
        const is = toPresence('alice', after)
        if (was.status === 'offline') {
          expect(is.last_seen).toBe(was.last_seen)
          expect(is.version).toBe(was.version)
        } else {
          expect(is).toMatchObject({ status: 'offline', devices: [], version: was.version + 1 })
          expect(is.last_seen).toBe(after.lastSeen)
          expect(is.last_seen).toBeGreaterThanOrEqual(Math.min(after.availability!.setAt, at))
          expect(is.last_seen).toBeLessThanOrEqual(at)
        }
      }
    }),
  )
})

test('[P22] the own view is what others see, unless the user is invisible', () => {
  holds(
    fc.property(histories(), (history) => {
      for (const { record, at } of everyRecord(history)) {
        const own = toOwnPresence('alice', record, at, history.policy)
        const live = record.sessions.filter(isLive).map((session) => session.id)
        expect(own.sessions.map((session) => session.session_id).sort()).toEqual([...live].sort())
        const arrivals = own.sessions.map((session) => session.connected_at)
        expect(arrivals).toEqual([...arrivals].sort((a, b) => a - b))
        if (own.availability === 'invisible') continue
        expect(own).toMatchObject(toPresence('alice', record))
      }
    }),
  )
})

test('[P23] only a user with nothing to show has version 0', () => {
  holds(
    fc.property(histories(), (history) => {
      for (const { record } of everyRecord(history)) {
        const { version, status, last_seen, custom_status } = toPresence('alice', record)
        expect(version === 0).toBe(status === 'offline' && last_seen === null && custom_status === null)
      }
    }),
  )
})
