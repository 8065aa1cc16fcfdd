// Disconnects in SQL: one row for a user, and one for each device that was disconnected alone. Of two disconnects of the
// same, the later instants win, so a short one never lifts a long one. Which tokens are refused is kept apart from when the
// last one was, so one without `until` never refuses more. Rows are few and short-lived.
import type { DisconnectArchive, KeptDisconnect } from '../port.ts'
import type { SqlDatabase, SqlSession } from './database.ts'
import { wholeOrNull } from './rows.ts'

/** Stands for all devices. No id is empty. */
const ALL_DEVICES = ''

const COLUMNS = 'user_id, device_id, at, until, reason, issued_before'
const later = (name: string) => `${name} = CASE
  WHEN user_disconnect.${name} IS NULL OR excluded.${name} > user_disconnect.${name} THEN excluded.${name}
  ELSE user_disconnect.${name} END`
const WRITE = `
  INSERT INTO user_disconnect (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT (user_id, device_id) DO UPDATE SET
    reason = CASE WHEN excluded.at >= user_disconnect.at THEN excluded.reason ELSE user_disconnect.reason END,
    ${['at', 'until', 'issued_before'].map(later).join(', ')}`
const PAGE = `
  SELECT ${COLUMNS} FROM user_disconnect
  WHERE (user_id, device_id) > ($1, $2) AND (at >= $3 OR until > $4)
  ORDER BY user_id, device_id LIMIT CAST($5 AS BIGINT)`
const OF_USER = `SELECT ${COLUMNS} FROM user_disconnect WHERE user_id = $1 ORDER BY device_id`
const ERASE = 'DELETE FROM user_disconnect WHERE user_id = $1'
const TRIM = 'DELETE FROM user_disconnect WHERE at < $1 AND (until IS NULL OR until <= $2)'

interface Row {
  user_id: string
  device_id: string
  at: number | string
  until: number | string | null
  reason: string | null
  issued_before: number | string | null
}

export function createSqlDisconnects(database: SqlDatabase): DisconnectArchive & {
  erase(tx: SqlSession, userId: string): Promise<unknown>
} {
  return {
    async write({ userId, deviceId, at, until, reason }) {
      const row = [userId, deviceId ?? ALL_DEVICES, at, until, reason, until === null ? null : at]
      await database.transaction((tx) => tx.run(WRITE, row))
    },
    async page({ since, inForceAt, after, limit }) {
      const [userId, deviceId] = [after?.userId ?? '', after?.deviceId ?? ALL_DEVICES]
      return (await database.read<Row>(PAGE, [userId, deviceId, since, inForceAt, limit])).map(toRow)
    },
    of: async (userId) => (await database.read<Row>(OF_USER, [userId])).map(toRow),
    async trim(before, now) {
      await database.transaction((tx) => tx.run(TRIM, [before, now]))
    },
    erase: (tx, userId) => tx.run(ERASE, [userId]),
  }
}

const toRow = (row: Row): KeptDisconnect => ({
  userId: row.user_id,
  deviceId: row.device_id === ALL_DEVICES ? null : row.device_id,
  at: wholeOrNull(row.at)!,
  until: wholeOrNull(row.until),
  reason: row.reason,
  issuedBefore: wholeOrNull(row.issued_before),
})
