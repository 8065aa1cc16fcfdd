// The presence object at each view level (S5, S6): hidden parts do not show in any key, order or byte, and an
// approximate last seen tells no more than the day.
import { describe, expect, test } from 'bun:test'
import { PLATFORMS, type Presence, STATUSES } from '@greendot/protocol'
import fc from 'fast-check'
import { deepFreeze, holds } from '../../../../../testing/worlds/presence-properties.ts'
import { OPEN_RULES, SOME_INSTANT } from '../../../../../testing/worlds/records.ts'
import type { PrivacyRules } from '../core/privacy.ts'
import { emptyRecord } from '../core/record.ts'
import { toPresence, unknownPresence } from '../core/view.ts'
import { asSeen } from './as-seen.ts'
import { VIEW_LEVELS } from './visibility.ts'

const AS_NULL: PrivacyRules = { ...OPEN_RULES, hiddenAs: null }
const DAY_MS = 86_400_000

const aPresence = (fields: Partial<Presence> = {}): Presence => ({
  user_id: 'bob',
  status: 'online',
  last_seen: SOME_INSTANT,
  custom_status: { text: 'lunch', emoji: null, expires_at: null },
  devices: ['web', 'mobile'],
  version: 42,
  ...fields,
})

describe('[S5] each level', () => {
  test('[S5] everything: the object as it is', () => {
    expect(asSeen(aPresence(), 'everything', OPEN_RULES, SOME_INSTANT)).toEqual(aPresence())
  })

  test('[S5] status: all but the last seen, and no bucket in its place', () => {
    const seen = asSeen(aPresence(), 'status', OPEN_RULES, SOME_INSTANT)
    expect(seen).toStrictEqual(aPresence({ last_seen: null }))
    expect(seen).not.toHaveProperty('last_seen_bucket')
  })

  test('[S5] approximate: a bucket in place of the last seen', () => {
    const seen = asSeen(aPresence(), 'approximate', OPEN_RULES, SOME_INSTANT)
    expect(seen).toStrictEqual(aPresence({ last_seen: null, last_seen_bucket: 'recently' }))
  })

  test('[S6] nothing: the hidden object, as offline or as null', () => {
    const hidden = { user_id: 'bob', last_seen: null, custom_status: null, devices: [], version: 0 }
    expect(asSeen(aPresence(), 'nothing', OPEN_RULES, SOME_INSTANT)).toStrictEqual({
      ...hidden,
      status: 'offline',
    })
    expect(asSeen(aPresence(), 'nothing', AS_NULL, SOME_INSTANT)).toStrictEqual({ ...hidden, status: null })
  })

  test('[S6] [P33] an unknown user is the hidden object at every level', () => {
    for (const rules of [OPEN_RULES, AS_NULL])
      for (const level of VIEW_LEVELS) {
        const hidden = asSeen(aPresence(), 'nothing', rules, SOME_INSTANT)
        const neverCame = toPresence('bob', emptyRecord())
        expect(asSeen(neverCame, level, rules, SOME_INSTANT)).toStrictEqual(hidden)
        // A record may count versions before there is anything to show.
        expect(asSeen(toPresence('bob', emptyRecord(7)), level, rules, SOME_INSTANT)).toStrictEqual(hidden)
      }
  })
})

