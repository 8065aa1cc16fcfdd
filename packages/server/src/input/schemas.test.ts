// What requests must look like, at every edge of every limit. Whatever comes in, parsing never throws
// and a refusal carries a registered code and a sentence for people.
import { describe, expect, test } from 'bun:test'
import { ERRORS, type ErrorCode, IDS_PER_QUERY_MAX, PLATFORMS } from '@greendot/protocol'
import fc from 'fast-check'
import { z } from 'zod'
import { settingsBody } from './person-schemas.ts'
import {
  activity,
  availabilityBody,
  customStatusBody,
  heartbeatBody,
  idsFrame,
  leaveBody,
  parse,
  platform,
  queriedIdsInUrl,
  queryBody,
  userId,
  viewerId,
  watchFrame,
} from './schemas.ts'

function codeFor(schema: z.ZodType, value: unknown): ErrorCode | 'ok' {
  const parsed = parse(schema, value)
  return parsed.ok ? 'ok' : parsed.failure.code
}

const emojiOf = (count: number) => '🙂'.repeat(count)
const EXPIRES_AT = Date.UTC(2099, 0, 1)

describe('custom status', () => {
  const codes: [string, unknown, ErrorCode | 'ok'][] = [
    ['140 letters', { text: 'a'.repeat(140) }, 'ok'],
    ['141 letters', { text: 'a'.repeat(141) }, 'text_too_long'],
    ['140 characters of two code units each', { text: emojiOf(140) }, 'ok'],
    ['141 characters of two code units each', { text: emojiOf(141) }, 'text_too_long'],
    ['140 characters of three bytes each', { text: '語'.repeat(140) }, 'ok'],
    ['an emoji of 32 bytes', { emoji: emojiOf(8) }, 'ok'],
    ['an emoji of 33 bytes', { emoji: `${emojiOf(8)}!` }, 'text_too_long'],
    ['a family of 25 bytes', { emoji: '👨‍👩‍👧‍👦' }, 'ok'],
    ['text that is no text', { text: 7 }, 'bad_request'],
    ['a list for an emoji', { emoji: ['🙂'] }, 'bad_request'],
    ['half a character', { text: 'a\ud800b' }, 'bad_request'],
    ['half an emoji', { emoji: '\udfff' }, 'bad_request'],
    ['a null character', { text: 'a\0b' }, 'bad_request'],
    ['other control characters', { text: 'a\u0001\n\u007f\u2028' }, 'ok'],
    ['a good text with a bad emoji', { text: 'fine', emoji: emojiOf(9) }, 'text_too_long'],
    ['nothing', undefined, 'bad_request'],
    ['null', null, 'bad_request'],
    ['a list', [], 'bad_request'],
    ['a string', 'text', 'bad_request'],
    ['a number', 5, 'bad_request'],
  ]
  test.each(codes)('[S3] %s', (_, value, code) => expect(codeFor(customStatusBody, value)).toBe(code))

  test('[S3] empty, null and absent all mean none, and unknown fields are ignored', () => {
    const none = { ok: true as const, value: { text: null, emoji: null, expiresAt: null } }
    for (const body of [{}, { text: null, emoji: null }, { text: '', emoji: '' }, { color: 'red' }]) {
      expect(parse(customStatusBody, body)).toEqual(none)
    }
  })
})

