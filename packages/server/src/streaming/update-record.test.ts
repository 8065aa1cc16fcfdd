// What is read from `presence.updates`: what our own gateways write comes back as it was, and whatever others write, no
// id, instant or text gets through that requests would be refused with.
import { describe, expect, test } from 'bun:test'
import { ID_BYTES_MAX } from '@greendot/protocol'
import { closed, connected, lost, say } from '../../../../testing/worlds/presence-user.ts'
import type { PresenceEvent } from '../presence/core/event.ts'
import { NO_PRIVACY_CHOSEN } from '../presence/core/privacy.ts'
import { encodeUpdate, readUpdate, type Update } from './update-record.ts'

const T = Date.UTC(2030, 0, 1)
const LONG_ID = 'x'.repeat(ID_BYTES_MAX + 1)
const BAD_IDS = ['', 'a\0b', 'g1\nx', 'a b', 'a,b', LONG_ID, 7, null]
const BAD_INSTANTS = [1e300, -1, 0.5, '2030-01-01', null]

const update = (...events: PresenceEvent[]): Update => ({
  userId: 'bob',
  from: 'a-1',
  events,
  isRepeated: false,
  ref: null,
  sentAt: T,
})
const ownRecord = (events: unknown[], fields: object = {}) =>
  JSON.stringify({ ...JSON.parse(encodeUpdate(update({ type: 'tick' }))), events, ...fields })
const foreignRecord = (fields: object = {}) =>
  JSON.stringify({ type: 'heartbeat', gateway_id: 'chat-1', user_id: 'bob', device_id: 'd1', ...fields })
const readOf = (text: string, userId: string | null = 'bob') => readUpdate({ userId, text })
const reasonOf = (text: string, key?: string | null) => {
  const read = readOf(text, key)
  return read.kind === 'unreadable' ? read.reason : null
}

describe('an update of our own gateways', () => {
  const again = { since: T, formerIds: ['g0-1', 'g0-2'] }
  test.each<PresenceEvent>([
    connected('web#1', T, { again }),
    closed('web#1', T),
    { type: 'left', at: T, sessionId: 'g1-1', deviceId: 'd1', platform: 'web' },
    lost('web#1', T, T - 1),
    say('x'.repeat(140), T, T + 1),
    { type: 'set_availability', at: T, status: 'invisible', expiresAt: null },
    { type: 'set_away_after', at: T, awayAfterMs: null },
    { type: 'set_privacy', at: T, change: { ...NO_PRIVACY_CHOSEN, deny: ['mallory'] } },
    { type: 'raise_version', version: 59_154_656_876 },
    { type: 'gateway_lost', at: T, gatewayId: 'g1', provenAt: T - 1 },
    { type: 'tick' },
  ])('[C3] is read as it was written: $type', (event) => {
    const written = { ...update(event), isRepeated: true, ref: '17' }
    expect(readOf(encodeUpdate(written))).toEqual({ kind: 'update', update: written })
  })

  test.each(BAD_IDS)('[C3] with the id %p is put aside, wherever the id is', (id) => {
    const session = connected('web#1', T)
    for (const field of ['sessionId', 'deviceId', 'gatewayId'])
      expect(reasonOf(ownRecord([{ ...session, [field]: id }]))).toContain(field)
    expect(reasonOf(ownRecord([{ ...session, again: { since: T, formerIds: [id] } }]))).not.toBeNull()
    expect(reasonOf(ownRecord([{ type: 'unlist', at: T, userId: id }]))).not.toBeNull()
    expect(reasonOf(ownRecord([{ type: 'set_privacy', at: T, change: { deny: [id] } }]))).not.toBeNull()
    for (const field of ['user_id', 'gateway_id', 'ref'])
      expect(reasonOf(ownRecord([{ type: 'tick' }], { [field]: id }), String(id))).toContain(field)
  })

  test.each(BAD_INSTANTS)('[C3] with the instant %p is put aside', (at) => {
    const session = connected('web#1', T)
    for (const field of ['at', 'connectedAt', 'lastActiveAt'])
      expect(reasonOf(ownRecord([{ ...session, [field]: at }]))).toContain(field)
    expect(reasonOf(ownRecord([{ ...lost('web#1', T, T), provenAt: at }]))).toContain('provenAt')
    expect(reasonOf(ownRecord([{ type: 'raise_version', version: at }]))).toContain('version')
    expect(reasonOf(ownRecord([{ type: 'tick' }], { sent_at: at }))).toContain('sent_at')
    if (at !== null) expect(reasonOf(ownRecord([{ ...say('lunch', T), expiresAt: at }]))).toContain('expires')
  })

  test.each([
    ['a text that is too long', { ...say('x'.repeat(141), T) }],
    ['a text with a null character', { ...say('a\0b', T) }],
    ['an emoji that is too long', { ...say('lunch', T), emoji: 'x'.repeat(33) }],
    ['an away time beyond its limit', { type: 'set_away_after', at: T, awayAfterMs: 1e12 }],
  ])('[C3] with %s is put aside', (_, event) => expect(reasonOf(ownRecord([event]))).not.toBeNull())

  test('[C3] has a limited number of events', () => {
    expect(reasonOf(ownRecord(new Array(101).fill({ type: 'tick' })))).toContain('events')
  })
})

