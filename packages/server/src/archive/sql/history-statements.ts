// The statements of the history. A user's rows are read and written only while the user keeps a history, and only
// those that are not older than this choice: rows that are still to be deleted are never seen.
import { type HistoryHour, HOUR_MS, type KeptInterval } from '../../presence/core/history.ts'
import type { SqlDialect } from './database.ts'
import { type Column, insertJsonRows } from './rows.ts'

export interface HistoryRow extends KeptInterval {
  userId: string
}

export const HISTORY_COLUMNS: readonly Column<HistoryRow>[] = [
  { name: 'user_id', type: 'TEXT', of: (row) => row.userId },
  { name: 'from_at', type: 'BIGINT', of: (row) => row.fromAt },
  { name: 'version', type: 'BIGINT', of: (row) => row.version },
  { name: 'to_at', type: 'BIGINT', of: (row) => row.toAt },
  { name: 'status', type: 'TEXT', of: (row) => row.status },
  { name: 'devices', type: 'TEXT', of: (row) => row.devices.join(' ') },
  { name: 'ended_by', type: 'BIGINT', of: (row) => row.endedBy },
  { name: 'first_of_hour', type: 'BIGINT', of: (row) => Number(row.isFirstOfHour) },
]

export const HOUR_COLUMNS: readonly Column<HistoryHour>[] = [
  { name: 'hour_at', type: 'BIGINT', of: (row) => row.hourAt },
  { name: 'online_ms', type: 'BIGINT', of: (row) => row.onlineMs },
  { name: 'away_ms', type: 'BIGINT', of: (row) => row.awayMs },
  { name: 'busy_ms', type: 'BIGINT', of: (row) => row.busyMs },
  { name: 'users', type: 'BIGINT', of: (row) => row.users },
]

const NAMES = HISTORY_COLUMNS.map(({ name }) => name)
const KEY = 'user_id, from_at, version'

export function historyStatements(dialect: SqlDialect) {
  const isKept = 'said.history = 1 AND said.user_id NOT IN (SELECT user_id FROM user_erasure)'
  const some = (condition: string, limit: string) => `
    (${KEY}) IN (SELECT ${KEY} FROM presence_history WHERE ${condition} LIMIT CAST(${limit} AS BIGINT))`

  return {
    // The locks keep a second writer, a changed setting and an erasure out until the transaction ends. All take them
    // in the order of ids.
    lockKeeping: `
      SELECT said.user_id, said.history_set_at FROM user_settings AS said
      WHERE said.user_id IN (SELECT entry.value FROM ${dialect.jsonTexts('$1')}) AND ${isKept}
      ORDER BY said.user_id${dialect.forUpdate}`,
    newest: `
      SELECT ${NAMES.map((name) => `kept.${name}`).join(', ')}
      FROM ${dialect.jsonTexts('$1')} JOIN presence_history AS kept ON kept.user_id = entry.value
      WHERE (kept.from_at, kept.version) = (
        SELECT last.from_at, last.version FROM presence_history AS last WHERE last.user_id = entry.value
        ORDER BY last.from_at DESC, last.version DESC LIMIT 1)`,
    write: `
      ${insertJsonRows('presence_history', HISTORY_COLUMNS, dialect)}
      ON CONFLICT (${KEY}) DO UPDATE SET to_at = excluded.to_at, ended_by = excluded.ended_by`,
    addHours: `
      ${insertJsonRows('presence_hour', HOUR_COLUMNS, dialect)}
      ON CONFLICT (hour_at) DO UPDATE SET ${HOUR_COLUMNS.slice(1)
        .map(({ name }) => `${name} = presence_hour.${name} + excluded.${name}`)
        .join(', ')}`,

    keepsSince: `SELECT said.history_set_at FROM user_settings AS said WHERE said.user_id = $1 AND ${isKept}`,
    // From the last interval that began at or before $2.
    read: `
      SELECT ${NAMES.join(', ')} FROM presence_history
      WHERE user_id = $1 AND from_at >= COALESCE(
        (SELECT max(from_at) FROM presence_history WHERE user_id = $1 AND from_at <= CAST($2 AS BIGINT)),
        CAST($2 AS BIGINT))
      AND (from_at, version) > (CAST($3 AS BIGINT), CAST($4 AS BIGINT)) AND from_at < CAST($5 AS BIGINT)
      ORDER BY from_at, version LIMIT CAST($6 AS BIGINT)`,
    hours: `
      SELECT ${HOUR_COLUMNS.map(({ name }) => name).join(', ')} FROM presence_hour
      WHERE hour_at >= CAST($1 AS BIGINT) AND hour_at < CAST($2 AS BIGINT) AND users > 0 ORDER BY hour_at`,
    // Intervals that last are in no hour yet.
    lasting: `
      SELECT kept.status, kept.first_of_hour, kept.from_at - kept.from_at % ${HOUR_MS} AS hour_at,
        count(*) AS users, sum(kept.from_at % ${HOUR_MS}) AS late_ms
      FROM presence_history AS kept JOIN user_settings AS said ON said.user_id = kept.user_id
      WHERE kept.to_at IS NULL AND kept.from_at < CAST($1 AS BIGINT)
      AND kept.from_at >= said.history_set_at AND ${isKept}
      GROUP BY kept.status, kept.first_of_hour, kept.from_at - kept.from_at % ${HOUR_MS}`,

    // Rows that the user's present choice does not cover; all rows of a user without one.
    forget: `
      DELETE FROM presence_history WHERE ${some(
        `user_id = $1 AND from_at < COALESCE((SELECT said.history_set_at FROM user_settings AS said
          WHERE said.user_id = $1 AND said.history = 1), ${Number.MAX_SAFE_INTEGER})`,
        '$2',
      )} RETURNING ${NAMES.join(', ')}`,
    refusing: `
      SELECT page.user_id, EXISTS (
        SELECT 1 FROM presence_history AS kept WHERE kept.user_id = page.user_id
        AND (page.history = 0 OR kept.from_at < page.history_set_at)) AS has_rows
      FROM (SELECT user_id, history, history_set_at FROM user_settings
        WHERE history IS NOT NULL AND user_id > $1 ORDER BY user_id LIMIT CAST($2 AS BIGINT)) AS page
      ORDER BY page.user_id`,
    unended: `
      SELECT seen.user_id, seen.version,
        CASE WHEN seen.last_seen_at > kept.from_at THEN seen.last_seen_at ELSE kept.from_at END AS ended_at
      FROM presence_history AS kept JOIN user_last_seen AS seen ON seen.user_id = kept.user_id
      WHERE kept.to_at IS NULL AND seen.status = 'offline' AND seen.version > kept.version
      AND seen.updated_at < CAST($1 AS BIGINT) AND seen.user_id > $2
      ORDER BY seen.user_id LIMIT CAST($3 AS BIGINT)`,

    trim: `DELETE FROM presence_history WHERE ${some('to_at IS NOT NULL AND to_at <= CAST($1 AS BIGINT)', '$2')}`,
    trimHours: 'DELETE FROM presence_hour WHERE hour_at < CAST($1 AS BIGINT)',
    keepDays: `
      INSERT INTO history_days (id, days) VALUES (1, $1) ON CONFLICT (id) DO UPDATE SET days = excluded.days`,
    keptDays: `
      SELECT days FROM history_days
      WHERE EXISTS (SELECT 1 FROM presence_history) OR EXISTS (SELECT 1 FROM presence_hour)`,
  }
}
