// Presence as text. Pure: the time is an argument.
import { type CustomStatus, formatLastSeen, type Platform, type Presence } from '@greendot/client'
import type { Look } from './look.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

const LOOKS: Record<Look, string> = {
  online: 'Online',
  away: 'Away',
  busy: 'Busy',
  offline: 'Offline',
  invisible: 'Invisible',
}
const PLATFORMS: Record<Platform, string> = {
  web: 'web',
  desktop: 'desktop',
  mobile: 'phone',
  tablet: 'tablet',
  console: 'console',
  bot: 'bot',
  other: 'something else',
}

export const lookWords = (look: Look, stale = false): string =>
  stale ? `Was ${LOOKS[look].toLowerCase()}` : LOOKS[look]

/** In the local format; with the day unless it is today. */
export function timeWords(at: number, now: number): string {
  const isToday = new Date(at).toDateString() === new Date(now).toDateString()
  const time = new Date(at).toLocaleTimeString([], { hour: 'numeric', minute: '2-digit' })
  return isToday
    ? time
    : `${new Date(at).toLocaleDateString([], { day: 'numeric', month: 'short' })}, ${time}`
}

export const preciseTime = (at: number): string =>
  new Date(at).toLocaleTimeString([], { hour: 'numeric', minute: '2-digit', second: '2-digit' })

export function customWords(custom: CustomStatus | null, now: number): string {
  if (custom === null) return ''
  const said = [custom.text, custom.emoji].filter((part) => part !== null).join(' ')
  return custom.expires_at === null ? said : `${said} until ${timeWords(custom.expires_at, now)}`
}

/** Says when an offline user was last seen; the page is in English. */
export function seenWords(person: Presence, now: number): string {
  if (person.last_seen === null && !person.last_seen_bucket) return 'Not seen yet'
  return `Last seen ${formatLastSeen({ ...person, status: 'offline' }, { now, locale: 'en' })}`
}

export function deviceWords(devices: readonly Platform[]): string {
  const names = devices.map((device) => PLATFORMS[device])
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}

/** A change as a sentence; null if nothing visible changed. */
export function changeWords(person: Presence, before: Presence | undefined, now: number): string | null {
  if (before === undefined) return null
  const who = person.user_id
  if (person.status !== before.status) {
    switch (person.status) {
      case 'online':
        return before.status === 'offline' ? `${who} came online` : `${who} is back online`
      case 'away':
        return `${who} went away`
      case 'busy':
        return `${who} is busy`
      default:
        return `${who} went offline`
    }
  }
  const [said, saidBefore] = [customWords(person.custom_status, now), customWords(before.custom_status, now)]
  if (said !== saidBefore) return said === '' ? `${who}: status gone` : `${who}: ${said}`
  const [on, wasOn] = [deviceWords(person.devices), deviceWords(before.devices)]
  if (on !== wasOn && on !== '') return `${who} is on ${on}`
  return null
}

const SIZES = ['B', 'kB', 'MB', 'GB', 'TB']
export function bytesWords(bytes: number): string {
  const power = Math.min(SIZES.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  return `${roundWords(bytes / 1000 ** power)} ${SIZES[power]}`
}

export function durationWords(ms: number): string {
  if (ms < MINUTE_MS) return `${Math.floor(ms / 1000)} s`
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min`
  if (ms < DAY_MS) return `${Math.floor(ms / HOUR_MS)} h ${Math.floor((ms % HOUR_MS) / MINUTE_MS)} min`
  return `${Math.floor(ms / DAY_MS)} d ${Math.floor((ms % DAY_MS) / HOUR_MS)} h`
}

/** Three significant digits; integers stay integers. */
export function roundWords(value: number): string {
  const digits = value >= 100 || Number.isInteger(value) ? 0 : value >= 10 ? 1 : 2
  return value.toLocaleString([], { maximumFractionDigits: digits })
}
