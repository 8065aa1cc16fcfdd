// SQLite files for tests, in a folder that goes with the test file, and the plainest row to put into them.
import { afterAll, beforeAll } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LastSeenRow } from '../../packages/server/src/archive/port.ts'

const AT = 1_700_000_000_000

/** To be called once by a test file; gives a path for each database. */
export function sqliteFiles(): { newPath(): string; folder(): string } {
  let folder = ''
  let files = 0
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'greendot-sqlite-'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return {
    folder: () => folder,
    newPath() {
      files += 1
      return join(folder, `${files}.db`)
    },
  }
}

export function aRow(userId: string, version = 1): LastSeenRow {
  return {
    userId,
    lastSeenAt: AT,
    status: 'offline',
    devices: [],
    version,
    shownCustomStatus: null,
    updatedAt: AT,
  }
}
