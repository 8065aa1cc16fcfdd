// The connections to PostgreSQL under the archive. Every wait here ends: for a connection, for an
// answer, in line. A statement may take its time while the server lives, so silence alone proves
// nothing; but when nothing comes back for a while we knock on the server's door with a connection
// of our own, and if nobody opens, whoever waits is told at once that the server is away.
import { type ReservedSQL, SQL } from 'bun'
import type { Clock } from '../platform/clock.ts'
import { type PostgresPlace, postgresPlace } from './postgres-url.ts'
import type { SqlValue } from './sql/database.ts'

const POOL_MAX = 8
/** Calls that wait for a connection; past it they are refused. */
export const CALLS_WAITING_MAX = 1_000
const CONNECTION_WAIT_MS_MAX = 10_000
/** The server itself ends a statement that takes longer. */
export const STATEMENT_MS_MAX = 10_000
export const LONG_STATEMENT_MS_MAX = 10 * 60_000
/** Should this process stop in the middle of a transaction, its locks do not. */
const IDLE_IN_TRANSACTION_MS_MAX = 30_000
/** What the server's own refusal may take to get here. */
const ANSWER_GRACE_MS = 2_000
/** So long we wait for an answer before we wonder; with the next one, two seconds. */
const SILENCE_MS = 500
const KNOCK_MS_MAX = 1_500
/** For transactions that are under way when the archive is closed. */
const CLOSE_S_MAX = 5

export interface PostgresPoolOptions {
  url: string
  /** Default 8, or `max` in the query of the URL. */
  poolMax?: number | undefined
  clock: Clock
}

export interface Answer<Row> {
  rows: Row[]
  /** Rows written, or read by a statement that writes none. */
  count: number
  /** Such as `COMMIT`. */
  command: string | null
}

export interface Connection {
  /** `msMax` is how long the server was told that this may take. */
  send<Row>(text: string, params: readonly SqlValue[], msMax: number): Promise<Answer<Row>>
}

export interface PostgresPool {
  /** Runs `use` with a connection that is nobody else's meanwhile. */
  withConnection<Result>(use: (connection: Connection) => Promise<Result>): Promise<Result>
  /** After the transactions that are under way; later calls are refused. */
  close(): Promise<void>
}

export function createPostgresPool({ url, poolMax, clock }: PostgresPoolOptions): PostgresPool {
  const place = postgresPlace({
    url,
    poolMax,
    poolMaxDefault: POOL_MAX,
    session: {
      statement_timeout: STATEMENT_MS_MAX,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS_MAX,
    },
  })
  const sql = connect(place, { max: place.poolMax })
  let waiting = 0
  let isClosed = false
  let knocking: Promise<boolean> | null = null

  /** Whether the server answers at all, be it with a refusal. Those who wonder together knock once. */
  function serverAnswers(): Promise<boolean> {
    knocking ??= knock(place, clock).finally(() => {
      knocking = null
    })
    return knocking
  }

  /** `work` has to reject when `abandon` is called; `want` is what it waits for. */
  async function attended<Result>(
    work: Promise<Result>,
    want: string,
    msMax: number,
    abandon: () => void,
  ): Promise<Result> {
    const startedAt = clock.elapsed()
    let isOver = false
    let reason: string | null = null

    async function wonder(): Promise<void> {
      const isLate = clock.elapsed() - startedAt >= msMax
      if (!isLate && (await serverAnswers())) {
        if (!isOver) timer = clock.after(SILENCE_MS, () => void wonder())
      } else if (!isOver) {
        reason = isLate ? `no ${want} within ${msMax / 1000} s` : 'the server does not answer'
        abandon()
      }
    }

    let timer = clock.after(SILENCE_MS, () => void wonder())
    try {
      return await work
    } catch (error) {
      throw place.failure(reason ?? error)
    } finally {
      isOver = true
      timer.stop()
    }
  }

  async function reserve(): Promise<ReservedSQL> {
    if (isClosed) throw place.failure('the archive is closed')
    if (waiting >= CALLS_WAITING_MAX) throw place.failure(`${waiting} calls already wait for a connection`)
    waiting += 1
    const patience = new AbortController()
    try {
      const reserving = sql.reserve({ signal: patience.signal })
      return await attended(reserving, 'free connection', CONNECTION_WAIT_MS_MAX, () => patience.abort())
    } finally {
      waiting -= 1
    }
  }

  async function withConnection<Result>(use: (connection: Connection) => Promise<Result>): Promise<Result> {
    const reserved = await reserve()
    try {
      return await use({
        async send<Row>(text: string, params: readonly SqlValue[], msMax: number) {
          const query = reserved.unsafe<Row[]>(text, [...params])
          // Whoever does not answer is not asked again: the connection goes, and the pool opens another.
          const abandon = () => void reserved.close({ timeout: 0 })
          const rows = await attended(query, 'answer', msMax + ANSWER_GRACE_MS, abandon)
          return { rows, count: rows.count, command: rows.command }
        },
      })
    } finally {
      // One that is closed, or left inside a transaction, does not go back into the pool.
      await reserved.release()
    }
  }

  return {
    withConnection,
    close() {
      isClosed = true
      return sql.close({ timeout: CLOSE_S_MAX })
    },
  }
}

function connect(place: PostgresPlace, options: { max: number; connectionTimeout?: number }): SQL {
  try {
    // Named here as well, because a PGDATABASE in the environment outranks the URL.
    return new SQL(place.url, {
      ...options,
      ...(place.database === null ? {} : { database: place.database }),
    })
  } catch (error) {
    throw place.failure(error)
  }
}

async function knock(place: PostgresPlace, clock: Clock): Promise<boolean> {
  const sql = connect(place, { max: 1, connectionTimeout: KNOCK_MS_MAX / 1000 })
  const timer = clock.after(KNOCK_MS_MAX, () => void sql.close({ timeout: 0 }))
  try {
    await sql.unsafe('SELECT 1')
    return true
  } catch (error) {
    // With a SQLSTATE it is the server that refuses, because it is full or just starting.
    return error instanceof SQL.PostgresError && error.errno !== undefined
  } finally {
    timer.stop()
    await sql.close({ timeout: 0 })
  }
}
