// Writes rows that must outlive the process. Rows that arrive while a write is under way share the next
// one, so the database gets batches however busy the server is. A promise resolves when the row is written, or
// as soon as it is known that the database fails: users do not wait for it. A last-seen row that could not be
// written is kept here and tried again where nothing else remembers it. With a shared store the duty that its
// commit left remembers it. Settings are never kept: their caller is told that nothing changed.
import type { Archive, LastSeenRow, SettingsRow } from '../../archive/port.ts'
import { chunksOf } from '../../platform/chunks.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/logger.ts'
import { Unavailable } from '../unavailable.ts'

const RETRY_MS = 1_000
const FINISH_POLL_MS = 50
/** Rows of arrivals gather this long, so that many users connecting together are a few writes. */
const GATHER_MS = 5
/** Rows in one write: the first of many users need not wait for the last. */
const BATCH_ROWS = 1_000
/** Users with unwritten rows that are kept through an outage; past it the oldest go, with an error. */
const BACKLOG_MAX = 1_000_000

export interface Archivist {
  /** False when it, or a row that was written with it, could not be written or is not newer than the one in the archive. */
  lastSeen(row: LastSeenRow): Promise<boolean>
  /** The same after a moment, together with others. */
  lastSeenSoon(row: LastSeenRow): Promise<boolean>
  /** Rejects when it could not be written. */
  settings(row: SettingsRow): Promise<void>
  /** The rows of one user in statements of their own. Resolves with the failure, or null. */
  writeAlone(lastSeen: LastSeenRow, settings: SettingsRow): Promise<Error | null>
  /** Resolves when the last-seen row of this user that waits here is written; null when none waits. */
  lastSeenPending(userId: string): Promise<boolean> | null
  /** Rows of this user that could not be written are not tried again. */
  forget(userId: string): void
  /** Resolves when everything handed over so far is written, or cannot be. */
  flush(): Promise<void>
  /** Tries to write what is left, for so long; returns the users whose rows are lost. */
  finish(withinMs: number): Promise<string[]>
  /** Whether the last write failed. */
  isFailing(): boolean
  backlog(): number
}

export interface ArchivistOptions {
  /** Nothing else remembers a last-seen row that could not be written. */
  keepsBacklog: boolean
}

export function createArchivist(
  archive: Archive,
  clock: Clock,
  logger: Logger,
  { keepsBacklog }: ArchivistOptions,
): Archivist {
  const lanes = { clock, logger }
  const lastSeen = createLane<LastSeenRow>({
    ...lanes,
    name: 'last_seen',
    write: async (rows) => (await archive.writeLastSeen(rows)) === rows.length,
    keepsBacklog,
  })
  const settings = createLane<SettingsRow>({
    ...lanes,
    name: 'settings',
    write: (rows) => archive.writeSettings(rows).then(() => true),
    keepsBacklog: false,
  })
  return {
    lastSeen: lastSeen.add,
    lastSeenSoon: lastSeen.addSoon,
    async settings(row) {
      if (!(await settings.add(row))) throw new Unavailable('the archive cannot be written')
    },
    async writeAlone(row, choices) {
      try {
        await archive.writeLastSeen([row])
        await archive.writeSettings([choices])
        return null
      } catch (error) {
        return error instanceof Error ? error : new Error(String(error))
      }
    },
    lastSeenPending: lastSeen.pending,
    forget: lastSeen.forget,
    flush: async () => void (await Promise.all([lastSeen.flush(), settings.flush()])),
    finish: lastSeen.finish,
    isFailing: () => lastSeen.isFailing() || settings.isFailing(),
    backlog: () => lastSeen.size() + settings.size(),
  }
}

/** Rows that are written together; only the newest row of a user is kept. */
interface Batch<Row> {
  rows: Map<string, Row>
  written: PromiseWithResolvers<boolean>
}

interface LaneParts<Row> extends ArchivistOptions {
  name: string
  /** Whether all were written. */
  write: (rows: readonly Row[]) => Promise<boolean>
  clock: Clock
  logger: Logger
}

function createLane<Row extends { userId: string }>(parts: LaneParts<Row>) {
  const { name, write, clock, logger, keepsBacklog } = parts
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
        const areWritten = await write([...batch.rows.values()])
        if (isFailing) logger.info({ lane: name }, 'the archive can be written again')
        isFailing = false
        batch.written.resolve(areWritten)
      } catch (error) {
        if (!isFailing) logger.error({ lane: name, err: error }, 'the archive cannot be written')
        isFailing = true
        writing = null
        const failed = [batch, ...batches]
        for (const { written } of failed) written.resolve(false)
        batches = keepsBacklog ? foldedBacklog(failed) : []
        if (keepsBacklog) await clock.sleep(RETRY_MS)
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
    for (const { rows } of failed) {
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

  function put(row: Row): Promise<boolean> {
    let batch = batches.at(-1)
    if (batch === undefined || batch.rows.size >= BATCH_ROWS) {
      batch = newBatch()
      batches.push(batch)
    }
    batch.rows.set(row.userId, row)
    // A kept row may wait for as long as the database is away.
    return isFailing && keepsBacklog ? Promise.resolve(false) : batch.written.promise
  }

  const unwritten = () => (writing === null ? batches : [writing, ...batches])

  return {
    add(row: Row): Promise<boolean> {
      const written = put(row)
      start()
      return written
    },
    addSoon(row: Row): Promise<boolean> {
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
    pending(userId: string): Promise<boolean> | null {
      if (isFailing) return null
      return unwritten().findLast(({ rows }) => rows.has(userId))?.written.promise ?? null
    },
    forget(userId: string): void {
      for (const { rows } of unwritten()) rows.delete(userId)
    },
    async flush(): Promise<void> {
      if (isFailing) return
      start()
      await Promise.all(unwritten().map(({ written }) => written.promise))
    },
    async finish(withinMs: number): Promise<string[]> {
      start()
      const giveUpAt = clock.now() + withinMs
      while (unwritten().length > 0 && clock.now() < giveUpAt) await clock.sleep(FINISH_POLL_MS)
      return unwritten().flatMap(({ rows }) => [...rows.keys()])
    },
    isFailing: () => isFailing,
    size: () => unwritten().reduce((rows, batch) => rows + batch.rows.size, 0),
  }
}
