// Moves what the write-ahead log holds into the database file, without holding up the event loop.
// A small log is copied here: only waiting for the disk takes long, so that part runs in the
// runtime's file threads. The log is made durable first, then its pages are copied without waiting,
// then the database file is made durable. Writers stand in line meanwhile, so the log is not reused
// before its pages are safe, as SQLite itself would have it. A large log goes to a thread.
import type { Database } from 'bun:sqlite'
import { type FileHandle, open } from 'node:fs/promises'
import { type CheckpointThread, startCheckpointThread } from './sqlite-checkpoint-thread.ts'

/**
 * Rows between two checkpoints. Each may have put a page of the table and of an index in the log, so
 * this bounds its size; and whoever writes waits for the disk during one, so they are not to be frequent.
 */
export const ROWS_PER_CHECKPOINT = 8000

/** A few milliseconds of copying. The thread takes memory, so whoever has few pages has no thread. */
const PAGES_COPIED_HERE_MAX = 2000

export interface Checkpoints {
  /** To be called between transactions, with no other writer of this process under way. */
  run(): Promise<void>
  /** To be called when all connections of this process are closed. */
  close(): Promise<void>
}

export function createCheckpoints(path: string, writer: Database): Checkpoints {
  // Kept open: when any handle of a file is closed, the system takes all locks on that file from this
  // process. Another one, a backup say, would then find the database unused and take its log away.
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

  return {
    run() {
      if (pagesToCopyMax(writer) <= PAGES_COPIED_HERE_MAX) return copyHere()
      thread ??= startCheckpointThread(path)
      return thread.run()
    },

    async close() {
      await thread?.stop()
      await databaseFile?.close()
    },
  }
}

/** The log may hold a page many times, but only its newest form is copied. */
function pagesToCopyMax(writer: Database): number {
  const { log } = writer.query<{ log: number }, []>('PRAGMA wal_checkpoint(NOOP)').get()!
  const { page_count } = writer.query<{ page_count: number }, []>('PRAGMA page_count').get()!
  return Math.min(log, page_count)
}
