// Moves what the write-ahead log holds into the database file. Only waiting for the disk takes long,
// so that part runs in the runtime's file threads: the log is made durable first, then its pages are
// copied without waiting, then the database file is made durable. Writers stand in line meanwhile,
// so the log is not reused before its pages are safe, as SQLite itself would have it.
import type { Database } from 'bun:sqlite'
import { type FileHandle, open } from 'node:fs/promises'

/**
 * Rows between two checkpoints. Each may have put a page of the table and of an index in the log, so
 * this bounds its size; and whoever writes waits for the disk during one, so they are not to be frequent.
 */
export const ROWS_PER_CHECKPOINT = 8000

/** To be called between transactions, with no other writer of this process under way. */
export async function checkpoint(path: string, writer: Database): Promise<void> {
  await syncFile(`${path}-wal`)
  writer.run('PRAGMA synchronous = OFF')
  try {
    writer.query('PRAGMA wal_checkpoint(PASSIVE)').all()
  } finally {
    writer.run('PRAGMA synchronous = NORMAL')
  }
  await syncFile(path)
}

async function syncFile(path: string): Promise<void> {
  let file: FileHandle | null = null
  try {
    file = await open(path, 'r+')
    await file.datasync()
  } finally {
    await file?.close()
  }
}
