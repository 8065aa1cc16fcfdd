// Moves what the write-ahead log holds into the database file, without holding up the event loop.
// A small log is copied here: only waiting for the disk takes long, so that part runs in the
// runtime's file threads. The log is made durable first, then its pages are copied without waiting,
// then the database file is made durable. Writers stand in line meanwhile, so the log is not reused
// before its pages are safe, as SQLite itself would have it. A large log goes to a thread.
import type { Database } from 'bun:sqlite'
import { type FileHandle, open, stat } from 'node:fs/promises'
import {
  type CheckpointMode,
  type CheckpointThread,
  startCheckpointThread,
} from './sqlite-checkpoint-thread.ts'

/**
 * Rows between two checkpoints. Each may have put a page of the table and of an index in the log, so
 * this bounds its size; and whoever writes waits for the disk during one, so they are not to be frequent.
 */
export const ROWS_PER_CHECKPOINT = 8000

/** A few milliseconds of copying. The thread takes memory, so whoever has few pages has no thread. */
const PAGES_COPIED_HERE_MAX = 2000
/** A few milliseconds as well: the system takes its time to cut a long file. */
const LOG_BYTES_CUT_HERE_MAX = 8 * 1024 * 1024

export interface Checkpoints {
  /** To be called between transactions, with no other writer of this process under way. */
  run(): Promise<void>
  /**
   * The same, and then takes away what the log still holds of older versions of the pages. Returns whether
   * it could: somebody may be reading them.
   */
  wipe(): Promise<boolean>
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

  function inThread(mode: CheckpointMode): Promise<void> {
    thread ??= startCheckpointThread(path)
    return thread.run(mode)
  }

  const run = () => (pagesToCopyMax(writer) <= PAGES_COPIED_HERE_MAX ? copyHere() : inThread('PASSIVE'))

  /** Does not wait for whoever reads. */
  function cutHere(): void {
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
      if ((await stat(`${path}-wal`)).size > LOG_BYTES_CUT_HERE_MAX) await inThread('TRUNCATE')
      else {
        await run()
        const { log, checkpointed } = logOf(writer)
        // What is left would be copied by the statement itself.
        if (log === checkpointed) cutHere()
      }
      return logOf(writer).log === 0
    },

    async close() {
      await thread?.stop()
      await databaseFile?.close()
    },
  }
}

/** The log may hold a page many times, but only its newest form is copied. */
function pagesToCopyMax(writer: Database): number {
  const { log } = logOf(writer)
  const { page_count } = writer.query<{ page_count: number }, []>('PRAGMA page_count').get()!
  return Math.min(log, page_count)
}

/** How many pages it has, and how many of them are in the file as well. */
function logOf(writer: Database) {
  return writer.query<{ log: number; checkpointed: number }, []>('PRAGMA wal_checkpoint(NOOP)').get()!
}
