// The archive on SQLite, through three connections: one writes, one reads, one holds snapshots. A statement
// blocks the event loop while it runs, a transaction does not: it may pause between statements. Other
// writers of this process wait in a queue for it, and readers see the state before it. (Bun's `SQL` has one
// connection, so a plain query would join the open transaction.)
import { Database, SQLiteError } from 'bun:sqlite'
import { mkdirSync, realpathSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type Clock, systemClock } from '../platform/clock.ts'
import { createSerialQueue } from '../platform/serial-queue.ts'
import type { Archive } from './port.ts'
import type { SqlDatabase, SqlDialect, SqlSession, SqlValue } from './sql/database.ts'
import { createSqlArchive } from './sql/sql.ts'
import { createCheckpoints, ROWS_PER_CHECKPOINT } from './sqlite-checkpoint.ts'
import { createForOwner } from './sqlite-files.ts'
import { type FileLock, type FileUse, lockSqliteFile } from './sqlite-lock.ts'

/** How long a statement may block the event loop for a lock that another process holds. */
const BLOCKING_WAIT_MAX_MS = 25
/** Pause before the next attempt, without blocking. */
const LOCK_RETRY_MS = 25
const LOCK_WAIT_MAX_MS = 10_000
const TRANSACTIONS_WAITING_MAX = 10_000
const PAGE_BYTES = 4096
/** Also bounds what one commit writes: larger transactions spill into the log as they grow. */
const PAGE_CACHE_KIB = 2 * 1024
/** A log that grew longer, because a reader held up checkpoints, is cut to this length when it starts again. */
const LOG_BYTES_KEPT_MAX = 64 * 1024 * 1024
/** After a failed checkpoint, the commit that fills so many pages of the log makes one itself. */
const AUTOCHECKPOINT_PAGES = 1000

const IN_MEMORY = ':memory:'

const sqliteDialect: SqlDialect = {
  integer: 'INTEGER',
  text: 'TEXT',
  tableOptions: ' STRICT, WITHOUT ROWID',
  // Without row ids, a search for a key would read every long row on its way.
  longRowTableOptions: ' STRICT',
  jsonRows: (param) => `json_each(${param}) AS entry`,
  jsonTexts: (param) => `json_each(${param}) AS entry`,
  jsonArray: (text, condition) => `json_group_array(${text} ORDER BY ${text}) FILTER (WHERE ${condition})`,
  contains: (text, part) => `instr(${text}, ${part}) > 0`,
  lock: null,
  forUpdate: '',
  findTable: "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = $1",
  // Reads the file; `SELECT 1` would not.
  ping: 'SELECT count(*) FROM sqlite_schema',
}

export interface SqliteOptions {
  /** A file, created with its folder when missing, or `:memory:`. */
  path: string
  /** Servers say how they use the file, and are refused where that is not possible. */
  use?: FileUse
  clock?: Clock
}

export async function createSqliteArchive(options: SqliteOptions): Promise<Archive> {
  return createSqlArchive(await openSqlite(options), options.clock ?? systemClock)
}

/** Throws an error that names the file when it cannot be opened for writing. */
export async function openSqlite({ path, use, clock = systemClock }: SqliteOptions): Promise<SqlDatabase> {
  const open: Database[] = []
  let lock: FileLock | null = null
  try {
    if (path !== IN_MEMORY) {
      mkdirSync(dirname(path), { recursive: true })
      createForOwner(path)
      // One file may have several paths.
      if (use !== undefined) lock = lockSqliteFile(realpathSync(path), use)
    }
    const writer = await connect(path, open, clock)
    await untilUnlocked(clock, () => prepareFile(path, writer))
    // What processes left that were killed; each would add to it.
    if (lock !== null) emptyLogNow(writer, lock.use)
    // A second connection to `:memory:` would be another, empty database.
    const another = () => (path === IN_MEMORY ? writer : connect(path, open, clock))
    const connections = { writer, reader: await another(), snapshots: await another() }
    return sqliteDatabase(path, connections, clock, lock)
  } catch (error) {
    for (const connection of open) connection.close()
    lock?.release()
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`Cannot open the SQLite database "${path}" for writing: ${reason}`, { cause: error })
  }
}

async function connect(path: string, open: Database[], clock: Clock): Promise<Database> {
  const connection = new Database(path, { create: true, strict: true })
  open.push(connection)
  connection.run(`PRAGMA busy_timeout = ${BLOCKING_WAIT_MAX_MS}`)
  // These statements read the file, which another process may be preparing.
  await untilUnlocked(clock, () => {
    // A commit is in the WAL before it returns, so it survives a crash of the process. Only a crash of
    // the machine can lose the last commits, and the file stays consistent.
    connection.run('PRAGMA synchronous = NORMAL')
    connection.run(`PRAGMA cache_size = -${PAGE_CACHE_KIB}`)
  })
  return connection
}

function prepareFile(path: string, writer: Database): void {
  const mode = writer.query<{ journal_mode: string }, []>('PRAGMA journal_mode = WAL').get()?.journal_mode
  // Some network file systems have none; then readers and the writer would block each other.
  if (mode !== 'wal' && path !== IN_MEMORY) throw new Error('its file system has no write-ahead log')
  writer.run('PRAGMA wal_autocheckpoint = 0')
  writer.run(`PRAGMA journal_size_limit = ${LOG_BYTES_KEPT_MAX}`)
  // Deleted and replaced data is overwritten, in freed pages too: an erased user must not remain in the
  // file.
  writer.run('PRAGMA secure_delete = ON')
  // Fails now, not at the first write, if the file or its folder is read-only. SQLite would silently
  // begin a read transaction on such a file, so this writes something.
  writer.run('BEGIN IMMEDIATE')
  try {
    writer.run('PRAGMA user_version = 0')
  } finally {
    writer.run('ROLLBACK')
  }
}

