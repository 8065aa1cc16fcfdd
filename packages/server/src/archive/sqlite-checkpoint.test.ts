// The write-ahead log of a SQLite file: it is moved into the file as it grows, and never lost on the way.
import { describe, expect, test } from 'bun:test'
import { existsSync, rmSync } from 'node:fs'
import { aRow, sqliteFiles } from '../../../../testing/worlds/sqlite-files.ts'
import { createSqliteArchive } from './sqlite.ts'
import { ROWS_PER_CHECKPOINT } from './sqlite-checkpoint.ts'

const T = 1_700_000_000_000

const { newPath } = sqliteFiles()

describe('the write-ahead log', () => {
  const ids = Array.from({ length: ROWS_PER_CHECKPOINT }, (_, i) => `user-${String(i).padStart(6, '0')}`)

  const ROUNDS = 6
  const shownCustomStatus = { text: 'x'.repeat(140), emoji: null, expiresAt: null }
  const aLongRow = (id: string, version: number) => ({ ...aRow(id, version), shownCustomStatus })

  /** The size of the log after the same rows were written once, and after they were written again and again. */
  async function logSizes(path: string, meanwhile: () => void) {
    const archive = await createSqliteArchive({ path })
    await archive.migrate()
    meanwhile()
    await archive.writeLastSeen(ids.map((id) => aLongRow(id, 1)))
    const once = Bun.file(`${path}-wal`).size
    for (let version = 2; version <= ROUNDS; version++) {
      await archive.writeLastSeen(ids.map((id) => aLongRow(id, version)))
    }
    const often = Bun.file(`${path}-wal`).size
    expect((await archive.read(ids)).every((user) => user.lastSeen?.version === ROUNDS)).toBe(true)
    await archive.close()
    return { once, often }
  }

  test('[C9] is moved into the file while the archive is open, and starts again', async () => {
    const path = newPath()
    const { once, often } = await logSizes(path, () => {})

    expect(often).toBeLessThan(once * 2)
    expect(existsSync(`${path}-wal`)).toBe(false)
  })

  test('[C7] is ours also after it was moved: no other process may have the file to itself', async () => {
    const path = newPath()
    const archive = await createSqliteArchive({ path })
    await archive.migrate()
    // What the last one out of a database does before it takes the log away.
    const source = `
      import { Database } from 'bun:sqlite'
      const database = new Database(${JSON.stringify(path)})
      database.run('PRAGMA locking_mode = EXCLUSIVE')
      try {
        database.run('SELECT count(*) FROM user_last_seen')
        console.log('alone')
      } catch (error) {
        console.log(error.message)
      }`
    const visit = () => Bun.spawnSync([process.execPath, '-e', source]).stdout.toString().trim()
    expect(visit()).toBe('database is locked')
    await archive.writeLastSeen(ids.map((id) => aRow(id)))
    // Behind the checkpoint.
    await archive.markAlive(T)
    expect(visit()).toBe('database is locked')
    await archive.close()
    expect(visit()).toBe('alone')
  })

  test('[C7] does not grow without end either when checkpoints fail', async () => {
    const path = newPath()
    // A checkpoint cannot open a file that is gone; the archive still has it.
    const { once, often } = await logSizes(path, () => rmSync(path))

    expect(often).toBeLessThan(once * 8)
  })
})
