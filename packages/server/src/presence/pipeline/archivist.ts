// Writes what must outlive us. Rows that arrive while a write is under way share the next one, so
// the database sees batches however busy we are. A promise resolves when its rows are safe. When
// the database fails, people must not wait for it: the rows stay here, are tried again, and the
// promise resolves as well; nothing is lost unless the process dies before the database is back.
import type { Archive, LastSeenRow, SettingsRow } from '../../archive/port.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/logger.ts'

const RETRY_MS = 1_000
/**
 * Rows that nobody waits for gather this long: a crowd that comes is a few writes instead of thousands. Whoever
 * came so shortly before a crash is not remembered; hardly anybody has been told of them by then.
 */
const GATHER_MS = 5
/** Rows in one write: the first in a crowd need not wait for the last. */
const BATCH_ROWS = 1_000
/** Users with unwritten rows that are kept through an outage; past it the oldest go, with an error. */
const BACKLOG_MAX = 1_000_000

export interface Archivist {
  lastSeen(row: LastSeenRow): Promise<void>
  /** The same for a row that nobody waits for: it is written in a moment, with others. */
  lastSeenSoon(row: LastSeenRow): void
  settings(row: SettingsRow): Promise<void>
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
    flush: async () => void (await Promise.all([lastSeen.flush(), settings.flush()])),
    backlog: () => lastSeen.size() + settings.size(),
  }
}

interface Waiting<Row> {
  row: Row
  callers: (() => void)[]
}

function createLane<Row extends { userId: string }>(
  name: string,
  write: (rows: readonly Row[]) => Promise<void>,
  clock: Clock,
  logger: Logger,
) {
  // Only the newest row of a user matters, so an outage costs one row per user at most. Whoever waited
  // for a row that was overtaken waits for the one that overtook it.
  const waiting = new Map<string, Waiting<Row>>()
  const flushers: (() => void)[] = []
  let running: Promise<void> | null = null
  let failing = false
  let isGathering = false

  async function run(): Promise<void> {
    while (waiting.size > 0) {
      const batch = takeBatch()
      try {
        await write(batch.map(({ row }) => row))
        if (failing) logger.info({ lane: name, rows: batch.length }, 'archive is back; writing the backlog')
        failing = false
        for (const { callers } of batch) for (const serve of callers) serve()
      } catch (error) {
        if (!failing) logger.error({ lane: name, err: error }, 'archive failed; keeping rows to try again')
        failing = true
        for (const resolve of flushers.splice(0)) resolve()
        for (const { callers } of [...batch, ...waiting.values()]) for (const serve of callers) serve()
        putBack(batch)
        await clock.sleep(RETRY_MS)
      }
    }
  }

  function takeBatch(): Waiting<Row>[] {
    const batch: Waiting<Row>[] = []
    for (const [userId, entry] of waiting) {
      batch.push(entry)
      waiting.delete(userId)
      if (batch.length === BATCH_ROWS) break
    }
    return batch
  }

  function putBack(batch: readonly Waiting<Row>[]): void {
    for (const { row } of batch) if (!waiting.has(row.userId)) waiting.set(row.userId, { row, callers: [] })
    for (const userId of waiting.keys()) {
      if (waiting.size <= BACKLOG_MAX) break
      waiting.delete(userId)
      logger.error({ lane: name }, 'archive backlog is full; the oldest row is given up')
    }
  }

  function start(): void {
    running ??= run().finally(() => {
      running = null
      // What came after the last look and before this would wait for whoever comes next.
      if (waiting.size > 0) start()
    })
  }

  function put(row: Row): Waiting<Row> {
    const entry = { row, callers: waiting.get(row.userId)?.callers ?? [] }
    // Deleting first keeps the map in the order of age.
    waiting.delete(row.userId)
    waiting.set(row.userId, entry)
    return entry
  }

  function add(row: Row): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const { callers } = put(row)
    if (failing) resolve()
    else callers.push(resolve)
    start()
    return promise
  }

  function addSoon(row: Row): void {
    put(row)
    if (running !== null || isGathering) return
    isGathering = true
    clock.after(GATHER_MS, () => {
      isGathering = false
      if (waiting.size > 0) start()
    })
  }

  return {
    add,
    addSoon,
    /** While the archive fails there is nothing to wait for. */
    flush: () =>
      new Promise<void>((resolve) => {
        if (failing || (running === null && waiting.size === 0)) return resolve()
        start()
        flushers.push(resolve)
        void running?.then(resolve)
      }),
    size: () => waiting.size,
  }
}
