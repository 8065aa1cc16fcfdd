// The Archive on a SQL database, the same for every dialect. Long lists are cut into slices with a
// pause after each, so that no slice holds the event loop or a lock for long. A user appears once
// per statement: PostgreSQL demands it, and so "the newest wins" is decided by SQL alone.
import type { Clock } from '../platform/clock.ts'
import { MIGRATIONS, migrate, pendingMigrations } from './migrations.ts'
import type { Archive, ArchivedUser } from './port.ts'
import type { SqlDatabase, SqlSession } from './sql-database.ts'
import {
  type JoinedRow,
  LAST_SEEN_COLUMNS,
  SETTINGS_COLUMNS,
  toArchivedUser,
  toJsonRows,
  wholeOrNull,
} from './sql-rows.ts'
import { sqlStatements } from './sql-statements.ts'

/** Ids in one SELECT. */
export const IDS_PER_READ_MAX = 1000
/** User rows in one transaction: each may touch a page of its own, in the table and in an index. */
export const ROWS_PER_TRANSACTION_MAX = 250
/** Contacts in one statement; one owner's rows are neighbours, only the index is scattered. */
export const CONTACTS_PER_STATEMENT_MAX = 500

const NOTHING_KNOWN: ArchivedUser = Object.freeze({ lastSeen: null, settings: null })

export function createSqlArchive(database: SqlDatabase, clock: Clock): Archive {
  const sql = sqlStatements(database.dialect)

  /** Runs slice after slice; a pause stands between two slices, never before the first. */
  async function inSlices<Item>(
    items: readonly Item[],
    sizeMax: number,
    run: (slice: readonly Item[]) => Promise<unknown>,
  ): Promise<void> {
    for (let start = 0; start < items.length; start += sizeMax) {
      if (start > 0) await database.pause()
      await run(items.slice(start, start + sizeMax))
    }
  }

  async function upsert<Row extends { userId: string }>(
    rows: readonly Row[],
    toJson: (slice: readonly Row[]) => string,
    statement: string,
  ): Promise<void> {
    for (const round of roundsOfDistinctUsers(rows)) {
      await inSlices(round, ROWS_PER_TRANSACTION_MAX, (slice) =>
        database.transaction((tx) => tx.run(statement, [toJson(slice)])),
      )
    }
  }

  const contactIds = (rows: readonly { contact_id: string }[]) => rows.map((row) => row.contact_id)

  // One order for all writers, here and in `roundsOfDistinctUsers`: two that meet on the same rows
  // wait for each other in turn, never both at once; and neighbours share pages.
  const idList = (ids: readonly string[]) => JSON.stringify(ids.toSorted())

  const insertContacts = (tx: SqlSession, ownerId: string, ids: readonly string[], now: number) =>
    tx.run(sql.addContacts, [ownerId, idList(ids), now])

  const deleteContacts = (tx: SqlSession, ownerId: string, ids: readonly string[]) =>
    tx.run(sql.removeContacts, [ownerId, idList(ids)])

  return {
    migrate: () => migrate(database, MIGRATIONS, clock.now()),

    pending: () => pendingMigrations(database, MIGRATIONS),

    async read(userIds) {
      const found = new Map<string, ArchivedUser>()
      await inSlices([...new Set(userIds)], IDS_PER_READ_MAX, async (slice) => {
        for (const row of await database.read<JoinedRow>(sql.read, [JSON.stringify(slice)])) {
          found.set(row.wanted_id, toArchivedUser(row))
        }
      })
      return userIds.map((userId) => found.get(userId) ?? NOTHING_KNOWN)
    },

    writeLastSeen: (rows) =>
      upsert(rows, (slice) => toJsonRows(LAST_SEEN_COLUMNS, slice), sql.upsertLastSeen),

    writeSettings: (rows) => upsert(rows, (slice) => toJsonRows(SETTINGS_COLUMNS, slice), sql.upsertSettings),

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

    async contactsOf(ownerId) {
      // One statement is one snapshot, so a list that is being replaced is seen before or after.
      return contactIds(await database.read<{ contact_id: string }>(sql.contactsOf, [ownerId]))
    },

    addContacts: (ownerId, ids, now) =>
      inSlices(ids, CONTACTS_PER_STATEMENT_MAX, (slice) =>
        database.transaction((tx) => insertContacts(tx, ownerId, slice, now)),
      ),

    removeContacts: (ownerId, ids) =>
      inSlices(ids, CONTACTS_PER_STATEMENT_MAX, (slice) =>
        database.transaction((tx) => deleteContacts(tx, ownerId, slice)),
      ),

    // Only the difference is written, so that those who stay keep their date and the usual
    // replacement, which changes little, costs little.
    replaceContacts: (ownerId, ids, now) =>
      database.transaction(async (tx) => {
        const { lock } = database.dialect
        if (lock !== null) await tx.rows(lock, [`contact ${ownerId}`])
        // Even comparing is long work when the lists are, so there is a pause after every step.
        const present = new Set(contactIds(await tx.rows(sql.contactsOf, [ownerId])))
        await database.pause()
        const wanted = new Set(ids)
        await database.pause()
        const gone = [...present].filter((id) => !wanted.has(id))
        await database.pause()
        const added = [...wanted].filter((id) => !present.has(id))
        await database.pause()
        await inSlices(gone, CONTACTS_PER_STATEMENT_MAX, (slice) => deleteContacts(tx, ownerId, slice))
        await database.pause()
        await inSlices(added, CONTACTS_PER_STATEMENT_MAX, (slice) => insertContacts(tx, ownerId, slice, now))
      }),

    async ping() {
      await database.read(database.dialect.ping)
    },

    close: () => database.close(),
  }
}

/** The rows in as few rounds as possible, none of which names a user twice, sorted by user. */
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
