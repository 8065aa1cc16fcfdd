// Moves the write-ahead log into the database file without blocking the event loop. A small log is copied
// here, and only the waits for the disk run in the runtime's file threads: the log is synced, its pages
// are copied without syncing, the database file is synced. Writers wait in the queue meanwhile, so the log
// is not reused before its pages are safe. A large log is copied by a thread.
import type { Database } from 'bun:sqlite'
import { type FileHandle, open, stat } from 'node:fs/promises'
import {
  type CheckpointMode,
  type CheckpointThread,
  startCheckpointThread,
} from './sqlite-checkpoint-thread.ts'

/**
 * Rows between two checkpoints. Each row may add a page of the table and one of an index to the log, so
 * this bounds its size. Writers wait during a checkpoint, so checkpoints must not be frequent.
 */
export const ROWS_PER_CHECKPOINT = 8000

/** A few milliseconds of copying. The thread costs memory, so small databases do without it. */
const PAGES_COPIED_HERE_MAX = 2000
/** Truncating a longer file takes the system more than a few milliseconds. */
const LOG_BYTES_TRUNCATED_HERE_MAX = 8 * 1024 * 1024

export interface Checkpoints {
  /** Called between transactions, while no other writer of this process is active. */
  run(): Promise<void>
  /**
   * Runs a checkpoint and removes older versions of pages from the log. Returns false if a reader still
   * uses them.
   */
  wipe(): Promise<boolean>
  /** Called when all connections of this process are closed. */
  close(): Promise<void>
}

export function createCheckpoints(path: string, writer: Database): Checkpoints {
  // Kept open: closing any handle of a file releases all locks of this process on it. Another process,
  // such as a backup, would then find the database unused and delete its log.
  let databaseFile: FileHandle | null = null
  let thread: CheckpointThread | null = null

  async function copyHere(): Promise<void> {
    databaseFile ??= await open(path, 'r+')
    const log = await open(`${path}-wal`, 'r+')
    try {
      await log.datasync()
    } finally {
      await log.close()
    }
    writer.run('PRAGMA synchronous = OFF')
    try {
      writer.run('PRAGMA wal_checkpoint(PASSIVE)')
    } finally {
      writer.run('PRAGMA synchronous = NORMAL')
    }
    await databaseFile.datasync()
  }

  function inThread(mode: CheckpointMode): Promise<void> {
    thread ??= startCheckpointThread(path)
    return thread.run(mode)
  }

  const run = () => (pagesToCopyMax(writer) <= PAGES_COPIED_HERE_MAX ? copyHere() : inThread('PASSIVE'))

  /** Does not wait for readers. */
  function truncateHere(): void {
    const { timeout } = writer.query<{ timeout: number }, []>('PRAGMA busy_timeout').get()!
    writer.run('PRAGMA busy_timeout = 0')
    try {
      writer.run('PRAGMA wal_checkpoint(TRUNCATE)')
    } finally {
      writer.run(`PRAGMA busy_timeout = ${timeout}`)
    }
  }

  return {
    run,

    async wipe() {
      if ((await stat(`${path}-wal`)).size > LOG_BYTES_TRUNCATED_HERE_MAX) await inThread('TRUNCATE')
      else {
        await run()
        const { log, checkpointed } = logOf(writer)
        // Otherwise the statement itself would copy the remaining pages.
        if (log === checkpointed) truncateHere()
      }
      return logOf(writer).log === 0
    },

    async close() {
      await thread?.stop()
      await databaseFile?.close()
    },
  }
}

/** The log may contain a page many times, but only its newest version is copied. */
function pagesToCopyMax(writer: Database): number {
  const { log } = logOf(writer)
  const { page_count } = writer.query<{ page_count: number }, []>('PRAGMA page_count').get()!
  return Math.min(log, page_count)
}

/** Pages in the log, and how many of them are already in the database file. */
function logOf(writer: Database) {
  return writer.query<{ log: number; checkpointed: number }, []>('PRAGMA wal_checkpoint(NOOP)').get()!
}
