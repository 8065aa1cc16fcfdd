// The pool of PostgreSQL connections under the archive. Every wait has a limit: for a connection, for an
// answer, in the queue. A slow statement is not a failure while the server is alive, so after a short
// silence a separate connection probes the server. If the probe fails, all waiting calls are rejected.
import { type ReservedSQL, SQL } from 'bun'
import type { Clock } from '../platform/clock.ts'
import { type PostgresPlace, postgresPlace } from './postgres-url.ts'
import type { SqlValue } from './sql/database.ts'

const POOL_MAX = 8
/** Calls waiting for a connection. Further calls are rejected. */
export const CALLS_WAITING_MAX = 1_000
const CONNECTION_WAIT_MS_MAX = 10_000
/** The server cancels a statement that takes longer. */
export const STATEMENT_MS_MAX = 10_000
export const LONG_STATEMENT_MS_MAX = 10 * 60_000
/** Releases the locks of a process that hangs in the middle of a transaction. */
const IDLE_IN_TRANSACTION_MS_MAX = 30_000
/** Time for the server's own cancellation to arrive. */
const ANSWER_GRACE_MS = 2_000
/** Silence before the server is probed. With the limit of the probe, an outage is detected in two seconds. */
const SILENCE_MS = 500
const PROBE_MS_MAX = 1_500
/** For transactions in progress when the archive is closed. */
const CLOSE_S_MAX = 5

export interface PostgresPoolOptions {
  url: string
  /** Default 8, or `max` in the query of the URL. */
  poolMax?: number | undefined
  clock: Clock
}

export interface Answer<Row> {
  rows: Row[]
  /** Rows written, or rows read by a statement that writes none. */
  count: number
  /** For example `COMMIT`. */
  command: string | null
}

export interface Connection {
  /** `msMax` is the statement timeout that the server was given. */
  send<Row>(text: string, params: readonly SqlValue[], msMax: number): Promise<Answer<Row>>
}

export interface PostgresPool {
  /** Runs `use` with a connection reserved for it. */
  withConnection<Result>(use: (connection: Connection) => Promise<Result>): Promise<Result>
  /** Waits for transactions in progress. Later calls are rejected. */
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
  let probing: Promise<boolean> | null = null

  /** Whether the server answers at all; a refusal counts. Concurrent callers share one probe. */
  function serverAnswers(): Promise<boolean> {
    probing ??= probe(place, clock).finally(() => {
      probing = null
    })
    return probing
  }

  /** Ends `work` when the server is gone or `msMax` has passed. `work` must reject when `abandon` is called. */
  async function withDeadline<Result>(
    work: Promise<Result>,
    want: string,
    msMax: number,
    abandon: () => void,
  ): Promise<Result> {
    const startedAt = clock.elapsed()
    let isOver = false
    let reason: string | null = null

    async function check(): Promise<void> {
      const isLate = clock.elapsed() - startedAt >= msMax
      if (!isLate && (await serverAnswers())) {
        if (!isOver) timer = clock.after(SILENCE_MS, () => void check())
      } else if (!isOver) {
        reason = isLate ? `no ${want} within ${msMax / 1000} s` : 'the server does not answer'
        abandon()
      }
    }

    let timer = clock.after(SILENCE_MS, () => void check())
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
      return await withDeadline(reserving, 'free connection', CONNECTION_WAIT_MS_MAX, () => patience.abort())
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
          // A connection that did not answer is closed, not reused. The pool opens another.
          const abandon = () => void reserved.close({ timeout: 0 })
          const rows = await withDeadline(query, 'answer', msMax + ANSWER_GRACE_MS, abandon)
          return { rows, count: rows.count, command: rows.command }
        },
      })
    } finally {
      // A connection that is closed or still inside a transaction does not go back into the pool.
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
    // Named explicitly, because PGDATABASE in the environment would override the URL.
    return new SQL(place.url, {
      ...options,
      ...(place.database === null ? {} : { database: place.database }),
    })
  } catch (error) {
    throw place.failure(error)
  }
}

async function probe(place: PostgresPlace, clock: Clock): Promise<boolean> {
  const sql = connect(place, { max: 1, connectionTimeout: PROBE_MS_MAX / 1000 })
  const timer = clock.after(PROBE_MS_MAX, () => void sql.close({ timeout: 0 }))
  try {
    await sql.unsafe('SELECT 1')
    return true
  } catch (error) {
    // An error with a SQLSTATE comes from a live server that is full or still starting.
    return error instanceof SQL.PostgresError && error.errno !== undefined
  } finally {
    timer.stop()
    await sql.close({ timeout: 0 })
  }
}
