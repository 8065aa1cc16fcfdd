// The archive contract on SQLite, in memory and in a file, and what only a file can show: kills,
// other processes, folders, locks, and an event loop that keeps running.
import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { archiveContract } from '../../../../testing/contracts/archive.ts'
import { aRow, sqliteFiles } from '../../../../testing/worlds/sqlite-files.ts'
import { type Clock, systemClock } from '../platform/clock.ts'
import { CONTACTS_PER_STATEMENT_MAX } from './sql/contact-rows.ts'
import { type Migration, migrate } from './sql/migrations.ts'
import { ROWS_PER_TRANSACTION_MAX } from './sql/sql.ts'
import { createSqliteArchive, openSqlite } from './sqlite.ts'

const T = 1_700_000_000_000

const isRoot = process.getuid?.() === 0

const { newPath, folder } = sqliteFiles()

/** Counts how often work let the event loop run. */
function countingClock(): { clock: Clock; pauses: () => number } {
  let pauses = 0
  const nextTurn = () => {
    pauses += 1
    return systemClock.nextTurn()
  }
  return { clock: { ...systemClock, nextTurn }, pauses: () => pauses }
}

/** A process of its own that runs `body` with an open, migrated archive; ours to wait for or to kill. */
function startWriter(path: string, body: string) {
  const source = `
    import { createSqliteArchive } from ${JSON.stringify(join(import.meta.dir, 'sqlite.ts'))}
    const archive = await createSqliteArchive({ path: ${JSON.stringify(path)} })
    await archive.migrate()
    const aRow = (userId, version = 1) => ({ ...${JSON.stringify(aRow(''))}, userId, version })
    ${body}
  `
  return Bun.spawn({
    cmd: [process.execPath, '-e', source],
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  })
}

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true })
    if (text.includes('\n')) break
  }
  return text.split('\n')[0] ?? ''
}

archiveContract('SQLite in memory', () => createSqliteArchive({ path: ':memory:' }))
archiveContract('SQLite in a file', () => createSqliteArchive({ path: newPath() }))

