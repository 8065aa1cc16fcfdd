// The history as the API returns it: clipped to what was asked, and summed by day and hour.
import { expect, test } from 'bun:test'
import { DAY_MS, type HistoryInterval, HOUR_MS, type PresentStatus } from '../core/history.ts'
import { toUserHistory } from './history-view.ts'

const T = Date.UTC(2030, 0, 1)
const at = (hour: number, minute = 0) => T + hour * HOUR_MS + minute * 60_000

const interval = (status: PresentStatus, fromAt: number, toAt: number | null): HistoryInterval => ({
  status,
  devices: ['web'],
  fromAt,
  toAt,
})

test('[X6] intervals without a gap are one session, and each day has its sums', () => {
  const { sessions, days, hours } = toUserHistory(
    'anna',
    [
      interval('online', at(22, 30), at(23, 15)),
      interval('away', at(23, 15), at(24, 30)),
      interval('busy', at(25), at(25, 10)),
    ],
    T,
    T + 2 * DAY_MS,
  )
  expect(sessions).toEqual([
    { from: at(22, 30), to: at(24, 30) },
    { from: at(25), to: at(25, 10) },
  ])
  const minutes = (online: number, away: number, busy: number) => ({
    online_minutes: online,
    away_minutes: away,
    busy_minutes: busy,
  })
  expect(days).toEqual([
    { day: '2030-01-01', ...minutes(45, 45, 0), first_seen: at(22, 30), last_seen: at(24) },
    { day: '2030-01-02', ...minutes(0, 30, 10), first_seen: at(24), last_seen: at(25, 10) },
  ])
  expect(hours).toEqual([
    { hour: at(22), ...minutes(30, 0, 0) },
    { hour: at(23), ...minutes(15, 45, 0) },
    { hour: at(24), ...minutes(0, 30, 0) },
    { hour: at(25), ...minutes(0, 0, 10) },
  ])
})

test('[X6] what lies outside is cut off, and what lasts ends with the answer', () => {
  const all = [
    interval('online', at(1), at(2)),
    interval('online', at(3), at(5)),
    interval('busy', at(5), null),
  ]
  const { intervals, from, to } = toUserHistory('anna', all, at(4), at(6))
  expect([from, to]).toEqual([at(4), at(6)])
  expect(intervals).toEqual([
    { status: 'online', from: at(4), to: at(5), devices: ['web'] },
    { status: 'busy', from: at(5), to: at(6), devices: ['web'] },
  ])
  expect(toUserHistory('anna', all, at(2), at(3)).intervals).toEqual([])
})
