// Last seen as text: "5 minutes ago", "recently", "online". Pure: the time is an argument. Numbers, units and
// dates come from Intl in every language; only the five words that Intl lacks are kept here.
// Invariant: the text never says more than the server told. A user who hides and a user who never came get
// the same word, because the server does not tell them apart.
import type { LastSeenBucket, Presence } from '@greendot/protocol'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
/** From here on the date says more than the number of days. */
const DAYS_MAX = 7

export interface LastSeenWords {
  /** The user is here now. */
  online: string
  /** Less than a minute ago. */
  justNow: string
  /** Approximate: within three days. */
  recently: string
  /** Approximate: more than a month ago. */
  longAgo: string
  /** Never, hidden, or not known yet. */
  unknown: string
}

export interface LastSeenOptions {
  /** Unix milliseconds, like `Date.now()`. */
  now: number
  /** The language; that of the runtime by default. */
  locale?: Intl.LocalesArgument | undefined
  /** `short` and `narrow` abbreviate units. */
  style?: Intl.RelativeTimeFormatStyle
  /** The time zone of dates; that of the runtime by default. */
  timeZone?: string | undefined
  /** Instead of the built-in words. Needed for languages without any; these get English ones otherwise. */
  words?: Partial<LastSeenWords>
}

export type LastSeenInput = Pick<Presence, 'status' | 'last_seen' | 'last_seen_bucket'> & { stale?: boolean }

/** By language, or language and script: online, just now, recently, a long time ago, unknown. */
const WORDS: Record<string, string> = {
  ar: 'متصل الآن|الآن|مؤخرًا|منذ وقت طويل|غير معروف',
  de: 'online|gerade eben|kürzlich|vor langer Zeit|unbekannt',
  en: 'online|just now|recently|a long time ago|unknown',
  es: 'en línea|ahora mismo|hace poco|hace mucho tiempo|desconocido',
  fr: 'en ligne|à l’instant|récemment|il y a longtemps|inconnu',
  it: 'online|proprio ora|di recente|molto tempo fa|sconosciuto',
  ja: 'オンライン|たった今|最近|かなり前|不明',
  ko: '온라인|방금|최근|오래전|알 수 없음',
  nl: 'online|zojuist|onlangs|lang geleden|onbekend',
  pl: 'online|przed chwilą|niedawno|dawno temu|nieznane',
  pt: 'online|agora mesmo|recentemente|há muito tempo|desconhecido',
  ru: 'в сети|только что|недавно|давно|неизвестно',
  tr: 'çevrimiçi|az önce|yakın zamanda|uzun zaman önce|bilinmiyor',
  'zh-Hans': '在线|刚刚|最近|很久以前|未知',
  'zh-Hant': '線上|剛剛|最近|很久以前|未知',
}

function wordsIn(locale: string): LastSeenWords {
  const { language, script } = new Intl.Locale(locale).maximize()
  const words = WORDS[language] ?? WORDS[`${language}-${script}`] ?? WORDS.en!
  const [online, justNow, recently, longAgo, unknown] = words.split('|') as [string, ...string[]]
  return { online, justNow: justNow!, recently: recently!, longAgo: longAgo!, unknown: unknown! }
}

/**
 * When a user was last seen, as a phrase that fits behind "last seen" or into a column of that name. Users who
 * are online or busy are `online`; for users who are away it is when they were last active.
 */
export function formatLastSeen(person: LastSeenInput | null | undefined, options: LastSeenOptions): string {
  const { now, locale, style = 'long', timeZone, words } = options
  const relative = new Intl.RelativeTimeFormat(locale, { style })
  const said = { ...wordsIn(relative.resolvedOptions().locale), ...words }
  if (!person) return said.unknown
  const { status, last_seen: at, last_seen_bucket: bucket } = person
  // Without a connection it is only known that the user was here at `last_seen`.
  if ((status === 'online' || status === 'busy') && !person.stale) return said.online
  if (at === null) return bucket ? inBucket(bucket) : said.unknown
  // The clock of the server may be ahead.
  const agoMs = now - at
  if (agoMs < MINUTE_MS) return said.justNow
  if (agoMs < HOUR_MS) return ago(MINUTE_MS, 'minute')
  if (agoMs < DAY_MS) return ago(HOUR_MS, 'hour')
  if (agoMs < DAYS_MAX * DAY_MS) return ago(DAY_MS, 'day')
  return dateOf(at)

  function ago(unitMs: number, unit: Intl.RelativeTimeFormatUnit): string {
    return relative.format(-Math.floor(agoMs / unitMs), unit)
  }

  function dateOf(instant: number): string {
    const yearOf = (at: number) => new Intl.DateTimeFormat('en', { year: 'numeric', timeZone }).format(at)
    const year = yearOf(instant) === yearOf(now) ? undefined : 'numeric'
    const format = new Intl.DateTimeFormat(locale, {
      day: 'numeric',
      month: style === 'long' ? 'long' : 'short',
      year,
      timeZone,
    })
    return format.format(instant)
  }

  function inBucket(bucket: LastSeenBucket): string {
    switch (bucket) {
      case 'this_week':
      case 'this_month': {
        const named = new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style })
        return named.format(0, bucket === 'this_week' ? 'week' : 'month')
      }
      case 'recently':
        return said.recently
      case 'long_ago':
        return said.longAgo
      // A newer server may know more buckets.
      default:
        return said.unknown
    }
  }
}
