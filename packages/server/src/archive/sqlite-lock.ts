// Keeps a second server off the SQLite file of a server that keeps its state in memory: each would know only its
// own users and overwrite what the other wrote. The lock is a transaction on a small database beside the file, so
// the system releases it when the process ends, however it ends. Commands that work beside a server take none.
import { Database, SQLiteError } from 'bun:sqlite'
import { createForOwner } from './sqlite-files.ts'

/** Two starts at the same moment make each other wait for an instant; a running server never lets go. */
const WAIT_MS = 1_000

/** A server is alone on its file, or together with servers that share their state through Redis. */
export type FileUse = 'alone' | 'together'

export interface FileLock {
  readonly use: FileUse
  release(): void
}

/** A connection that is collected as garbage would let go of its lock. */
const held = new Set<Database>()

/** Throws an error that says what to do when another server has the file. */
export function lockSqliteFile(path: string, use: FileUse): FileLock {
  const lockPath = `${path}-lock`
  createForOwner(lockPath)
  const lock = new Database(lockPath, { readwrite: true, create: false })
  try {
    lock.run(`PRAGMA busy_timeout = ${WAIT_MS}`)
    if (use === 'alone') lock.run('BEGIN EXCLUSIVE')
    else {
      lock.run('BEGIN')
      // The first read takes the shared lock.
      lock.query('SELECT count(*) FROM sqlite_schema').get()
    }
  } catch (error) {
    lock.close()
    if (!(error instanceof SQLiteError) || !(error.code ?? '').startsWith('SQLITE_BUSY')) throw error
    throw new Error(
      'another server runs on it; stop that one, or give this one a database_url of its own (servers that share a database need redis_url)',
    )
  }
  held.add(lock)
  return {
    use,
    release() {
      held.delete(lock)
      lock.close()
    },
  }
}
