import { describe, expect, test } from 'bun:test'
import type { Presence } from '@greendot/client'
import {
  bytesWords,
  changeWords,
  customWords,
  deviceWords,
  durationWords,
  lookWords,
  roundWords,
  seenWords,
  timeWords,
} from './words.ts'

const NOON = new Date(2030, 4, 3, 12, 0).getTime()
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

const bob: Presence = {
  user_id: 'bob',
  status: 'online',
  last_seen: NOON,
  custom_status: null,
  devices: ['web'],
  version: 1,
}

describe('presence as text', () => {
  test('[S3] a custom status has its expiry, and only the parts that are set', () => {
    const until = NOON + 3 * HOUR_MS
    expect(customWords({ text: 'In a meeting', emoji: '📅', expires_at: until }, NOON)).toBe(
      `In a meeting 📅 until ${timeWords(until, NOON)}`,
    )
    expect(customWords({ text: null, emoji: '🌴', expires_at: null }, NOON)).toBe('🌴')
    expect(customWords(null, NOON)).toBe('')
  })

  test('[S3] an expiry that is not today has its day', () => {
    const today = timeWords(NOON, NOON)
    const tomorrow = timeWords(NOON + 24 * HOUR_MS, NOON)
    expect(tomorrow).not.toBe(today)
    expect(tomorrow).toEndWith(today)
  })

  test('[S4] last seen becomes coarser with time', () => {
    const seen = (agoMs: number) => seenWords({ ...bob, last_seen: NOON - agoMs }, NOON)
    expect(seen(0)).toBe('Last seen just now')
    // The clock of the server may be ahead.
    expect(seen(-5_000)).toBe('Last seen just now')
    expect(seen(MINUTE_MS)).toBe('Last seen 1 minute ago')
    expect(seen(5.5 * HOUR_MS)).toBe('Last seen 5 hours ago')
    expect(seen(48 * HOUR_MS)).toBe('Last seen 2 days ago')
    expect(seenWords({ ...bob, last_seen: null }, NOON)).toBe('Not seen yet')
  })

  test('[S5] an approximate last seen stays approximate', () => {
    expect(seenWords({ ...bob, last_seen: null, last_seen_bucket: 'this_week' }, NOON)).toBe(
      'Last seen this week',
    )
  })

  test('[D7] devices are listed', () => {
    expect(deviceWords([])).toBe('')
    expect(deviceWords(['mobile'])).toBe('phone')
    expect(deviceWords(['mobile', 'web', 'tablet'])).toBe('phone, web and tablet')
  })

  test('[W9] stale presence is in the past tense', () => {
    expect(lookWords('busy')).toBe('Busy')
    expect(lookWords('busy', true)).toBe('Was busy')
  })

  test('[X4] a change is one sentence about its most important part', () => {
    const sentenceOf = (after: Partial<Presence>, before: Presence | undefined = bob) =>
      changeWords({ ...bob, ...after }, before, NOON)
    expect(sentenceOf({}, undefined)).toBeNull()
    expect(sentenceOf({ version: 2, last_seen: NOON + 1 })).toBeNull()
    expect(sentenceOf({ status: 'offline', devices: [] })).toBe('bob went offline')
    expect(sentenceOf({ status: null })).toBe('bob went offline')
    expect(sentenceOf({ status: 'away' })).toBe('bob went away')
    expect(sentenceOf({ status: 'busy' })).toBe('bob is busy')
    expect(sentenceOf({}, { ...bob, status: 'offline' })).toBe('bob came online')
    expect(sentenceOf({}, { ...bob, status: 'busy' })).toBe('bob is back online')
    expect(sentenceOf({ devices: ['mobile', 'web'] })).toBe('bob is on phone and web')
    const said = { text: 'Lunch', emoji: null, expires_at: null }
    expect(sentenceOf({ custom_status: said })).toBe('bob: Lunch')
    expect(sentenceOf({}, { ...bob, custom_status: said })).toBe('bob: status gone')
  })
})

test('[X4] numbers have three significant digits', () => {
  // In the format of the machine that runs this.
  const local = (value: number) => value.toLocaleString()
  expect([0, 7, 0.25, 12.34, 123.4].map(roundWords)).toEqual([0, 7, 0.25, 12.3, 123].map(local))
  expect([0, 999, 1_000, 127_500_000].map(bytesWords)).toEqual(['0 B', '999 B', '1 kB', '128 MB'])
  expect(bytesWords(3.2e12)).toBe(`${local(3.2)} TB`)
  expect([900, 61_000, 3_700_000, 90_000_000].map(durationWords)).toEqual([
    '0 s',
    '1 min',
    '1 h 1 min',
    '1 d 1 h',
  ])
})
