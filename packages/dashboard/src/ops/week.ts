// Draws a week as one row for each day, in UTC: the intervals of one user, or the hours of all users, in a stronger colour the
// more users there were. Positions are attributes of SVG, because the page has no style attributes.
import { h, s } from '../dom.ts'
import { durationWords, lookWords } from '../words.ts'
import type { AllHistory, UserHistory } from './api.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const DAYS = 7
const DAY_MINUTES = 24 * 60
/** An hour with one of many users can still be seen. */
const FAINTEST = 0.18
const MARKS = ['0', '6', '12', '18']

/** When the first day of the week begins that ends with today. */
export const weekBegins = (now: number): number => now - (now % DAY_MS) - (DAYS - 1) * DAY_MS

interface Row {
  bars: SVGElement[]
  /** At the end of the row. */
  sum: string
  /** For readers of the screen. */
  told: string
}

export function userWeek({ intervals, days }: UserHistory, from: number): HTMLElement {
  return week(from, (dayAt, name) => {
    const shown = intervals.filter((one) => one.to > dayAt && one.from < dayAt + DAY_MS)
    const bars = shown.map(({ status, from: begins, to: ends, devices }) => {
      const start = Math.max(begins, dayAt)
      const end = Math.min(ends, dayAt + DAY_MS)
      const where = devices.length === 0 ? '' : `, on ${devices.join(', ')}`
      const title = `${lookWords(status)} ${timeOf(start)} to ${timeOf(end)}${where}`
      return s(
        'rect',
        {
          class: `bar-${status}`,
          x: (start - dayAt) / MINUTE_MS,
          // A short visit can still be seen.
          width: Math.max((end - start) / MINUTE_MS, 2),
          height: 10,
        },
        s('title', {}, title),
      )
    })
    const day = days.find((one) => Date.parse(one.day) === dayAt)
    if (day === undefined) return { bars, sum: '', told: `${name}: not here` }
    const sum = durationWords((day.online_minutes + day.away_minutes + day.busy_minutes) * MINUTE_MS)
    const told = `${name}: here for ${sum}, first at ${timeOf(day.first_seen)}, last at ${timeOf(day.last_seen)}`
    return { bars, sum, told }
  })
}

export function allWeek({ hours }: AllHistory, from: number): HTMLElement {
  const most = Math.max(1, ...hours.map(({ users }) => users))
  return week(from, (dayAt, name) => {
    const shown = hours.filter(({ hour }) => hour >= dayAt && hour < dayAt + DAY_MS)
    const bars = shown.map(({ hour, users, online_minutes, away_minutes, busy_minutes }) => {
      const spent = `${online_minutes} min online, ${away_minutes} away, ${busy_minutes} busy`
      return s(
        'rect',
        {
          class: 'heat',
          x: (hour - dayAt) / MINUTE_MS + 1,
          width: 58,
          height: 10,
          'fill-opacity': (FAINTEST + (1 - FAINTEST) * (users / most)).toFixed(2),
        },
        s('title', {}, `${name}, ${timeOf(hour)}: ${people(users)}; ${spent}`),
      )
    })
    const peak = Math.max(0, ...shown.map(({ users }) => users))
    if (peak === 0) return { bars, sum: '', told: `${name}: no user` }
    return {
      bars,
      sum: `up to ${peak.toLocaleString()}`,
      told: `${name}: at most ${people(peak)} in an hour`,
    }
  })
}

function week(from: number, rowOf: (dayAt: number, name: string) => Row): HTMLElement {
  const rows = Array.from({ length: DAYS }, (_, index) => {
    const dayAt = from + index * DAY_MS
    const name = dayName(dayAt)
    const { bars, sum, told } = rowOf(dayAt, name)
    return h(
      'li',
      { class: 'week-day' },
      h('span', { class: 'soft', 'aria-hidden': 'true' }, name),
      s(
        'svg',
        { viewBox: `0 0 ${DAY_MINUTES} 10`, preserveAspectRatio: 'none', role: 'img', 'aria-label': told },
        ...bars,
      ),
      h('span', { class: 'week-sum', 'aria-hidden': 'true' }, sum),
    )
  })
  const marks = MARKS.map((mark) => h('span', {}, mark))
  return h(
    'div',
    {},
    h('ol', { class: 'week' }, ...rows),
    h(
      'div',
      { class: 'week-day week-marks soft', 'aria-hidden': 'true' },
      h('span', {}, 'UTC'),
      h('span', { class: 'week-hours' }, ...marks),
      h('span', { class: 'week-sum' }),
    ),
  )
}

const people = (count: number): string => `${count.toLocaleString()} ${count === 1 ? 'user' : 'users'}`

const timeOf = (at: number): string => new Date(at).toISOString().slice(11, 16)

const dayName = (at: number): string =>
  new Date(at).toLocaleDateString('en', { weekday: 'short', day: 'numeric', timeZone: 'UTC' })
