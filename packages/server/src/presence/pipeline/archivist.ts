// Writes rows that must outlive the process. Rows that arrive while a write is under way share the next
// one, so the database gets batches however busy the server is. A promise resolves when the row is written.
// When the database fails, users must not wait for it: the promise resolves as well, the row stays here and
// is tried again. It is lost only if the process dies before the database is back.
import type { Archive, LastSeenRow, SettingsRow } from '../../archive/port.ts'
import { chunksOf } from '../../platform/chunks.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/logger.ts'

const RETRY_MS = 1_000
/** Rows of arrivals gather this long, so that many users connecting together are a few writes. */
const GATHER_MS = 5
/** Rows in one write: the first of many users need not wait for the last. */
const BATCH_ROWS = 1_000
/** Users with unwritten rows that are kept through an outage; past it the oldest go, with an error. */
const BACKLOG_MAX = 1_000_000

export interface Archivist {
  lastSeen(row: LastSeenRow): Promise<void>
  /** The same after a moment, together with others. */
  lastSeenSoon(row: LastSeenRow): Promise<void>
  settings(row: SettingsRow): Promise<void>
  /** Resolves when the last-seen row of this user that waits here is written; null when none waits. */
  lastSeenPending(userId: string): Promise<void> | null
  /** Resolves when everything handed over so far is written, or cannot be. */
  flush(): Promise<void>
  backlog(): number
}

export function createArchivist(archive: Archive, clock: Clock, logger: Logger): Archivist {
  const lastSeen = createLane<LastSeenRow>('last_seen', (rows) => archive.writeLastSeen(rows), clock, logger)
  const settings = createLane<SettingsRow>('settings', (rows) => archive.writeSettings(rows), clock, logger)
  return {
    lastSeen: lastSeen.add,
    lastSeenSoon: lastSeen.addSoon,
    settings: settings.add,
    lastSeenPending: lastSeen.pending,
    flush: async () => void (await Promise.all([lastSeen.flush(), settings.flush()])),
    backlog: () => lastSeen.size() + settings.size(),
  }
}

/** Rows that are written together; only the newest row of a user is kept. */
interface Batch<Row> {
  rows: Map<string, Row>
  written: PromiseWithResolvers<void>
}

function createLane<Row extends { userId: string }>(
  name: string,
  write: (rows: readonly Row[]) => Promise<void>,
  clock: Clock,
  logger: Logger,
) {
  /** Oldest first. New rows go into the last one. */
  let batches: Batch<Row>[] = []
  let writing: Batch<Row> | null = null
  let isRunning = false
  let isFailing = false
  let isGathering = false

  async function run(): Promise<void> {
    isRunning = true
    for (let batch = batches.shift(); batch !== undefined; batch = batches.shift()) {
      writing = batch
      try {
        await write([...batch.rows.values()])
        if (isFailing) logger.info({ lane: name }, 'the archive is back; writing the backlog')
        isFailing = false
        batch.written.resolve()
      } catch (error) {
        if (!isFailing)
          logger.error({ lane: name, err: error }, 'the archive failed; rows are kept and tried again')
        isFailing = true
        writing = null
        batches = foldedBacklog([batch, ...batches])
        await clock.sleep(RETRY_MS)
      }
    }
    writing = null
    isRunning = false
  }

  function start(): void {
    if (!isRunning) void run()
  }

  function newBatch(rows = new Map<string, Row>()): Batch<Row> {
    return { rows, written: Promise.withResolvers() }
  }

  /** An outage costs at most one row per user. Callers do not wait through it. */
  function foldedBacklog(failed: readonly Batch<Row>[]): Batch<Row>[] {
    const newest = new Map<string, Row>()
    for (const { rows, written } of failed) {
      written.resolve()
      for (const [userId, row] of rows) {
        // Deleting first keeps the map in the order of age.
        newest.delete(userId)
        newest.set(userId, row)
      }
    }
    if (newest.size > BACKLOG_MAX)
      logger.error(
        { lane: name, rows: newest.size - BACKLOG_MAX },
        'the archive backlog is full; the oldest rows are dropped',
      )
    const kept = [...newest].slice(-BACKLOG_MAX)
    return Array.from(chunksOf(kept, BATCH_ROWS), (chunk) => newBatch(new Map(chunk)))
  }

  function put(row: Row): Promise<void> {
    let batch = batches.at(-1)
    if (batch === undefined || batch.rows.size >= BATCH_ROWS) {
      batch = newBatch()
      batches.push(batch)
    }
    batch.rows.set(row.userId, row)
    return isFailing ? Promise.resolve() : batch.written.promise
  }

  const unwritten = () => (writing === null ? batches : [writing, ...batches])

  return {
    add(row: Row): Promise<void> {
      const written = put(row)
      start()
      return written
    },
    addSoon(row: Row): Promise<void> {
      const written = put(row)
      if (!isRunning && !isGathering) {
        isGathering = true
        clock.after(GATHER_MS, () => {
          isGathering = false
          start()
        })
      }
      return written
    },
    pending(userId: string): Promise<void> | null {
      if (isFailing) return null
      return unwritten().findLast(({ rows }) => rows.has(userId))?.written.promise ?? null
    },
    async flush(): Promise<void> {
      if (isFailing) return
      start()
      await Promise.all(unwritten().map(({ written }) => written.promise))
    },
    size: () => unwritten().reduce((rows, batch) => rows + batch.rows.size, 0),
  }
}
