// The files of a SQLite database and who may read them. They hold what users set and whom they know, so new ones
// are for their owner only. SQLite gives its log and index the mode of the database file. The mode of a file that
// exists is left to the operator.
import { closeSync, openSync, statSync } from 'node:fs'

const OWNER_ONLY = 0o600
const READABLE_BY_OTHERS = 0o044

/** Does nothing when the file exists. Must not open it then: closing it again would release locks on it. */
export function createForOwner(path: string): void {
  try {
    closeSync(openSync(path, 'wx', OWNER_ONLY))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}

/** The files of the database that users other than the owner can read. Windows has no such modes. */
export function filesOthersCanRead(path: string): string[] {
  if (process.platform === 'win32') return []
  return ['', '-wal', '-shm', '-lock']
    .map((ending) => path + ending)
    .filter((file) => (modeOf(file) & READABLE_BY_OTHERS) !== 0)
}

/** 0 where there is no such file. */
function modeOf(file: string): number {
  try {
    return statSync(file).mode
  } catch {
    return 0
  }
}
