// The history in SQL. All rows of a user are written under a lock on the user's setting, so a change that is handed
// over twice, here or by another process, is applied once, and a user who refuses gets no rows after it. What users add
// to the hours is written and taken out in the transaction of their rows, so hours are always the sum of the rows.
import type { Platform } from '@greendot/protocol'
import {
  addPresent,
  addToHours,
  applyToHistory,
  type HistoryChange,
  type HistoryHour,
  HOUR_MS,
  type HourSums,
  type PresentStatus,
} from '../../presence/core/history.ts'
import type { HistoryArchive } from '../port.ts'
import type { SqlDatabase, SqlSession } from './database.ts'
import { HISTORY_COLUMNS, type HistoryRow, HOUR_COLUMNS, historyStatements } from './history-statements.ts'
import { toJsonRows, type Whole, wholeOrNull } from './rows.ts'
import { inSlices } from './slices.ts'

const CHANGES_PER_TRANSACTION_MAX = 250
const ROWS_PER_DELETE_MAX = 500
const USERS_PER_PAGE = 500

interface Found {
  user_id: string
  from_at: Whole
  version: Whole
  to_at: Whole | null
  ended_by: Whole | null
  status: PresentStatus
  devices: string
  first_of_hour: Whole
}

interface FoundHour {
  hour_at: Whole
  online_ms: Whole
  away_ms: Whole
  busy_ms: Whole
  users: Whole
}

interface Lasting {
  status: PresentStatus
  first_of_hour: Whole
  hour_at: Whole
  users: Whole
  late_ms: Whole
}

