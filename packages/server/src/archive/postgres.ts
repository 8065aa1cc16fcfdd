// PostgreSQL under the archive, through Bun's `SQL`. Transactions of one process run side by side,
// each on a connection of its own; what must not meet takes an advisory lock. While the server is
// away calls reject within about two seconds, and once it is back they work again by themselves.
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
  findTable: 'SELECT 1 FROM pg_catalog.pg_class WHERE oid = to_regclass($1)',
  ping: 'SELECT 1',
}

// Bun would encode a text once more for a parameter whose type is JSON, so its type is text.
function json(param: string): string {
  return `CAST(CAST(${param} AS TEXT) AS JSONB)`
}

export interface PostgresOptions {
  /**
   * `postgres://user:password@host:5432/name`. Bun reads its query: `sslmode`, `connect_timeout`,
   * `max`, `prepare` and more. Limits on time are sent when a connection opens; PgBouncer lets them
   * pass with `ignore_startup_parameters = statement_timeout, idle_in_transaction_session_timeout`.
   */
  url: string
  /**
   * Connections of this process at most, 8 if neither this nor `max` in the URL says otherwise. All
   * processes together must stay below the `max_connections` of the server, which is 100 by default.
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
          // Nothing was written; and on a connection that is lost there is nothing left to end.
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
          // On a connection that is lost the server has done so already.
          await session.run('ROLLBACK').catch(() => {})
          throw error
        }
        const { command } = await connection.send('COMMIT', [], msMax)
        // The server's answer when a statement failed and nobody minded.
        if (command !== 'COMMIT') throw new Error('PostgreSQL has rolled the transaction back')
        return result
      }),

    // Statements wait elsewhere, but what is computed between them is long as well.
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

/** Any other encoding has no place for some texts, and one of them would hold up its whole batch. */
async function checkEncoding(database: SqlDatabase): Promise<void> {
  const [row] = await database.read<{ encoding: string }>(
    "SELECT current_setting('server_encoding') AS encoding",
  )
  if (row?.encoding === 'UTF8') return
  throw new Error(`The PostgreSQL database has the encoding ${row?.encoding}: create it with ENCODING 'UTF8'`)
}
