// The history of a user: intervals in which the user was shown with one status on the same devices. Offline time is no
// interval, and so neither is invisible time. Pure. An interval alone says what it adds to the hours of all users, so
// it can be taken out of them again when it is deleted.
import type { Platform, Status } from '@greendot/protocol'

export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS

export type PresentStatus = Exclude<Status, 'offline'>

/** A change of what is shown of a user. */
export interface HistoryChange {
  userId: string
  version: number
  at: number
  status: Status
  devices: readonly Platform[]
}

export interface HistoryInterval {
  status: PresentStatus
  /** As they were at the beginning, most recently active first. */
  devices: readonly Platform[]
  fromAt: number
  /** Null while it lasts. */
  toAt: number | null
}

export interface KeptInterval extends HistoryInterval {
  /** The version of the change that began it. */
  version: number
  /** The version of the change that ended it; null while it lasts, and where an earlier release ended it. */
  endedBy: number | null
  /** No earlier interval of the user reaches into the hour in which this one begins. */
  isFirstOfHour: boolean
}

/** The time that users were present within one hour, and how many users. */
export interface HistoryHour {
  hourAt: number
  onlineMs: number
  awayMs: number
  busyMs: number
  users: number
}

/** What was kept until the start of this day, UTC, is deleted. */
export function keptSince(historyDays: number, now: number): number {
  return now - (now % DAY_MS) - historyDays * DAY_MS
}

export const hourOf = (at: number): number => at - (at % HOUR_MS)

/** Intervals that a change ends and begins, after the newest one. A change that was applied already does nothing. */
export function applyToHistory(newest: KeptInterval | null, change: HistoryChange): KeptInterval[] {
  const { version, status, devices } = change
  if (newest !== null && version <= (newest.endedBy ?? newest.version)) return []
  const isOpen = newest !== null && newest.toAt === null
  if (isOpen && newest.status === status && haveSameDevices(newest.devices, devices)) return []
  // Clocks of processes may differ by a little; intervals never overlap.
  const at = Math.max(change.at, newest?.toAt ?? newest?.fromAt ?? 0)
  const changed: KeptInterval[] = isOpen ? [{ ...newest, toAt: at, endedBy: version }] : []
  if (status === 'offline') return changed
  const before = changed[0] ?? newest
  const isFirstOfHour = before === null || !reachesInto(before, hourOf(at))
  changed.push({ version, endedBy: null, status, devices, fromAt: at, toAt: null, isFirstOfHour })
  return changed
}

const reachesInto = ({ fromAt, toAt }: KeptInterval, hourAt: number): boolean =>
  fromAt >= hourAt || toAt === null || toAt > hourAt

/** Order is no difference here: it says which device was used last. */
function haveSameDevices(a: readonly Platform[], b: readonly Platform[]): boolean {
  return a.length === b.length && a.every((device) => b.includes(device))
}

const FIELDS = { online: 'onlineMs', away: 'awayMs', busy: 'busyMs' } as const

/** Hours by their beginning. */
export type HourSums = Map<number, HistoryHour>

/** Adds an interval that has ended; `sign` -1 takes it out again. */
export function addToHours(hours: HourSums, interval: KeptInterval, sign: 1 | -1 = 1): void {
  const { status, fromAt, isFirstOfHour } = interval
  const toAt = interval.toAt!
  for (let hourAt = hourOf(fromAt); hourAt === hourOf(fromAt) || hourAt < toAt; hourAt += HOUR_MS) {
    const ms = Math.min(toAt, hourAt + HOUR_MS) - Math.max(fromAt, hourAt)
    const users = hourAt > fromAt || isFirstOfHour ? 1 : 0
    addPresent(hours, hourAt, status, sign * ms, sign * users)
  }
}

export function addPresent(
  hours: HourSums,
  hourAt: number,
  status: PresentStatus,
  ms: number,
  users: number,
): void {
  const sums = hours.get(hourAt) ?? { hourAt, onlineMs: 0, awayMs: 0, busyMs: 0, users: 0 }
  sums[FIELDS[status]] += ms
  sums.users += users
  hours.set(hourAt, sums)
}
