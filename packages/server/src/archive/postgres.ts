// The archive on PostgreSQL, through Bun's `SQL`. Transactions of one process run concurrently, each on
// its own connection; work that must not overlap takes an advisory lock. While the server is down, calls
// reject within about two seconds. Once it is back, calls succeed again without a restart.
import { type Clock, systemClock } from '../platform/clock.ts'
import type { Archive } from './port.ts'
import {
  type Connection,
  createPostgresPool,
  LONG_STATEMENT_MS_MAX,
  type PostgresPoolOptions,
  STATEMENT_MS_MAX,
} from './postgres-pool.ts'
import type { SqlDatabase, SqlDialect, SqlSession, SqlValue } from './sql/database.ts'
import { createSqlArchive } from './sql/sql.ts'

const postgresDialect: SqlDialect = {
  integer: 'BIGINT',
  text: 'TEXT COLLATE "C"',
  tableOptions: '',
  longRowTableOptions: '',
  jsonRows: (param) => `jsonb_array_elements(${json(param)}) AS entry`,
  jsonTexts: (param) => `jsonb_array_elements_text(${json(param)}) AS entry`,
  jsonArray: (text, condition) =>
    `COALESCE(CAST(json_agg(${text} ORDER BY ${text}) FILTER (WHERE ${condition}) AS TEXT), '[]')`,
  contains: (text, part) => `strpos(${text}, ${part}) > 0`,
  lock: 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))',
  forUpdate: ' FOR UPDATE',
  findTable: 'SELECT 1 FROM pg_catalog.pg_class WHERE oid = to_regclass($1)',
  ping: 'SELECT 1',
}

// Bun encodes text a second time for parameters of type JSON, so the parameter is cast from text.
function json(param: string): string {
  return `CAST(CAST(${param} AS TEXT) AS JSONB)`
}

export interface PostgresOptions {
  /**
   * `postgres://user:password@host:5432/name`. Bun reads its query: `sslmode`, `connect_timeout`,
   * `max`, `prepare` and more. Timeouts are sent when a connection opens; PgBouncer accepts them
   * with `ignore_startup_parameters = statement_timeout, idle_in_transaction_session_timeout`.
   */
  url: string
  /**
   * Connections of this process. The default is `max` in the URL, or 8. All processes together must
   * stay below `max_connections` of the server, which is 100 by default.
   */
  poolMax?: number
  clock?: Clock
}

export async function createPostgresArchive(options: PostgresOptions): Promise<Archive> {
  const clock = options.clock ?? systemClock
  return createSqlArchive(await openPostgres({ ...options, clock }), clock)
}

/** Throws an error that names the server when it cannot be used. */
export async function openPostgres(options: PostgresPoolOptions): Promise<SqlDatabase> {
  const { clock } = options
  const pool = createPostgresPool(options)

  const database: SqlDatabase = {
    dialect: postgresDialect,

    read: (text, params) =>
      pool.withConnection((connection) => sessionOn(connection, STATEMENT_MS_MAX).rows(text, params)),

    snapshot: (run) =>
      pool.withConnection(async (connection) => {
        const session = sessionOn(connection, STATEMENT_MS_MAX)
        await session.run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
        try {
          return await run(session.rows)
        } finally {
          // Nothing was written, and a lost connection has no transaction to end.
          await session.run('ROLLBACK').catch(() => {})
        }
      }),

    transaction: (run, { isLong = false } = {}) =>
      pool.withConnection(async (connection) => {
        const msMax = isLong ? LONG_STATEMENT_MS_MAX : STATEMENT_MS_MAX
        const session = sessionOn(connection, msMax)
        await session.run('BEGIN')
        if (isLong) await session.run(`SET LOCAL statement_timeout = ${msMax}`)
        let result: Awaited<ReturnType<typeof run>>
        try {
          result = await run(session)
        } catch (error) {
          // If the connection is lost, the server has rolled back already.
          await session.run('ROLLBACK').catch(() => {})
          throw error
        }
        const { command } = await connection.send('COMMIT', [], msMax)
        // The server answers ROLLBACK when a statement failed and its error was swallowed.
        if (command !== 'COMMIT') throw new Error('PostgreSQL rolled the transaction back')
        return result
      }),

    // Statements do not block the event loop, but the work between them does.
    pause: () => clock.nextTurn(),

    close: () => pool.close(),
  }

  try {
    await checkEncoding(database)
  } catch (error) {
    await pool.close()
    throw error
  }
  return database
}

function sessionOn(connection: Connection, msMax: number): SqlSession {
  return {
    rows: async <Row>(text: string, params: readonly SqlValue[] = []) =>
      (await connection.send<Row>(text, params, msMax)).rows,
    run: async (text, params = []) => (await connection.send(text, params, msMax)).count,
  }
}

/** Other encodings cannot store every text, and one such text would make its whole batch fail. */
async function checkEncoding(database: SqlDatabase): Promise<void> {
  const [row] = await database.read<{ encoding: string }>(
    "SELECT current_setting('server_encoding') AS encoding",
  )
  if (row?.encoding === 'UTF8') return
  throw new Error(`The PostgreSQL database has the encoding ${row?.encoding}: create it with ENCODING 'UTF8'`)
}
