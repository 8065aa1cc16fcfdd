// A failing property prints `{ seed, path }`; to replay it, pass both to its `fc.assert`.
import { describe, expect, test } from 'bun:test'
import { AUDIENCES, PLATFORMS, STATUSES } from '@greendot/protocol'
import fc from 'fast-check'
import { aFullRecord, aRecord, aRecordOn, aSession } from '../../../../testing/worlds/records.ts'
import { emptyRecord, type UserRecord } from '../presence/core/record.ts'
import { decodeStored, encodeRecord, headOf } from './redis-record.ts'

const stored = (revision: number, record: UserRecord): string =>
  `${revision} ${headOf(record)}\n${encodeRecord(record)}`

const instant = fc.integer({ min: 0, max: 2 ** 42 })
const text = fc.string({ unit: 'binary', maxLength: 20 })
const end: fc.Arbitrary<UserRecord['sessions'][number]['end']> = fc.oneof(
  fc.constant({ state: 'live' as const }),
  fc.record({ state: fc.constant('closed' as const), since: instant }),
  fc.record({ state: fc.constant('lost' as const), since: instant, provenAt: instant }),
)
const anyRecord: fc.Arbitrary<UserRecord> = fc.record({
  sessions: fc.array(
    fc.record({
      id: text,
      deviceId: text,
      platform: fc.constantFrom(...PLATFORMS),
      gatewayId: fc.constantFrom('g1', 'g2', 'größe'),
      activity: fc.constantFrom('active' as const, 'idle' as const),
      connectedAt: instant,
      lastActiveAt: instant,
      eventAt: instant,
      end,
    }),
    { maxLength: 4 },
  ),
  settings: fc.constantFrom('known' as const, 'unknown' as const),
  tombstones: fc.array(fc.record({ id: text, endedAt: instant }), { maxLength: 3 }),
  forgottenAt: instant,
  availability: fc.option(
    fc.record({
      status: fc.constantFrom('auto' as const, 'away' as const, 'busy' as const, 'invisible' as const),
      expiresAt: fc.option(instant),
      setAt: instant,
    }),
  ),
  privacy: fc.option(
    fc.record({
      statusVisibility: fc.option(fc.constantFrom(...AUDIENCES)),
      lastSeenVisibility: fc.option(fc.constantFrom(...AUDIENCES)),
      reciprocal: fc.boolean(),
      lastSeenPrecision: fc.constantFrom('exact' as const, 'approximate' as const),
      allow: fc.array(text, { maxLength: 2 }),
      deny: fc.array(text, { maxLength: 2 }),
      setAt: instant,
    }),
  ),
  history: fc.option(fc.record({ isKept: fc.boolean(), setAt: instant })),
  contactsAt: instant,
  customStatus: fc.option(
    fc.record({
      text: fc.option(text),
      emoji: fc.option(text),
      expiresAt: fc.option(instant),
      setAt: instant,
    }),
  ),
  awayAfter: fc.option(fc.record({ awayAfterMs: fc.option(instant), setAt: instant })),
  here: fc.oneof(
    fc.constant({ state: 'absent' as const }),
    fc.constant({ state: 'here' as const }),
    fc.record({ state: fc.constant('arriving' as const), showAt: instant }),
  ),
  shown: fc.record({
    status: fc.constantFrom(...STATUSES),
    since: instant,
    lastSeen: fc.option(instant),
    customStatus: fc.option(
      fc.record({ text: fc.option(text), emoji: fc.option(text), expiresAt: fc.option(instant) }),
    ),
    devices: fc.array(fc.constantFrom(...PLATFORMS), { maxLength: 3 }),
  }),
  lastSeen: fc.option(instant),
  version: fc.nat(),
  settledAt: instant,
})

describe('records in redis', () => {
  test('[C2] any record comes back exactly', () => {
    const property = fc.property(anyRecord, fc.maxSafeNat(), (record, revision) => {
      expect(decodeStored(stored(revision, record))).toStrictEqual({ record, revision })
    })
    fc.assert(property, { examples: [[aFullRecord(), 1]], includeErrorInReport: true })
  })

  test('[C2] what is at its usual value takes no room', () => {
    const text = encodeRecord(emptyRecord())
    expect(text).not.toContain('sessions')
    expect(text).not.toContain('availability')
    expect(decodeStored(stored(1, emptyRecord())).record).toStrictEqual(emptyRecord())
  })

  test('[D2] the head names gateways with a live session, once and always in one order', () => {
    const closed = aSession({ id: 'x', gatewayId: 'g0', end: { state: 'closed', since: 1 } })
    const { sessions } = aRecordOn('g2', 'g1', 'g2')
    const record = aRecord({ sessions: [...sessions, closed], shown: { status: 'busy' } })
    expect(headOf(record)).toBe('busy g1 g2')
    expect(headOf(aRecord())).toBe('offline')
  })
})
