// The Archive on a SQL database, the same for every dialect. Long lists are written in slices with a pause
// in between, so that no slice holds the event loop or a lock for long. A user appears once per statement:
// PostgreSQL requires it, and so SQL alone decides which write is the newest.
import type { Clock } from '../../platform/clock.ts'
import type { Archive, ArchivedUser, SettingsRow } from '../port.ts'
import { createSqlContacts } from './contacts.ts'
import type { SqlDatabase, SqlSession } from './database.ts'
import { createSqlDisconnects } from './disconnects.ts'
import { createSqlHistory } from './history.ts'
import { MIGRATIONS, migrate, pendingMigrations } from './migrations.ts'
import { createSqlPrivacy, type PrivacySize } from './privacy.ts'
import {
  type ChosenPrivacy,
  type JoinedRow,
  LAST_SEEN_COLUMNS,
  PRIVACY_COLUMNS,
  SETTINGS_COLUMNS,
  toArchivedUser,
  toJsonRows,
  wholeOrNull,
} from './rows.ts'
import { inSlices, type SliceLimits } from './slices.ts'
import { sqlStatements } from './statements.ts'
import { createSqlWebhooks } from './webhooks.ts'

/** Ids in one SELECT. */
const IDS_PER_READ_MAX = 1000
/** User rows in one transaction. Each may touch a page of its own, in the table and in an index. */
export const ROWS_PER_TRANSACTION_MAX = 250

/** Ids in the privacy lists of those rows. One user may have as many as all others together. */
const LISTED_PER_TRANSACTION_MAX = 2000

const SETTINGS_WRITTEN: SliceLimits<SettingsRow> = {
  itemsMax: ROWS_PER_TRANSACTION_MAX,
  size: {
    max: LISTED_PER_TRANSACTION_MAX,
    of: ({ privacy }) => (privacy === null ? 0 : privacy.allow.length + privacy.deny.length),
  },
}

const NOTHING_KNOWN: ArchivedUser = Object.freeze({ lastSeen: null, settings: null })

