// The history of a user as the API returns it: intervals, the sessions they make up, and sums by day and hour, in UTC.
// Pure. Intervals that are still under way end at the end of the answer.
import type { Platform } from '@greendot/protocol'
import {
  DAY_MS,
  type HistoryHour,
  type HistoryInterval,
  HOUR_MS,
  type PresentStatus,
} from '../core/history.ts'

const MINUTE_MS = 60_000

export interface Minutes {
  online_minutes: number
  away_minutes: number
  busy_minutes: number
}

export interface UserHistory {
  user_id: string
  /** What the answer covers. */
  from: number
  to: number
  intervals: { status: PresentStatus; from: number; to: number; devices: Platform[] }[]
  /** Times without a gap. */
  sessions: { from: number; to: number }[]
  /** Days and hours without presence are left out. */
  days: ({ day: string } & Minutes & { first_seen: number; last_seen: number })[]
  hours: ({ hour: number } & Minutes)[]
}

export interface AllHistory {
  from: number
  to: number
  hours: ({ hour: number } & Minutes & { users: number })[]
}

interface Ended extends HistoryInterval {
  toAt: number
}

export function toUserHistory(
  userId: string,
  intervals: readonly HistoryInterval[],
  from: number,
  to: number,
): UserHistory {
  const clipped = intervals
    .map((interval): Ended => {
      const { fromAt, toAt } = interval
      return { ...interval, fromAt: Math.max(fromAt, from), toAt: Math.min(toAt ?? to, to) }
    })
    .filter(({ fromAt, toAt }) => fromAt < toAt)
  return {
    user_id: userId,
    from,
    to,
    intervals: clipped.map(({ status, fromAt, toAt, devices }) => ({
      status,
      from: fromAt,
      to: toAt,
      devices: [...devices],
    })),
    sessions: sessionsOf(clipped),
    days: partsOf(clipped, DAY_MS).map(({ at, spent, firstAt, lastAt }) => ({
      day: new Date(at).toISOString().slice(0, 10),
      ...toMinutes(spent),
      first_seen: firstAt,
      last_seen: lastAt,
    })),
    hours: partsOf(clipped, HOUR_MS).map(({ at, spent }) => ({ hour: at, ...toMinutes(spent) })),
  }
}

export function toAllHistory(hours: readonly HistoryHour[], from: number, to: number): AllHistory {
  return {
    from,
    to,
    hours: hours.map(({ hourAt, onlineMs, awayMs, busyMs, users }) => ({
      hour: hourAt,
      ...toMinutes({ online: onlineMs, away: awayMs, busy: busyMs }),
      users,
    })),
  }
}

function sessionsOf(intervals: readonly Ended[]): UserHistory['sessions'] {
  const sessions: UserHistory['sessions'] = []
  for (const { fromAt, toAt } of intervals) {
    const last = sessions.at(-1)
    if (last?.to === fromAt) last.to = toAt
    else sessions.push({ from: fromAt, to: toAt })
  }
  return sessions
}

type Spent = Record<PresentStatus, number>

interface Part {
  at: number
  spent: Spent
  firstAt: number
  lastAt: number
}

/** Parts of this length, by their beginning. */
function partsOf(intervals: readonly Ended[], lengthMs: number): Part[] {
  const parts = new Map<number, Part>()
  for (const { status, fromAt, toAt } of intervals) {
    for (let at = fromAt - (fromAt % lengthMs); at < toAt; at += lengthMs) {
      const beginsAt = Math.max(at, fromAt)
      const endsAt = Math.min(at + lengthMs, toAt)
      const part = parts.get(at) ?? {
        at,
        spent: { online: 0, away: 0, busy: 0 },
        firstAt: beginsAt,
        lastAt: endsAt,
      }
      part.spent[status] += endsAt - beginsAt
      part.lastAt = endsAt
      parts.set(at, part)
    }
  }
  return [...parts.values()]
}

const toMinutes = ({ online, away, busy }: Spent): Minutes => ({
  online_minutes: Math.round(online / MINUTE_MS),
  away_minutes: Math.round(away / MINUTE_MS),
  busy_minutes: Math.round(busy / MINUTE_MS),
})
