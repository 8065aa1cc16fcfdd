// Converts rows of the archive to columns and back. The list of columns is the only place that knows their
// order: it produces the INSERT and the JSON rows for it.
import type { Availability } from '@greendot/protocol'
import type { PrivacySetting } from '../../presence/core/privacy.ts'
import type { ArchivedUser, HereDevice, LastSeenRow, SettingsRow } from '../port.ts'
import type { SqlDialect, SqlValue } from './database.ts'
import { fromPrivacyText, toPrivacyText } from './privacy-text.ts'

export interface Column<Row> {
  name: string
  type: 'TEXT' | 'BIGINT'
  of: (row: Row) => SqlValue
}

export const LAST_SEEN_COLUMNS: readonly Column<LastSeenRow>[] = [
  { name: 'user_id', type: 'TEXT', of: (row) => row.userId },
  { name: 'last_seen_at', type: 'BIGINT', of: (row) => row.lastSeenAt },
  { name: 'status', type: 'TEXT', of: (row) => row.status },
  { name: 'devices', type: 'TEXT', of: (row) => JSON.stringify(row.devices) },
  { name: 'version', type: 'BIGINT', of: (row) => row.version },
  { name: 'shown_text', type: 'TEXT', of: (row) => storable(row.shownCustomStatus?.text) },
  { name: 'shown_emoji', type: 'TEXT', of: (row) => storable(row.shownCustomStatus?.emoji) },
  { name: 'shown_expires_at', type: 'BIGINT', of: (row) => row.shownCustomStatus?.expiresAt ?? null },
  { name: 'updated_at', type: 'BIGINT', of: (row) => row.updatedAt },
]

export const SETTINGS_COLUMNS: readonly Column<SettingsRow>[] = [
  { name: 'user_id', type: 'TEXT', of: (row) => row.userId },
  { name: 'availability', type: 'TEXT', of: (row) => row.availability?.status ?? null },
  { name: 'availability_expires_at', type: 'BIGINT', of: (row) => row.availability?.expiresAt ?? null },
  { name: 'availability_set_at', type: 'BIGINT', of: (row) => row.availability?.setAt ?? null },
  { name: 'custom_text', type: 'TEXT', of: (row) => storable(row.customStatus?.text) },
  { name: 'custom_emoji', type: 'TEXT', of: (row) => storable(row.customStatus?.emoji) },
  { name: 'custom_expires_at', type: 'BIGINT', of: (row) => row.customStatus?.expiresAt ?? null },
  { name: 'custom_set_at', type: 'BIGINT', of: (row) => row.customStatus?.setAt ?? null },
  { name: 'away_after_ms', type: 'BIGINT', of: (row) => row.awayAfter?.awayAfterMs ?? null },
  { name: 'away_after_set_at', type: 'BIGINT', of: (row) => row.awayAfter?.setAt ?? null },
  {
    name: 'history',
    type: 'BIGINT',
    of: (row) => (row.history === null ? null : Number(row.history.isKept)),
  },
  { name: 'history_set_at', type: 'BIGINT', of: (row) => row.history?.setAt ?? null },
]

export interface ChosenPrivacy {
  userId: string
  privacy: PrivacySetting
}

export const PRIVACY_COLUMNS: readonly Column<ChosenPrivacy>[] = [
  { name: 'user_id', type: 'TEXT', of: (row) => row.userId },
  { name: 'set_at', type: 'BIGINT', of: (row) => row.privacy.setAt },
  { name: 'privacy', type: 'TEXT', of: (row) => toPrivacyText(row.privacy) },
]

/** `INSERT … SELECT` from the JSON rows in `$1`; the caller adds what to do on conflict. */
export function insertJsonRows<Row>(
  table: string,
  columns: readonly Column<Row>[],
  dialect: SqlDialect,
): string {
  const names = columns.map((column) => column.name).join(', ')
  const values = columns.map((column, at) => `CAST(entry.value ->> ${at} AS ${column.type})`).join(', ')
  // Without a WHERE, SQLite reads the ON of ON CONFLICT as the condition of a join.
  return `INSERT INTO ${table} (${names}) SELECT ${values} FROM ${dialect.jsonRows('$1')} WHERE true`
}

export function toJsonRows<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  return JSON.stringify(rows.map((row) => columns.map((column) => column.of(row))))
}

// One text must not make a whole batch fail: a lone surrogate has no UTF-8 form, and PostgreSQL stores
// no NUL.
function storable(text: string | null | undefined): string | null {
  return text == null ? null : text.toWellFormed().replaceAll('\0', '')
}

/** Some drivers return 64-bit numbers as text. */
export type Whole = number | string

/** One row of the joined read. The columns of a table without a row are null. */
export interface JoinedRow {
  wanted_id: string
  last_seen_at: Whole | null
  status: 'here' | 'offline' | null
  devices: string | null
  version: Whole | null
  shown_text: string | null
  shown_emoji: string | null
  shown_expires_at: Whole | null
  updated_at: Whole | null
  settings_id: string | null
  availability: Availability | null
  availability_expires_at: Whole | null
  availability_set_at: Whole | null
  custom_text: string | null
  custom_emoji: string | null
  custom_expires_at: Whole | null
  custom_set_at: Whole | null
  away_after_ms: Whole | null
  away_after_set_at: Whole | null
  history: Whole | null
  history_set_at: Whole | null
  privacy_set_at: Whole | null
  /** Also null when it is too long to be read with the rest. */
  privacy: string | null
  privacy_bytes: number | null
}

export interface PrivacyRow {
  user_id: string
  set_at: Whole
  privacy: string
}

export function toArchivedUser(row: JoinedRow): ArchivedUser {
  return { lastSeen: toLastSeen(row), settings: toSettings(row) }
}

function toLastSeen(row: JoinedRow): LastSeenRow | null {
  if (row.status === null) return null
  const shows = row.shown_text !== null || row.shown_emoji !== null
  return {
    userId: row.wanted_id,
    lastSeenAt: wholeOrNull(row.last_seen_at),
    status: row.status,
    devices: JSON.parse(row.devices ?? '[]') as HereDevice[],
    version: Number(row.version),
    shownCustomStatus: shows
      ? { text: row.shown_text, emoji: row.shown_emoji, expiresAt: wholeOrNull(row.shown_expires_at) }
      : null,
    updatedAt: Number(row.updated_at),
  }
}

function toSettings(row: JoinedRow): SettingsRow | null {
  if (row.settings_id === null) return null
  return {
    userId: row.wanted_id,
    availability:
      row.availability === null
        ? null
        : {
            status: row.availability,
            expiresAt: wholeOrNull(row.availability_expires_at),
            setAt: Number(row.availability_set_at),
          },
    customStatus:
      row.custom_set_at === null
        ? null
        : {
            text: row.custom_text,
            emoji: row.custom_emoji,
            expiresAt: wholeOrNull(row.custom_expires_at),
            setAt: Number(row.custom_set_at),
          },
    awayAfter:
      row.away_after_set_at === null
        ? null
        : { awayAfterMs: wholeOrNull(row.away_after_ms), setAt: Number(row.away_after_set_at) },
    history:
      row.history_set_at === null
        ? null
        : { isKept: Number(row.history) === 1, setAt: Number(row.history_set_at) },
    privacy: row.privacy === null ? null : toPrivacy(row.privacy, row.privacy_set_at),
  }
}

export function toPrivacy(text: string, setAt: Whole | null): PrivacySetting {
  return { ...fromPrivacyText(text), setAt: Number(setAt) }
}

export function wholeOrNull(value: Whole | null): number | null {
  return value === null ? null : Number(value)
}