describe('[S5] buckets of an approximate last seen', () => {
  const MIDNIGHT_AT = Date.UTC(2026, 2, 31)
  const bucket = (lastSeen: number | null, now: number, status: Presence['status'] = 'offline') =>
    asSeen(aPresence({ status, last_seen: lastSeen }), 'approximate', OPEN_RULES, now).last_seen_bucket

  test('[S5] [P31] days are counted from midnight to midnight, UTC', () => {
    const onDay = (daysAgo: number, now: number) => {
      const dayStartsAt = MIDNIGHT_AT - daysAgo * DAY_MS
      const whole = [dayStartsAt, dayStartsAt + DAY_MS / 2, dayStartsAt + DAY_MS - 1].map((at) =>
        bucket(at, now),
      )
      expect(new Set(whole).size).toBe(1)
      return whole[0]
    }
    // From the first to the last millisecond of today.
    for (const now of [MIDNIGHT_AT, MIDNIGHT_AT + DAY_MS - 1]) {
      const buckets = [0, 1, 3, 4, 7, 8, 30, 31, 4_000].map((daysAgo) => [daysAgo, onDay(daysAgo, now)])
      expect(buckets).toEqual([
        [0, 'recently'],
        [1, 'recently'],
        [3, 'recently'],
        [4, 'this_week'],
        [7, 'this_week'],
        [8, 'this_month'],
        [30, 'this_month'],
        [31, 'long_ago'],
        [4_000, 'long_ago'],
      ])
    }
  })

  test('[S5] one millisecond before midnight is a day more a millisecond later', () => {
    const lastSeen = MIDNIGHT_AT - 3 * DAY_MS - 1
    expect(bucket(lastSeen, MIDNIGHT_AT - 1)).toBe('recently')
    expect(bucket(lastSeen, MIDNIGHT_AT)).toBe('this_week')
  })

  test('[S5] a user who is not offline was present recently, whatever the frozen last seen says', () => {
    for (const status of ['online', 'away', 'busy'] as const) {
      expect(bucket(MIDNIGHT_AT - 100 * DAY_MS, MIDNIGHT_AT, status)).toBe('recently')
      expect(bucket(null, MIDNIGHT_AT, status)).toBe('recently')
    }
  })

  test('[S5] never seen is null, and the key is there', () => {
    const seen = asSeen(aPresence({ status: 'offline', last_seen: null }), 'approximate', OPEN_RULES, 1)
    expect(seen).toStrictEqual(aPresence({ status: 'offline', last_seen: null, last_seen_bucket: null }))
  })

  test('[S5] a clock that is behind does not make last seen long ago', () => {
    expect(bucket(MIDNIGHT_AT, MIDNIGHT_AT - 1)).toBe('recently')
  })
})

const instants = fc.integer({ min: 1, max: 4_000_000_000_000 })
const presences: fc.Arbitrary<Presence> = fc.record({
  user_id: fc.constantFrom('bob', 'zoë', '7'),
  status: fc.constantFrom(...STATUSES),
  last_seen: fc.option(instants),
  custom_status: fc.option(
    fc.record({ text: fc.option(fc.string()), emoji: fc.constant(null), expires_at: fc.option(instants) }),
  ),
  devices: fc.uniqueArray(fc.constantFrom(...PLATFORMS)),
  version: fc.oneof(fc.constant(0), fc.nat()),
})
const rules = fc.constantFrom(OPEN_RULES, AS_NULL)
const levels = fc.constantFrom(...VIEW_LEVELS)

test('[S6] [P33] hidden users are the same bytes except for the id, and those of an unknown user', () => {
  holds(
    fc.property(presences, presences, rules, instants, (one, other, rules, now) => {
      const bytes = (presence: Presence) => JSON.stringify(asSeen(presence, 'nothing', rules, now))
      const renamed = { ...other, user_id: one.user_id }
      expect(bytes(one)).toBe(bytes(renamed))
      expect(bytes(one)).toBe(JSON.stringify(unknownPresence(one.user_id, rules.hiddenAs)))
    }),
  )
})

test('[S5] without last seen, nothing of the answer depends on it', () => {
  holds(
    fc.property(presences, fc.option(instants), rules, instants, (presence, lastSeen, rules, now) => {
      const bytes = (presence: Presence) => JSON.stringify(asSeen(presence, 'status', rules, now))
      expect(bytes({ ...presence, last_seen: lastSeen })).toBe(bytes(presence))
    }),
  )
})

test('[S5] [P31] an approximate last seen tells the day at most, and changes only at midnight', () => {
  const times = fc.nat(DAY_MS - 1)
  holds(
    fc.property(
      presences,
      rules,
      fc.nat(20_000),
      fc.nat(45),
      fc.tuple(times, times, times, times),
      (...drawn) => {
        const [presence, rules, seenOnDay, daysLater, [seenAt, alsoSeenAt, askedAt, alsoAskedAt]] = drawn
        const bytes = (seenAtTime: number, askedAtTime: number) => {
          const lastSeen = seenOnDay * DAY_MS + seenAtTime
          const now = (seenOnDay + daysLater) * DAY_MS + askedAtTime
          return JSON.stringify(asSeen({ ...presence, last_seen: lastSeen }, 'approximate', rules, now))
        }
        expect(bytes(alsoSeenAt, alsoAskedAt)).toBe(bytes(seenAt, askedAt))
      },
    ),
  )
})

test('[S5] only the approximate level has a bucket, and no level changes what it was given', () => {
  holds(
    fc.property(presences, levels, rules, instants, (presence, level, rules, now) => {
      const seen = asSeen(deepFreeze(presence), level, rules, now)
      expect('last_seen_bucket' in seen).toBe(level === 'approximate' && presence.version > 0)
    }),
  )
})