export function createSqlHistory(database: SqlDatabase): HistoryArchive {
  const sql = historyStatements(database.dialect)

  async function addHours(tx: SqlSession, hours: HourSums): Promise<void> {
    if (hours.size === 0) return
    // In one order, so that two writers cannot deadlock.
    const sorted = [...hours.values()].sort((a, b) => a.hourAt - b.hourAt)
    await tx.run(sql.addHours, [toJsonRows(HOUR_COLUMNS, sorted)])
  }

  async function writeSome(
    tx: SqlSession,
    changes: readonly HistoryChange[],
    keptFromAt: number,
  ): Promise<void> {
    const ids = JSON.stringify([...new Set(changes.map(({ userId }) => userId))].sort())
    const keeping = new Map<string, number>()
    for (const row of await tx.rows<{ user_id: string; history_set_at: Whole }>(sql.lockKeeping, [ids]))
      keeping.set(row.user_id, Number(row.history_set_at))
    if (keeping.size === 0) return
    const newest = new Map<string, HistoryRow>()
    // An older row is still to be deleted.
    for (const row of await tx.rows<Found>(sql.newest, [ids]))
      if (Number(row.from_at) >= (keeping.get(row.user_id) ?? 0)) newest.set(row.user_id, toRow(row))

    const written = new Map<string, HistoryRow>()
    const hours: HourSums = new Map()
    for (const change of changes) {
      const { userId } = change
      const since = keeping.get(userId)
      if (since === undefined || change.at < Math.max(since, keptFromAt)) continue
      for (const interval of applyToHistory(newest.get(userId) ?? null, change)) {
        const row = { userId, ...interval }
        newest.set(userId, row)
        written.set(`${userId} ${row.version}`, row)
        if (row.toAt !== null) addToHours(hours, row)
      }
    }
    if (written.size === 0) return
    await tx.run(sql.write, [toJsonRows(HISTORY_COLUMNS, [...written.values()])])
    await addHours(tx, hours)
  }

  async function deleteAll(deleteSome: () => Promise<number>): Promise<void> {
    while ((await deleteSome()) > 0) await database.pause()
  }

  const deletes = (statement: string, ...params: number[]) =>
    deleteAll(() => database.transaction((tx) => tx.run(statement, [...params, ROWS_PER_DELETE_MAX])))

  return {
    async write(changes, keptFromAt) {
      await inSlices(changes, { itemsMax: CHANGES_PER_TRANSACTION_MAX }, database.pause, (slice) =>
        database.transaction((tx) => writeSome(tx, slice, keptFromAt)),
      )
    },

    async keepsSince(userId) {
      const [row] = await database.read<{ history_set_at: Whole }>(sql.keepsSince, [userId])
      return row === undefined ? null : Number(row.history_set_at)
    },

    async read(userId, { fromAt, toAt, after, limit }) {
      const last = after ?? { fromAt: -1, version: -1 }
      const rows = await database.read<Found>(sql.read, [
        userId,
        fromAt,
        last.fromAt,
        last.version,
        toAt,
        limit,
      ])
      return rows.map(toRow)
    },

    async hours(fromAt, toAt, now) {
      const hours: HourSums = new Map()
      for (const row of await database.read<FoundHour>(sql.hours, [fromAt, toAt])) {
        const hour = toHour(row)
        hours.set(hour.hourAt, hour)
      }
      const untilAt = Math.min(toAt, now)
      for (const row of await database.read<Lasting>(sql.lasting, [untilAt]))
        addLasting(hours, row, fromAt, untilAt)
      return [...hours.values()].sort((a, b) => a.hourAt - b.hourAt)
    },

    async forget(userId) {
      await deleteAll(() =>
        database.transaction(async (tx) => {
          const rows = await tx.rows<Found>(sql.forget, [userId, ROWS_PER_DELETE_MAX])
          const hours: HourSums = new Map()
          for (const row of rows.map(toRow)) if (row.toAt !== null) addToHours(hours, row, -1)
          await addHours(tx, hours)
          return rows.length
        }),
      )
      database.wipe?.()
    },

    async refusing(afterId) {
      const page = await database.read<{ user_id: string; has_rows: number | boolean }>(sql.refusing, [
        afterId,
        USERS_PER_PAGE,
      ])
      return {
        userIds: page.filter((row) => row.has_rows).map((row) => row.user_id),
        lastId: page.length < USERS_PER_PAGE ? null : page.at(-1)!.user_id,
      }
    },

    async unended(writtenBefore, afterId) {
      const rows = await database.read<{ user_id: string; version: Whole; ended_at: Whole }>(sql.unended, [
        writtenBefore,
        afterId,
        USERS_PER_PAGE,
      ])
      return rows.map((row) => ({
        userId: row.user_id,
        version: Number(row.version),
        at: Number(row.ended_at),
        status: 'offline' as const,
        devices: [],
      }))
    },

    async trim(before) {
      await deletes(sql.trim, before)
      await database.transaction((tx) => tx.run(sql.trimHours, [before]))
    },

    async keepDays(days) {
      await database.transaction((tx) => tx.run(sql.keepDays, [days]))
    },

    async keptDays() {
      const [row] = await database.read<{ days: Whole }>(sql.keptDays)
      return row === undefined ? null : Number(row.days)
    },
  }
}

/** What the lasting intervals of one status that began in one hour add to the hours so far. */
function addLasting(hours: HourSums, row: Lasting, fromAt: number, untilAt: number): void {
  const startAt = Number(row.hour_at)
  const users = Number(row.users)
  for (let hourAt = Math.max(startAt, fromAt); hourAt < untilAt; hourAt += HOUR_MS) {
    const isStart = hourAt === startAt
    const ms = users * (Math.min(untilAt, hourAt + HOUR_MS) - hourAt) - (isStart ? Number(row.late_ms) : 0)
    addPresent(hours, hourAt, row.status, ms, isStart && Number(row.first_of_hour) === 0 ? 0 : users)
  }
}

function toRow(row: Found): HistoryRow {
  return {
    userId: row.user_id,
    version: Number(row.version),
    status: row.status,
    devices: row.devices === '' ? [] : (row.devices.split(' ') as Platform[]),
    fromAt: Number(row.from_at),
    toAt: wholeOrNull(row.to_at),
    endedBy: wholeOrNull(row.ended_by),
    isFirstOfHour: Number(row.first_of_hour) === 1,
  }
}

function toHour(row: FoundHour): HistoryHour {
  return {
    hourAt: Number(row.hour_at),
    onlineMs: Number(row.online_ms),
    awayMs: Number(row.away_ms),
    busyMs: Number(row.busy_ms),
    users: Number(row.users),
  }
}