describe('for other consumers', () => {
  const publicOf = (event: PresenceEvent): object => {
    const { type, device_id, platform, activity, at } = JSON.parse(encodeUpdate(update(event)))
    return { type, device_id, platform, activity, at }
  }
  const session = { sessionId: 'g1-1', deviceId: 'd1', platform: 'web' } as const

  test('[C3] the end of a session has its device, whichever way it ended', () => {
    const expected = { type: 'session_disconnected', device_id: 'd1', platform: 'web', at: T }
    expect(publicOf({ type: 'left', at: T, ...session })).toEqual(expected)
    expect(publicOf({ type: 'closed', at: T, ...session })).toEqual(expected)
    expect(publicOf({ type: 'lost', at: T, provenAt: T - 1, ...session })).toEqual(expected)
    expect(publicOf({ type: 'device_left', at: T, deviceId: 'd1' })).toMatchObject({ device_id: 'd1' })
    expect(publicOf({ type: 'user_left', at: T })).toEqual({ type: 'session_disconnected', at: T })
  })

  test('[C3] a choice and a deadline are a user_event', () => {
    expect(publicOf(say('lunch', T))).toEqual({ type: 'user_event', at: T })
    expect(publicOf({ type: 'tick' })).toEqual({ type: 'user_event', at: T })
  })
})

describe('a record of a foreign gateway', () => {
  test('[C4] says its activity by either name, and is active where it has neither', () => {
    const activityOf = (fields: object) => {
      const read = readOf(foreignRecord(fields))
      return read.kind === 'foreign' ? read.record.session?.activity : read
    }
    expect(activityOf({ activity_type: 'idle' })).toBe('idle')
    expect(activityOf({ activity: 'idle' })).toBe('idle')
    expect(activityOf({ activity: 'idle', activity_type: 'active' })).toBe('idle')
    expect(activityOf({})).toBe('active')
    for (const odd of ['busy', null, 7])
      expect(reasonOf(foreignRecord({ activity_type: odd }))).toContain('activity')
  })

  test('[C4] is read with v 1 and without it, and put aside with another', () => {
    for (const fields of [{}, { v: 1 }]) expect(readOf(foreignRecord(fields)).kind).toBe('foreign')
    for (const v of [2, '1', null]) expect(reasonOf(foreignRecord({ v }))).toBe('v is 1 or left out')
  })

  test.each(BAD_IDS)('[C4] with the id %p is put aside', (id) => {
    for (const field of ['user_id', 'device_id', 'gateway_id'])
      expect(reasonOf(foreignRecord({ [field]: id }))).toContain(`${field} is not a valid id`)
  })

  test('[C4] with an instant that is none is put aside', () => {
    for (const at of [1e300, -1, 0.5]) expect(reasonOf(foreignRecord({ at }))).toContain('at is Unix')
  })
})

test('[C3, C4] a record under a key that is not its user is put aside: two owners would write one user', () => {
  for (const text of [ownRecord([{ type: 'tick' }]), foreignRecord()])
    for (const key of ['carol', '', null])
      expect(reasonOf(text, key)).toBe('the key of the record is not its user_id')
})
