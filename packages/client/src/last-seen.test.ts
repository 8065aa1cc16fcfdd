// Last seen as text, at the edges of every unit and in several languages.
import { describe, expect, test } from 'bun:test'
import { formatLastSeen, type LastSeenBucket, type LastSeenInput, type LastSeenOptions } from './index.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const NOW = Date.UTC(2030, 4, 20, 12)

const options = (more: Partial<LastSeenOptions> = {}): LastSeenOptions => ({
  now: NOW,
  locale: 'en',
  timeZone: 'UTC',
  ...more,
})
const gone = (agoMs: number): LastSeenInput => ({ status: 'offline', last_seen: NOW - agoMs })
const roughly = (last_seen_bucket: LastSeenBucket | null): LastSeenInput => ({
  status: 'offline',
  last_seen: null,
  last_seen_bucket,
})

describe('formatLastSeen', () => {
  const edges: [number, string][] = [
    // The clock of the server may be ahead.
    [-5 * SECOND_MS, 'just now'],
    [0, 'just now'],
    [MINUTE_MS - 1, 'just now'],
    [MINUTE_MS, '1 minute ago'],
    [2 * MINUTE_MS - 1, '1 minute ago'],
    [HOUR_MS - 1, '59 minutes ago'],
    [HOUR_MS, '1 hour ago'],
    [DAY_MS - 1, '23 hours ago'],
    [DAY_MS, '1 day ago'],
    [7 * DAY_MS - 1, '6 days ago'],
    [7 * DAY_MS, 'May 13'],
    [139 * DAY_MS, 'January 1'],
    [140 * DAY_MS, 'December 31, 2029'],
  ]
  test.each(edges)('[X3, S4] %i ms ago is %s', (agoMs, text) => {
    expect(formatLastSeen(gone(agoMs), options())).toBe(text)
  })

  test('[X3] a date is in the time zone of the viewer, its year too', () => {
    const newYear = { status: 'offline', last_seen: Date.UTC(2030, 0, 1) } as const
    expect(formatLastSeen(newYear, options())).toBe('January 1')
    expect(formatLastSeen(newYear, options({ timeZone: 'America/New_York' }))).toBe('December 31, 2029')
  })

  test('[X3] users who are here are online, and users who are away were active at their last seen', () => {
    const at = NOW - 20 * MINUTE_MS
    expect(formatLastSeen({ status: 'online', last_seen: at }, options())).toBe('online')
    expect(formatLastSeen({ status: 'busy', last_seen: at }, options())).toBe('online')
    expect(formatLastSeen({ status: 'away', last_seen: at }, options())).toBe('20 minutes ago')
    expect(formatLastSeen({ status: 'away', last_seen: null, last_seen_bucket: 'recently' }, options())).toBe(
      'recently',
    )
  })

  test('[X3, W9] without a connection a user is not said to be online', () => {
    const stale = { status: 'online', last_seen: NOW - 3 * MINUTE_MS, stale: true } as const
    expect(formatLastSeen(stale, options())).toBe('3 minutes ago')
    expect(formatLastSeen({ ...stale, last_seen: null }, options())).toBe('unknown')
  })

  test('[X3, S5] an approximate last seen stays approximate', () => {
    const texts = (['recently', 'this_week', 'this_month', 'long_ago'] as const).map((bucket) =>
      formatLastSeen(roughly(bucket), options()),
    )
    expect(texts).toEqual(['recently', 'this week', 'this month', 'a long time ago'])
    const newer = roughly('last_year' as 'long_ago')
    expect(formatLastSeen(newer, options())).toBe('unknown')
  })

  test('[X3, S6] hidden, never seen and not known yet are the same', () => {
    const hidden: (LastSeenInput | null | undefined)[] = [
      { status: 'offline', last_seen: null },
      { status: null, last_seen: null },
      roughly(null),
      null,
      undefined,
    ]
    for (const person of hidden) expect(formatLastSeen(person, options())).toBe('unknown')
  })

  const languages: [string, string[]][] = [
    [
      'de',
      [
        'gerade eben',
        'vor 5 Minuten',
        'vor 3 Stunden',
        'vor 2 Tagen',
        '13. Mai',
        'kürzlich',
        'diese Woche',
        'diesen Monat',
        'vor langer Zeit',
        'unbekannt',
        'online',
      ],
    ],
    [
      'ja',
      [
        'たった今',
        '5 分前',
        '3 時間前',
        '2 日前',
        '5月13日',
        '最近',
        '今週',
        '今月',
        'かなり前',
        '不明',
        'オンライン',
      ],
    ],
    [
      'ar-EG',
      [
        'الآن',
        'قبل ٥ دقائق',
        'قبل ٣ ساعات',
        'قبل يومين',
        '١٣ مايو',
        'مؤخرًا',
        'هذا الأسبوع',
        'هذا الشهر',
        'منذ وقت طويل',
        'غير معروف',
        'متصل الآن',
      ],
    ],
    [
      'zh-TW',
      [
        '剛剛',
        '5 分鐘前',
        '3 小時前',
        '2 天前',
        '5月13日',
        '最近',
        '本週',
        '本月',
        '很久以前',
        '未知',
        '線上',
      ],
    ],
  ]
  test.each(languages)('[X3] in %s', (locale, texts) => {
    const people: (LastSeenInput | null)[] = [
      gone(0),
      gone(5 * MINUTE_MS),
      gone(3 * HOUR_MS),
      gone(2 * DAY_MS),
      gone(7 * DAY_MS),
      roughly('recently'),
      roughly('this_week'),
      roughly('this_month'),
      roughly('long_ago'),
      null,
      { status: 'online', last_seen: NOW },
    ]
    // ICU data differ in the spaces they put between numbers and units.
    const plain = (text: string) => text.replace(/\s/g, '')
    const shown = people.map((person) => plain(formatLastSeen(person, options({ locale }))))
    expect(shown).toEqual(texts.map(plain))
  })

  test('[X3] every built-in language has all five words of its own', () => {
    const all = 'ar de en es fr it ja ko nl pl pt ru tr zh-CN zh-TW'
      .split(' ')
      .map((locale) =>
        [gone(0), roughly('recently'), roughly('long_ago'), null].map((person) =>
          formatLastSeen(person, options({ locale })),
        ),
      )
    for (const words of all) expect(new Set(words).size).toBe(4)
    expect(new Set(all.map(([, , longAgo]) => longAgo)).size).toBe(all.length - 1)
  })

  test('[X3] other languages get their own units, and the words of the app', () => {
    const fi = (person: LastSeenInput | null, words?: LastSeenOptions['words']) =>
      formatLastSeen(person, options({ locale: 'fi', ...(words && { words }) }))
    expect(fi(gone(5 * MINUTE_MS))).toBe('5 minuuttia sitten')
    expect(fi(null)).toBe('unknown')
    expect(fi(null, { unknown: 'tuntematon' })).toBe('tuntematon')
    expect(fi(gone(0), { unknown: 'tuntematon' })).toBe('just now')
  })

  test('[X3] a short style shortens units and dates', () => {
    expect(formatLastSeen(gone(5 * MINUTE_MS), options({ style: 'short' }))).toBe('5 min. ago')
    expect(formatLastSeen(gone(120 * DAY_MS), options({ style: 'short' }))).toBe('Jan 20')
  })

  test('[X3] without a locale it is that of the runtime', () => {
    expect(formatLastSeen(gone(5 * MINUTE_MS), { now: NOW })).toContain('5')
    expect(() => formatLastSeen(null, options({ locale: 'not a locale' }))).toThrow(RangeError)
  })
})