/**
 * Blocks the event loop, so only at the start and at the end. Beside other servers the log is copied and not
 * truncated: another one may have copied pages of it that are not synced yet.
 */
function emptyLogNow(writer: Database, use: FileUse): void {
  try {
    writer.run(`PRAGMA wal_checkpoint(${use === 'alone' ? 'TRUNCATE' : 'PASSIVE'})`)
  } catch {
    // For example on a full disk. Nothing is lost, and the next start tries again.
  }
}

interface Connections {
  writer: Database
  reader: Database
  snapshots: Database
}

function sqliteDatabase(
  path: string,
  connections: Connections,
  clock: Clock,
  lock: FileLock | null,
): SqlDatabase {
  const { writer, reader, snapshots } = connections
  const enqueue = createSerialQueue(TRANSACTIONS_WAITING_MAX, 'the SQLite database')
  const queueSnapshot = createSerialQueue(TRANSACTIONS_WAITING_MAX, 'a snapshot of the SQLite database')
  const checkpoints = createCheckpoints(resolve(path), writer)
  let rowsInLog = 0
  /** A user was erased, and the log may still contain their rows. */
  let isLogToBeWiped = false
  let isWipeWaiting = false

  const session: SqlSession = {
    rows: async <Row>(text: string, params: readonly SqlValue[] = []) =>
      writer.query<Row, SqlValue[]>(numbered(text)).all(...params),
    run: async (text, params = []) => {
      const { changes } = writer.query<unknown, SqlValue[]>(numbered(text)).run(...params)
      rowsInLog += changes + Math.floor(textLength(params) / PAGE_BYTES)
      return changes
    },
  }

  async function emptyLog(): Promise<void> {
    isWipeWaiting = false
    try {
      if (isLogToBeWiped) isLogToBeWiped = !(await checkpoints.wipe())
      else await checkpoints.run()
    } catch {
      // From now on commits checkpoint themselves: slower, but the log stays bounded.
      writer.run(`PRAGMA wal_autocheckpoint = ${AUTOCHECKPOINT_PAGES}`)
    }
  }

  // At the end of the queue: the present writer does not wait for it. If the queue is full, the next
  // checkpoint is due after as many rows.
  function emptyLogSoon(): void {
    rowsInLog = 0
    enqueue(emptyLog).catch(() => {})
  }

  return {
    dialect: sqliteDialect,

    async read<Row>(text: string, params: readonly SqlValue[] = []) {
      const select = () => reader.query<Row, SqlValue[]>(numbered(text)).all(...params)
      // On a shared connection a read must not join the open transaction.
      return reader === writer ? enqueue(async () => select()) : select()
    },

    snapshot<Result>(run: (rows: SqlSession['rows']) => Promise<Result>) {
      // On a shared connection the queue already excludes all other work.
      if (snapshots === writer) return enqueue(() => run(session.rows))
      return queueSnapshot(async () => {
        snapshots.run('BEGIN')
        try {
          return await run(async <Row>(text: string, params: readonly SqlValue[] = []) =>
            snapshots.query<Row, SqlValue[]>(numbered(text)).all(...params),
          )
        } finally {
          snapshots.run('ROLLBACK')
        }
      })
    },

    transaction: (run) =>
      enqueue(async () => {
        await untilUnlocked(clock, () => writer.run('BEGIN IMMEDIATE'))
        try {
          const result = await run(session)
          writer.run('COMMIT')
          if (rowsInLog >= ROWS_PER_CHECKPOINT && path !== IN_MEMORY) emptyLogSoon()
          return result
        } catch (error) {
          // Some errors, for example a full disk, have already rolled back.
          if (writer.inTransaction) writer.run('ROLLBACK')
          throw error
        }
      }),

    wipe() {
      // One wipe covers all users erased before it.
      if (isWipeWaiting || path === IN_MEMORY) return
      isLogToBeWiped = isWipeWaiting = true
      emptyLogSoon()
    },

    pause: () => clock.nextTurn(),

    close: () =>
      enqueue(async () => {
        await queueSnapshot(async () => snapshots.close())
        reader.close()
        // The last connection to a file removes its log. This is for a command that is still connected.
        if (lock !== null) emptyLogNow(writer, lock.use)
        writer.close()
        await checkpoints.close()
        lock?.release()
      }),
  }
}

/** Waits for a lock of another process without blocking the event loop. */
async function untilUnlocked(clock: Clock, attempt: () => unknown): Promise<void> {
  const giveUpAt = clock.elapsed() + LOCK_WAIT_MAX_MS
  while (true) {
    try {
      attempt()
      return
    } catch (error) {
      if (!isLocked(error) || clock.elapsed() >= giveUpAt) throw error
    }
    await clock.sleep(LOCK_RETRY_MS)
  }
}

function isLocked(error: unknown): boolean {
  return error instanceof SQLiteError && (error.code ?? '').startsWith('SQLITE_BUSY')
}

/** Long texts fill pages of their own. */
function textLength(params: readonly SqlValue[]): number {
  return params.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0)
}

const numberedTexts = new Map<string, string>()

/** SQLite treats `$1` as a name; its numbered parameters are `?1`. */
function numbered(text: string): string {
  const known = numberedTexts.get(text)
  if (known !== undefined) return known
  const translated = text.replaceAll(/\$(\d+)/g, '?$1')
  numberedTexts.set(text, translated)
  return translated
}