describe('a SQLite file', () => {
  test('[S4] a last seen that was written survives kill -9', async () => {
    const path = newPath()
    const child = startWriter(
      path,
      `await archive.writeLastSeen([aRow('a', 42)])
       console.log('written')
       setInterval(() => {}, 1000)`,
    )
    expect(await firstLine(child.stdout)).toBe('written')
    child.kill('SIGKILL')
    await child.exited
    expect(child.signalCode).toBe('SIGKILL')

    const archive = await createSqliteArchive({ path })
    expect(await archive.migrate()).toEqual([])
    expect((await archive.read(['a']))[0]?.lastSeen).toEqual(aRow('a', 42))
    await archive.close()
  })

  test('[C7] processes that share a file wait for each other and lose nothing', async () => {
    const path = newPath()
    const writers = ['x', 'y', 'z'].map((name) =>
      startWriter(
        path,
        `for (let n = 0; n < 20; n++) {
           await archive.writeLastSeen(Array.from({ length: 25 }, (_, i) => aRow('${name}-' + (n * 25 + i))))
           await archive.writeLastSeen([aRow('shared', n)])
         }
         await archive.close()`,
      ),
    )
    expect(await Promise.all(writers.map((writer) => writer.exited))).toEqual([0, 0, 0])

    const archive = await createSqliteArchive({ path })
    const ids = ['x', 'y', 'z'].flatMap((name) => Array.from({ length: 500 }, (_, i) => `${name}-${i}`))
    const read = await archive.read([...ids, 'shared'])
    expect(read.filter((user) => user.lastSeen === null)).toEqual([])
    expect(read.at(-1)?.lastSeen?.version).toBe(19)
    await archive.close()
    const database = new Database(path)
    expect(database.query('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
    database.close()
  })

  test('[C7] a lock that another process holds delays a write without holding up the event loop', async () => {
    const path = newPath()
    const other = new Database(path)
    let sleeps = 0
    // The lock is let go only when the writer gives the event loop back to wait for it.
    const sleep = async () => {
      sleeps += 1
      other.run('ROLLBACK')
    }
    const archive = await createSqliteArchive({ path, clock: { ...systemClock, sleep } })
    await archive.migrate()
    other.run('BEGIN IMMEDIATE')
    await archive.writeLastSeen([aRow('a')])
    expect(sleeps).toBe(1)
    expect((await archive.read(['a']))[0]?.lastSeen).toEqual(aRow('a'))
    other.close()
    await archive.close()
  })

  test('[C7] a file that another process is just preparing is waited for', async () => {
    const path = newPath()
    const other = new Database(path)
    other.run('BEGIN EXCLUSIVE')
    let sleeps = 0
    const sleep = async () => {
      sleeps += 1
      other.run('ROLLBACK')
    }
    const archive = await createSqliteArchive({ path, clock: { ...systemClock, sleep } })
    expect(sleeps).toBe(1)
    await archive.migrate()
    other.close()
    await archive.close()
  })

  test('[C7] makes the folder, and says which file it cannot open', async () => {
    const deep = join(folder(), 'not', 'yet', 'there.db')
    await (await createSqliteArchive({ path: deep })).close()
    expect(existsSync(deep)).toBe(true)

    const file = join(folder(), 'a-file')
    writeFileSync(file, 'This is text, and long enough not to be taken for a database. '.repeat(20))
    for (const path of [join(file, 'greendot.db'), file, folder()]) {
      await expect(createSqliteArchive({ path })).rejects.toThrow(
        `Cannot open the SQLite database "${path}" for writing: `,
      )
    }
  })

  test.skipIf(isRoot)(
    '[C7] a read-only file is refused when it is opened (not as root, whom permissions do not stop)',
    async () => {
      const path = newPath()
      await (await createSqliteArchive({ path })).close()
      chmodSync(path, 0o444)
      await expect(createSqliteArchive({ path })).rejects.toThrow(
        `Cannot open the SQLite database "${path}" for writing: `,
      )
    },
  )

  test('[C9] long writes let the event loop run between transactions', async () => {
    const { clock, pauses } = countingClock()
    const archive = await createSqliteArchive({ path: newPath(), clock })
    await archive.migrate()
    await archive.writeLastSeen(Array.from({ length: ROWS_PER_TRANSACTION_MAX }, (_, i) => aRow(`user-${i}`)))
    expect(pauses()).toBe(0)
    await archive.writeLastSeen(
      Array.from({ length: ROWS_PER_TRANSACTION_MAX * 4 }, (_, i) => aRow(`user-${i}`)),
    )
    expect(pauses()).toBe(3)
    const ids = Array.from({ length: CONTACTS_PER_STATEMENT_MAX * 3 }, (_, i) => `user-${i}`)
    await archive.addContacts('owner', ids, T)
    expect(pauses()).toBeGreaterThanOrEqual(3 + 2)
    const before = pauses()
    await archive.replaceContacts(
      'owner',
      ids.map((id) => `new-${id}`),
      T,
    )
    expect(pauses()).toBeGreaterThanOrEqual(before + 4)
    await archive.close()
  })

  test('[R1] reads do not wait for a long transaction, and a finished write is seen', async () => {
    const archive = await createSqliteArchive({ path: newPath() })
    await archive.migrate()
    const order: string[] = []
    const ids = Array.from({ length: CONTACTS_PER_STATEMENT_MAX * 10 }, (_, i) => `user-${i}`)
    await archive.writeLastSeen([aRow('a')])
    const replacing = archive.replaceContacts('owner', ids, T).then(() => order.push('replaced'))
    const reading = archive.read(['a']).then(([user]) => order.push(user?.lastSeen?.userId ?? 'nothing'))
    await Promise.all([replacing, reading])
    expect(order).toEqual(['a', 'replaced'])
    await archive.close()
  })

  test('[S4] a migration that fails leaves the schema as it was', async () => {
    const database = await openSqlite({ path: newPath() })
    const first: Migration = { name: '1', statements: () => ['CREATE TABLE one (a TEXT)'] }
    const broken: Migration = {
      name: '3',
      statements: () => ['CREATE TABLE three (a TEXT)', 'CREATE NONSENSE'],
    }
    const second: Migration = { name: '2', statements: () => ['CREATE TABLE two (a TEXT)'] }
    expect(await migrate(database, [first], T)).toEqual(['1'])
    await expect(migrate(database, [first, second, broken], T)).rejects.toThrow()
    const tables = () => database.read<{ name: string }>('SELECT name FROM sqlite_schema ORDER BY name')
    const names = (await tables()).map((table) => table.name)
    expect(names).toContain('one')
    expect(names).not.toContain('two')
    expect(await migrate(database, [first, second], T)).toEqual(['2'])
    expect((await tables()).map((table) => table.name)).toContain('two')
    await database.close()
  })

  test('[C7] users who were online are found through their own index', async () => {
    const path = newPath()
    const archive = await createSqliteArchive({ path })
    await archive.migrate()
    await archive.close()
    const database = new Database(path)
    const plan = database.query(
      "EXPLAIN QUERY PLAN SELECT user_id FROM user_last_seen WHERE status = 'here' AND user_id > 'a' ORDER BY user_id",
    )
    expect(JSON.stringify(plan.all())).toContain('user_last_seen_here')
    database.close()
  })
})
