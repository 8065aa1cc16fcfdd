// What the contract of the archive does not reach: instants that are equal or go back, and the ends of hours.
import { describe, expect, test } from 'bun:test'
import type { Status } from '@greendot/protocol'
import {
  addToHours,
  applyToHistory,
  DAY_MS,
  type HistoryChange,
  HOUR_MS,
  type HourSums,
  type KeptInterval,
  keptSince,
} from './history.ts'

const T = 20_000 * DAY_MS

const change = (version: number, at: number, status: Status): HistoryChange => ({
  userId: 'anna',
  version,
  at: T + at,
  status,
  devices: status === 'offline' ? [] : ['web'],
})

/** All intervals after these changes, and their hours. */
function after(...changes: HistoryChange[]) {
  const kept = new Map<number, KeptInterval>()
  let newest: KeptInterval | null = null
  for (const one of changes)
    for (const interval of applyToHistory(newest, one)) {
      kept.set(interval.version, interval)
      newest = interval
    }
  const hours: HourSums = new Map()
  for (const interval of kept.values()) if (interval.toAt !== null) addToHours(hours, interval)
  return { intervals: [...kept.values()], hours: [...hours.values()] }
}

describe('intervals', () => {
  test('[X6] a clock that is behind makes an interval short, never negative or overlapping', () => {
    const { intervals } = after(change(1, 100, 'online'), change(2, 40, 'busy'), change(3, 90, 'offline'))
    expect(intervals.map(({ fromAt, toAt }) => [fromAt - T, toAt! - T])).toEqual([
      [100, 100],
      [100, 100],
    ])
  })

  test('[X6] a user who comes and goes within an hour is one user of it', () => {
    const moves = Array.from({ length: 6 }, (_, n) => change(n + 1, n * 60_000, n % 2 ? 'offline' : 'away'))
    expect(after(...moves).hours).toEqual([{ hourAt: T, onlineMs: 0, awayMs: 180_000, busyMs: 0, users: 1 }])
  })

  test('[X6] an interval without length counts its user once, at the very start of an hour too', () => {
    const moves = [change(1, 0, 'online'), change(2, 0, 'offline'), change(3, 0, 'busy')]
    const { hours } = after(...moves, change(4, HOUR_MS, 'online'), change(5, HOUR_MS + 1, 'offline'))
    expect(hours).toEqual([
      { hourAt: T, onlineMs: 0, awayMs: 0, busyMs: HOUR_MS, users: 1 },
      { hourAt: T + HOUR_MS, onlineMs: 1, awayMs: 0, busyMs: 0, users: 1 },
    ])
  })

  test('[X6] what is taken out again leaves nothing', () => {
    const { intervals } = after(
      change(1, 5, 'online'),
      change(2, 3 * HOUR_MS, 'away'),
      change(3, 9e6, 'offline'),
    )
    const hours: HourSums = new Map()
    for (const interval of intervals) addToHours(hours, interval)
    for (const interval of intervals) addToHours(hours, interval, -1)
    for (const { onlineMs, awayMs, busyMs, users } of hours.values())
      expect([onlineMs, awayMs, busyMs, users]).toEqual([0, 0, 0, 0])
  })
})

test('[X6] whole days are kept, so that no hour is kept by half', () => {
  expect(keptSince(7, T + DAY_MS - 1)).toBe(T - 7 * DAY_MS)
  expect(keptSince(7, T + DAY_MS)).toBe(T - 6 * DAY_MS)
})
