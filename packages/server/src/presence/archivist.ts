// Writes what must outlive us. Rows that arrive while a write is under way share the next one, so
// the database sees batches however busy we are. A promise resolves when its rows are safe. When
// the database fails, people must not wait for it: the rows stay here, are tried again, and the
// promise resolves as well; nothing is lost unless the process dies before the database is back.
import type { Archive, LastSeenRow, SettingsRow } from '../archive/port.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'

const RETRY_MS = 1_000
/** Users with unwritten rows that are kept through an outage; past it the oldest go, with an error. */
const BACKLOG_MAX = 1_000_000

export interface Archivist {
  lastSeen(rows: readonly LastSeenRow[]): Promise<void>
  settings(rows: readonly SettingsRow[]): Promise<void>
  /** Resolves when everything handed over so far was written or has failed once. */
  flush(): Promise<void>
  backlog(): number
}

export function createArchivist(archive: Archive, clock: Clock, logger: Logger): Archivist {
  const lastSeen = createLane<LastSeenRow>('last_seen', (rows) => archive.writeLastSeen(rows), clock, logger)
  const settings = createLane<SettingsRow>('settings', (rows) => archive.writeSettings(rows), clock, logger)
  return {
    lastSeen: (rows) => lastSeen.add(rows),
    settings: (rows) => settings.add(rows),
    flush: async () => void (await Promise.all([lastSeen.add([]), settings.add([])])),
    backlog: () => lastSeen.size() + settings.size(),
  }
}

function createLane<Row extends { userId: string }>(
  name: string,
  write: (rows: readonly Row[]) => Promise<void>,
  clock: Clock,
  logger: Logger,
) {
  // Only the newest row of a user matters, so an outage costs one row per user at most.
  let waiting = new Map<string, Row>()
  let callers: (() => void)[] = []
  let running = false
  let failing = false

  async function run(): Promise<void> {
    running = true
    while (waiting.size > 0 || callers.length > 0) {
      const rows = waiting
      const served = callers
      waiting = new Map()
      callers = []
      try {
        if (rows.size > 0) await write([...rows.values()])
        if (failing) logger.info({ lane: name, rows: rows.size }, 'archive is back; the backlog is written')
        failing = false
        for (const serve of served) serve()
      } catch (error) {
        if (!failing) logger.error({ lane: name, err: error }, 'archive failed; keeping rows to try again')
        failing = true
        putBack(rows)
        for (const serve of [...served, ...callers]) serve()
        callers = []
        await clock.sleep(RETRY_MS)
      }
    }
    running = false
  }

  function putBack(rows: Map<string, Row>): void {
    for (const [userId, row] of waiting) rows.set(userId, row)
    waiting = rows
    for (const userId of waiting.keys()) {
      if (waiting.size <= BACKLOG_MAX) break
      waiting.delete(userId)
      logger.error({ lane: name }, 'archive backlog is full; the oldest row is given up')
    }
  }

  return {
    add(rows: readonly Row[]): Promise<void> {
      for (const row of rows) {
        // Deleting first keeps the map in the order of age.
        waiting.delete(row.userId)
        waiting.set(row.userId, row)
      }
      if (failing) return Promise.resolve()
      return new Promise((resolve) => {
        callers.push(resolve)
        if (!running) void run()
      })
    },
    size: () => waiting.size,
  }
}