describe('expiry', () => {
  const read = (expires_at: unknown) => parse(availabilityBody, { status: 'busy', expires_at })

  const good: [unknown, number | null][] = [
    [EXPIRES_AT, EXPIRES_AT],
    [1, 1],
    ['2099-01-01T00:00:00Z', EXPIRES_AT],
    ['2099-01-01T00:00Z', EXPIRES_AT],
    ['2099-01-01', EXPIRES_AT],
    ['2099-01-01T02:00:00+02:00', EXPIRES_AT],
    ['2098-12-31T19:00:00-05:00', EXPIRES_AT],
    ['2099-01-01T00:00:00.5Z', EXPIRES_AT + 500],
    ['2099-01-01T00:00:00.123456789Z', EXPIRES_AT + 123],
    ['2096-02-29', Date.UTC(2096, 1, 29)],
    ['2099-02-28T23:59:59Z', Date.UTC(2099, 1, 28, 23, 59, 59)],
    [null, null],
    [undefined, null],
  ]
  test.each(good)('[S1] %p is an instant', (value, expiresAt) => {
    expect(read(value)).toEqual({ ok: true, value: { status: 'busy', expiresAt } })
  })

  const bad: unknown[] = [
    'soon',
    '',
    '2099',
    '2099-01-01T00:00:00',
    '2099-13-01',
    '2099-00-01',
    '2099-01-00',
    '2099-02-29',
    '2099-02-31',
    '2099-04-31T12:00:00Z',
    '2100-02-29T00:00:00+02:00',
    '2099-01-01T25:00Z',
    '2099-01-01T00:00:00+99:99',
    'Thu, 01 Jan 2099 00:00:00 GMT',
    String(EXPIRES_AT),
    0,
    -1,
    1.5,
    1e15,
    Number.MAX_SAFE_INTEGER,
    1e300,
    Number.POSITIVE_INFINITY,
    Number.NaN,
    true,
    {},
    [],
    [EXPIRES_AT],
  ]
  // In lists of one, because a list would be taken for the arguments.
  test.each(bad.map((value) => [value]))('[S1] %p is not', (value) => {
    expect(read(value)).toMatchObject({ ok: false, failure: { code: 'invalid_expiry' } })
  })

  const sentences: [unknown, string][] = [
    [-5, 'expires_at is not in the years 1970 to 9999'],
    [1e15, 'expires_at is not in the years 1970 to 9999'],
    ['2099-02-31', 'expires_at is a day or a time that does not exist'],
    ['2099-01-01T25:00Z', 'expires_at is a day or a time that does not exist'],
    ['soon', 'expires_at is Unix milliseconds or an ISO 8601 instant'],
  ]
  test.each(sentences)('[S1] why %p is not', (value, message) => {
    expect(read(value)).toEqual({ ok: false, failure: { code: 'invalid_expiry', message } })
  })
})

