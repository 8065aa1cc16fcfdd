// Records whose settings are unknown, because the archive could not be asked: others see nothing of the user, and
// afterwards the user is shown as if the settings had been there all along.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type History, histories } from '../../../../../testing/worlds/presence-histories.ts'
import { holds } from '../../../../../testing/worlds/presence-properties.ts'
import { connected, left } from '../../../../../testing/worlds/presence-user.ts'
import { step } from './machine.ts'
import { POLICIES } from './policy.ts'
import { NO_PRIVACY_CHOSEN } from './privacy.ts'
import { emptyRecord, type UserRecord } from './record.ts'
import { findSettings } from './setting-events.ts'
import { toOwnPresence, toPresence, unknownPresence } from './view.ts'

const policy = POLICIES.instant
const UNKNOWN: UserRecord = { ...emptyRecord(1_000), settings: 'unknown' }
const SET_AT = 1

const archives: fc.Arbitrary<UserRecord> = fc
  .record({
    status: fc.constantFrom('auto' as const, 'away' as const, 'busy' as const, 'invisible' as const),
    text: fc.option(fc.constantFrom('lunch', 'on a train')),
    isHidden: fc.boolean(),
  })
  .map(({ status, text, isHidden }) => {
    const said = text === null ? null : { text, emoji: null, expiresAt: null }
    return {
      ...emptyRecord(7),
      availability: { status, expiresAt: null, setAt: SET_AT },
      customStatus: said && { ...said, setAt: SET_AT },
      privacy: isHidden ? { ...NO_PRIVACY_CHOSEN, statusVisibility: 'nobody' as const, setAt: SET_AT } : null,
      lastSeen: 5,
      shown: { status: 'offline', since: 5, lastSeen: 5, customStatus: said, devices: [] },
    }
  })

const CHOICES = ['set_availability', 'set_custom_status', 'set_away_after', 'set_privacy', 'unlist']
/** Only what happens to sessions: choices of a user with unknown settings are refused. */
const sessionsOnly = ({ deliveries, ...rest }: History): History => ({
  ...rest,
  deliveries: deliveries.map(({ now, events }) => ({
    now,
    events: events.filter(({ type }) => !CHOICES.includes(type) && type !== 'raise_version'),
  })),
})
const sessionHistories = histories().map(sessionsOnly)

const shownOf = ({ shown: { status, devices, customStatus } }: UserRecord) => ({
  status,
  devices,
  customStatus,
})

describe('a user with unknown settings', () => {
  test('[P35] is shown like an unknown user, whatever happens', () => {
    holds(
      fc.property(sessionHistories, ({ policy, deliveries }) => {
        let record = UNKNOWN
        for (const { events, now } of deliveries) {
          record = step(record, events, now, policy).record
          expect(toPresence('bob', record)).toEqual(unknownPresence('bob'))
        }
      }),
    )
  })

  test('[P35] is shown as if the settings had been there, once they are found', () => {
    holds(
      fc.property(sessionHistories, archives, ({ policy, deliveries }, archived) => {
        // With an online delay, an arrival is counted from departures that were shown.
        fc.pre(policy.onlineDelayMs === 0)
        let [known, unknown] = [archived, UNKNOWN]
        let now = 0
        for (const delivery of deliveries) {
          now = delivery.now
          known = step(known, delivery.events, now, policy).record
          unknown = step(unknown, delivery.events, now, policy).record
        }
        const found = step(unknown, [{ type: 'settings_found', archived }], now, policy).record
        expect(shownOf(found)).toEqual(shownOf(known))
        expect(found).toMatchObject({
          settings: 'known',
          privacy: archived.privacy,
          sessions: known.sessions,
        })
      }),
    )
  })

  test('[P22, P35] has an own view with all sessions', () => {
    const { record } = step(UNKNOWN, [connected('web#1', 2_000)], 2_000, policy)
    const own = toOwnPresence('bob', record, 2_000, policy)
    expect([own.status, own.devices, own.sessions.length]).toEqual(['online', ['web'], 1])
  })
})

describe('settings that are found', () => {
  const archived: UserRecord = {
    ...emptyRecord(7),
    availability: { status: 'invisible', expiresAt: null, setAt: 10 },
    shown: { status: 'offline', since: 5, lastSeen: 5, customStatus: null, devices: [] },
    lastSeen: 5,
  }

  test('[S2, P35] of an invisible user move nothing, not even the version', () => {
    const came = step(UNKNOWN, [connected('web#1', 2_000)], 2_000, policy).record
    const { record } = step(came, [{ type: 'settings_found', archived }], 3_000, policy)
    expect(toPresence('bob', record)).toEqual(toPresence('bob', archived))
  })

  test('[W9, P35] of a user who is shown give a version above all that were shown', () => {
    const came = step(UNKNOWN, [connected('web#1', 2_000)], 2_000, policy).record
    const open = { ...archived, availability: null }
    const { record } = step(came, [{ type: 'settings_found', archived: open }], 3_000, policy)
    expect(record.shown.status).toBe('online')
    expect(record.version).toBeGreaterThan(Math.max(UNKNOWN.version, archived.version))
  })

  test('[S4] replace older choices of a known record and keep newer ones', () => {
    const mine = { ...emptyRecord(7), availability: { status: 'busy' as const, expiresAt: null, setAt: 20 } }
    expect(findSettings(mine, archived, 3_000)).toBe(mine)
    const older = { ...mine, availability: { ...mine.availability, setAt: 3 } }
    expect(findSettings(older, archived, 3_000).availability).toEqual(archived.availability)
  })

  test('[P35] change nothing when they are found twice', () => {
    const came = step(UNKNOWN, [connected('web#1', 2_000)], 2_000, policy).record
    const once = step(came, [{ type: 'settings_found', archived }], 3_000, policy).record
    expect(step(once, [{ type: 'settings_found', archived }], 3_000, policy).record).toBe(once)
    const gone = step(once, [left('web#1', 4_000)], 4_000, policy).record
    expect(gone.sessions).toEqual([])
  })
})
