// The write-ahead log of a SQLite file: it is moved into the file as it grows, and never lost on the way.
import { describe, expect, test } from 'bun:test'
import { existsSync, rmSync } from 'node:fs'
import { aRow, sqliteFiles } from '../../../../testing/worlds/sqlite-files.ts'
import { NO_PRIVACY_CHOSEN } from '../presence/core/privacy.ts'
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

  test('[C9] does not grow over many servers that are killed', async () => {
    const path = newPath()
    const sizes: number[] = []
    for (let life = 0; life < 12; life++) {
      const source = `
        const { createSqliteArchive } = await import(${JSON.stringify(`${import.meta.dir}/sqlite.ts`)})
        const archive = await createSqliteArchive({ path: ${JSON.stringify(path)}, use: 'alone' })
        await archive.migrate()
        for (let at = 0; at < 100; at++) await archive.markAlive(${T} + ${life} * 1000 + at)
        process.kill(process.pid, 'SIGKILL')`
      await Bun.spawn([process.execPath, '-e', source], { stdout: 'ignore', stderr: 'ignore' }).exited
      sizes.push(Bun.file(`${path}-wal`).size)
    }
    expect(sizes[0]).toBeGreaterThan(0)
    // The first life also made the schema.
    expect(Math.max(...sizes)).toBeLessThanOrEqual(sizes[0]!)
    const archive = await createSqliteArchive({ path, use: 'alone' })
    expect(Bun.file(`${path}-wal`).size).toBe(0)
    expect(await archive.aliveAt()).toBe(T + 11_099)
    await archive.close()
  })

  test('[C9] is short after the stop of a server also when a command is still connected', async () => {
    const path = newPath()
    const archive = await createSqliteArchive({ path, use: 'alone' })
    await archive.migrate()
    const command = await createSqliteArchive({ path })
    await archive.writeLastSeen(ids.slice(0, 500).map((id) => aRow(id)))
    expect(Bun.file(`${path}-wal`).size).toBeGreaterThan(0)
    await archive.close()
    expect(Bun.file(`${path}-wal`).size).toBe(0)
    expect((await command.read([ids[0]!]))[0]?.lastSeen).toEqual(aRow(ids[0]!))
    await command.close()
  })

  test('[C9] is moved into the file after few long rows too', async () => {
    const path = newPath()
    const archive = await createSqliteArchive({ path })
    await archive.migrate()
    // Bytes that stay the same would not be written again.
    const someIds = (round: number) =>
      Array.from({ length: 1_000 }, (_, n) => `${n}-${`${round} `.repeat(20)}`.padEnd(100, '-'))
    const write = (round: number) =>
      archive.writeSettings([
        {
          userId: 'anna',
          availability: null,
          customStatus: null,
          awayAfter: null,
          history: null,
          privacy: { ...NO_PRIVACY_CHOSEN, deny: someIds(round), setAt: T + round },
        },
      ])
    for (let round = 0; round < 900; round++) await write(round)
    const size = Bun.file(`${path}-wal`).size
    expect(size).toBeLessThan(2 * ROWS_PER_CHECKPOINT * 4096)
    await archive.close()
  })
})