export function createSqlArchive(database: SqlDatabase, clock: Clock): Archive {
  const sql = sqlStatements(database.dialect)
  const privacy = createSqlPrivacy(database, sql)
  const history = createSqlHistory(database)
  const { erase: eraseDisconnects, ...disconnects } = createSqlDisconnects(database)
  const { forgetUser, ...webhooks } = createSqlWebhooks(database)
  const { forgetContacts, finishClaimed, ...contacts } = createSqlContacts(database, sql)

  /** Each call of `write` gets rows of distinct users, and says how many it wrote. */
  async function upsert<Row extends { userId: string }>(
    rows: readonly Row[],
    limits: SliceLimits<Row>,
    write: (tx: SqlSession, rows: readonly Row[]) => Promise<number>,
  ): Promise<number> {
    let written = 0
    for (const round of roundsOfDistinctUsers(rows)) {
      await inSlices(round, limits, database.pause, async (slice) => {
        written += await database.transaction((tx) => write(tx, slice))
      })
    }
    return written
  }

  async function eraseRows(userId: string): Promise<void> {
    // In one transaction, so that a user is never shown without their privacy settings.
    await database.transaction(async (tx) => {
      await tx.run(sql.eraseLastSeen, [userId])
      await tx.run(sql.eraseSettings, [userId])
      await tx.run(sql.erasePrivacy, [userId])
      await eraseDisconnects(tx, userId)
    })
    // Without the setting, nothing is added to it.
    await history.forget(userId)
    await forgetUser(userId)
  }

  return {
    async migrate() {
      const applied = await migrate(database, MIGRATIONS, clock.now())
      await finishClaimed()
      return applied
    },

    pending: () => pendingMigrations(database, MIGRATIONS),

    async read(userIds) {
      const found = new Map<string, ArchivedUser>()
      const long: PrivacySize[] = []
      await inSlices([...new Set(userIds)], { itemsMax: IDS_PER_READ_MAX }, database.pause, async (slice) => {
        for (const row of await database.read<JoinedRow>(sql.read, [JSON.stringify(slice)])) {
          found.set(row.wanted_id, toArchivedUser(row))
          if (row.privacy === null && row.privacy_bytes !== null) {
            long.push({ user_id: row.wanted_id, bytes: row.privacy_bytes })
          }
        }
      })
      const longPrivacies = await privacy.readAll(long)
      for (const { user_id } of long) {
        const { lastSeen, settings } = found.get(user_id)!
        const theirs = longPrivacies.get(user_id)
        // Erased in the meantime: without the privacy settings nothing may be shown.
        if (theirs === undefined) found.delete(user_id)
        else found.set(user_id, { lastSeen, settings: { ...settings!, privacy: theirs } })
      }
      return userIds.map((userId) => found.get(userId) ?? NOTHING_KNOWN)
    },

    writeLastSeen: (rows) =>
      upsert(rows, { itemsMax: ROWS_PER_TRANSACTION_MAX }, (tx, slice) =>
        tx.run(sql.upsertLastSeen, [toJsonRows(LAST_SEEN_COLUMNS, slice)]),
      ),

    async writeSettings(rows) {
      await upsert(rows, SETTINGS_WRITTEN, async (tx, slice) => {
        const written = await tx.run(sql.upsertSettings, [toJsonRows(SETTINGS_COLUMNS, slice)])
        const chosen = slice.filter(hasPrivacy)
        if (chosen.length > 0) await tx.run(sql.upsertPrivacy, [toJsonRows(PRIVACY_COLUMNS, chosen)])
        return written
      })
    },

    async markAlive(now) {
      await database.transaction((tx) => tx.run(sql.markAlive, [now]))
    },

    async aliveAt() {
      const [row] = await database.read<{ alive_at: number | string }>(sql.aliveAt)
      return wholeOrNull(row?.alive_at ?? null)
    },

    async hereIds(afterId, limit) {
      const rows = await database.read<{ user_id: string }>(sql.hereIds, [afterId, limit])
      return rows.map((row) => row.user_id)
    },

    ...contacts,

    namedBy: privacy.namedBy,
    history,
    disconnects,
    webhooks,

    async beginErasure(userId, at) {
      await database.transaction((tx) => tx.run(sql.beginErasure, [userId, at]))
    },

    async resumeErasure(userId, at) {
      return (await database.transaction((tx) => tx.run(sql.resumeErasure, [userId, at]))) > 0
    },

    async unfinishedErasures(begunBefore, limit) {
      const rows = await database.read<{ user_id: string }>(sql.unfinishedErasures, [begunBefore, limit])
      return rows.map((row) => row.user_id)
    },

    async endErasure(userId, begunAt) {
      await database.transaction((tx) => tx.run(sql.endErasure, [userId, begunAt]))
      // The row named the user.
      database.wipe?.()
    },

    eraseRows,
    async erase(userId) {
      await eraseRows(userId)
      await forgetContacts(userId)
      database.wipe?.()
    },

    async ping() {
      await database.read(database.dialect.ping)
    },

    close: () => database.close(),
  }
}

const hasPrivacy = (row: SettingsRow): row is SettingsRow & ChosenPrivacy => row.privacy !== null

/** Splits rows into as few rounds as possible, each with distinct users and sorted by user. */
function* roundsOfDistinctUsers<Row extends { userId: string }>(rows: readonly Row[]): Generator<Row[]> {
  let waiting = rows
  while (waiting.length > 0) {
    const round = new Map<string, Row>()
    const later: Row[] = []
    for (const row of waiting) {
      if (round.has(row.userId)) later.push(row)
      else round.set(row.userId, row)
    }
    yield [...round.values()].sort((a, b) => (a.userId < b.userId ? -1 : 1))
    waiting = later
  }
}
