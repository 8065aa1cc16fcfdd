// Nothing of an erased user is left in the files of a SQLite archive: not in rows, not in pages
// that became free, not in the log of what was written before.
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { aRow, sqliteFiles } from '../../../../testing/worlds/sqlite-files.ts'
import { NO_PRIVACY_CHOSEN } from '../presence/core/privacy.ts'
import type { Archive } from './port.ts'
import { createSqliteArchive } from './sqlite.ts'

const T = 1_700_000_000_000
const PEOPLE = 600
const ERASED = 'wipe-me'
const ids = Array.from({ length: PEOPLE }, (_, n) => `${n % 3 === 0 ? ERASED : 'keep-me'}-${n}`)
const erased = ids.filter((id) => id.startsWith(ERASED))

const { newPath } = sqliteFiles()

const bytesOf = (path: string) => {
  try {
    return readFileSync(path)
  } catch {
    return Buffer.alloc(0)
  }
}
const times = (bytes: Buffer, text: string) => bytes.toString('latin1').split(text).length - 1

/** An erased user with full and half-full pages, long rows, and lists in both directions. */
async function live(archive: Archive): Promise<void> {
  for (const [version, word] of ['first', 'second', 'last'].entries()) {
    const said = (userId: string) => ({ text: `${word} words of ${userId}`, emoji: null, expiresAt: null })
    await archive.writeLastSeen(
      ids.map((id) => ({
        ...aRow(id, version),
        shownCustomStatus: said(id),
        devices: [{ deviceId: `phone of ${id}`, platform: 'mobile' as const, activity: 'active' as const }],
      })),
    )
    await archive.writeSettings(
      ids.map((userId) => ({
        userId,
        availability: null,
        customStatus: { ...said(userId), setAt: T + version },
        awayAfter: null,
        history: null,
        privacy: {
          ...NO_PRIVACY_CHOSEN,
          deny: Array.from({ length: 300 }, (_, n) => `${userId} denies ${n}`),
          setAt: T + version,
        },
      })),
    )
  }
  for (const [n, id] of ids.entries()) await archive.addContacts(id, [ids[(n + 1) % PEOPLE]!], T)
  // Replaced by steps, with marks, and by fewer at the end.
  for (const some of [ids, ids.slice(0, 20), ids.map((id) => `${id}-again`), ids.slice(PEOPLE / 2)])
    await archive.replaceContacts(ids[0]!, some, T)
  await archive.replaceContacts(ids[1]!, ids, T)
}

test('[X6] an erased user is in no byte of the file or the log, and other users are unharmed', async () => {
  const path = newPath()
  const archive = await createSqliteArchive({ path })
  await archive.migrate()
  await live(archive)
  expect(times(Buffer.concat([bytesOf(path), bytesOf(`${path}-wal`)]), ERASED)).toBeGreaterThan(1000)
  for (const id of erased) await archive.erase(id)
  // Behind the wiping in the line.
  await archive.markAlive(T)
  expect(times(bytesOf(`${path}-wal`), ERASED)).toBe(0)
  expect(times(bytesOf(path), ERASED)).toBe(0)
  const [kept] = await archive.read([ids[1]!])
  expect(kept?.settings?.privacy?.deny).toHaveLength(300)
  expect(await archive.contactsOf(ids[1]!)).toEqual(ids.filter((id) => !erased.includes(id)).sort())
  await archive.close()
  expect(times(bytesOf(path), ERASED)).toBe(0)
  expect(times(bytesOf(path), 'last words of keep-me')).toBeGreaterThan(100)
  expect(bytesOf(`${path}-wal`)).toHaveLength(0)
  using database = new Database(path)
  expect(database.query('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
})

test('[X6] while a reader holds an old snapshot the log stays; the next erasure wipes it', async () => {
  const path = newPath()
  const archive = await createSqliteArchive({ path })
  await archive.migrate()
  await archive.writeLastSeen([aRow(`${ERASED}-1`), aRow(`${ERASED}-2`)])
  const other = new Database(path)
  other.run('BEGIN')
  other.query('SELECT * FROM user_last_seen').all()
  await archive.erase(`${ERASED}-1`)
  await archive.markAlive(T)
  expect(times(bytesOf(`${path}-wal`), `${ERASED}-1`)).toBeGreaterThan(0)
  other.run('ROLLBACK')
  await archive.erase(`${ERASED}-2`)
  await archive.markAlive(T)
  expect(times(bytesOf(`${path}-wal`), ERASED)).toBe(0)
  expect(times(bytesOf(path), ERASED)).toBe(0)
  other.close()
  await archive.close()
})