describe('the other bodies and frames', () => {
  const codes: [string, z.ZodType, unknown, ErrorCode | 'ok'][] = [
    ['availability online', availabilityBody, { status: 'online' }, 'ok'],
    ['availability offline', availabilityBody, { status: 'offline' }, 'invalid_status'],
    ['availability auto', availabilityBody, { status: 'auto' }, 'ok'],
    ['availability of a property', availabilityBody, { status: 'constructor' }, 'invalid_status'],
    ['no availability', availabilityBody, {}, 'invalid_status'],
    ['availability null', availabilityBody, { status: null }, 'invalid_status'],
    ['heartbeat', heartbeatBody, { device_id: 'd', activity: 'idle', more: 1 }, 'ok'],
    ['heartbeat without device', heartbeatBody, { activity: 'active' }, 'invalid_id'],
    ['heartbeat without activity', heartbeatBody, { device_id: 'd' }, 'bad_request'],
    [
      'heartbeat of a toaster',
      heartbeatBody,
      { device_id: 'd', activity: 'idle', platform: 'x' },
      'bad_request',
    ],
    ['heartbeat with a blank device', heartbeatBody, { device_id: ' ', activity: 'idle' }, 'invalid_id'],
    ['leave', leaveBody, { device_id: 'd' }, 'ok'],
    ['leave without device', leaveBody, {}, 'invalid_id'],
    ['query of no users', queryBody, { user_ids: [] }, 'ok'],
    ['query of a string', queryBody, { user_ids: 'a,b' }, 'bad_request'],
    ['query without ids', queryBody, {}, 'bad_request'],
    ['query of numbers', queryBody, { user_ids: [1] }, 'invalid_id'],
    ['query of a blank', queryBody, { user_ids: ['a', ''] }, 'invalid_id'],
    ['ids in a URL', queriedIdsInUrl, 'a,b', 'ok'],
    ['no ids in a URL', queriedIdsInUrl, undefined, 'bad_request'],
    ['nothing for ids in a URL', queriedIdsInUrl, '', 'bad_request'],
    ['a blank among the ids in a URL', queriedIdsInUrl, 'a,,b', 'invalid_id'],
    ['too many ids in a URL', queriedIdsInUrl, 'a,'.repeat(IDS_PER_QUERY_MAX).concat('a'), 'too_many_ids'],
    ['no viewer', viewerId, undefined, 'ok'],
    ['an empty viewer', viewerId, '', 'invalid_id'],
    ['unwatch', idsFrame, { user_ids: ['a'] }, 'ok'],
    ['unwatch of an object', idsFrame, { user_ids: { 0: 'a', length: 1 } }, 'bad_request'],
    ['watch with versions', watchFrame, { user_ids: ['a'], known: { a: 4 } }, 'ok'],
    ['watch with null', watchFrame, { user_ids: ['a'], known: null }, 'bad_request'],
    ['watch with a list', watchFrame, { user_ids: ['a'], known: [4] }, 'bad_request'],
    ['watch with texts', watchFrame, { user_ids: ['a'], known: { a: '4' } }, 'bad_request'],
    ['activity', activity, 'active', 'ok'],
    ['activity in capitals', activity, 'ACTIVE', 'bad_request'],
    ['platform', platform, 'web', 'ok'],
    ['platform of a property', platform, '__proto__', 'bad_request'],
  ]
  test.each(codes)('%s', (_, schema, value, code) => expect(codeFor(schema, value)).toBe(code))

  test.each(['auto', 'online'])('[S1] %s means automatic', (status) => {
    expect(parse(availabilityBody, { status })).toEqual({
      ok: true,
      value: { status: 'auto', expiresAt: null },
    })
  })

  test('[D8] a heartbeat without platform is from another one', () => {
    const value = { device_id: 'd', platform: 'other', activity: 'idle' } as const
    expect(parse(heartbeatBody, { device_id: 'd', activity: 'idle' })).toEqual({ ok: true, value })
    expect(PLATFORMS).toContain(value.platform)
  })

  test(`[R1] ${IDS_PER_QUERY_MAX} ids are a query and one more is too many`, () => {
    const ids = Array.from({ length: IDS_PER_QUERY_MAX + 1 }, (_, index) => `u${index}`)
    expect(codeFor(queryBody, { user_ids: ids.slice(1) })).toBe('ok')
    expect(codeFor(queryBody, { user_ids: ids })).toBe('too_many_ids')
    expect(codeFor(idsFrame, { user_ids: ids })).toBe('ok')
  })

  test('[R1] [X8] a list that is checked at once still says what it is', () => {
    expect(z.toJSONSchema(queryBody, { io: 'input' })).toMatchObject({
      properties: { user_ids: { type: 'array', maxItems: IDS_PER_QUERY_MAX, items: { type: 'string' } } },
      required: ['user_ids'],
    })
  })

  test('[S5] a refusal names the list it is about, and does not advise what cannot be done', () => {
    const messageOf = (body: object) => {
      const parsed = parse(settingsBody, body)
      return parsed.ok ? 'ok' : parsed.failure.message
    }
    const tooMany = Array.from({ length: 1_001 }, (_, n) => `u${n}`)
    for (const list of ['allow', 'deny']) {
      expect(messageOf({ [list]: null })).toBe(`${list} is a list of ids`)
      expect(messageOf({ [list]: tooMany })).toBe(`${list} has at most 1000 users`)
      expect(messageOf({ [list]: ['a b'] })).toStartWith(`${list}: an id is`)
      expect(messageOf({ [list]: tooMany.slice(1).map((id) => id.padEnd(20, 'x')) })).toContain(`in ${list}`)
    }
  })

  test('a refusal does not repeat what the sender made up', () => {
    const key = 'k'.repeat(10_000)
    const parsed = parse(watchFrame, { user_ids: ['a'], known: { [key]: 'x' } })
    expect(parsed).toEqual({
      ok: false,
      failure: { code: 'bad_request', message: 'known maps ids to versions' },
    })
  })

  test('parsing anything at all gives a value or a registered code with a sentence', () => {
    const schemas: z.ZodType[] = [
      activity,
      availabilityBody,
      customStatusBody,
      heartbeatBody,
      idsFrame,
      leaveBody,
      platform,
      queriedIdsInUrl,
      queryBody,
      userId,
      viewerId,
      watchFrame,
    ]
    const fields = fc.constantFrom(
      'user_ids',
      'known',
      'status',
      'text',
      'emoji',
      'expires_at',
      'device_id',
      'activity',
      '__proto__',
    )
    const anything = fc.anything({ withNullPrototype: true, withBigInt: true, withDate: true })
    const value = fc.oneof(anything, fc.dictionary(fields, anything))
    fc.assert(
      fc.property(fc.constantFrom(...schemas), value, (schema, input) => {
        const parsed = parse(schema, input)
        if (parsed.ok) return
        expect(Object.hasOwn(ERRORS, parsed.failure.code)).toBe(true)
        expect(parsed.failure.message).toMatch(/\w{2,}/)
        expect(parsed.failure.message).not.toStartWith(`${parsed.failure.code}:`)
        expect(parsed.failure.message.length).toBeLessThan(200)
      }),
      { numRuns: 2_000 },
    )
  })
})
