// Which servers may have a SQLite file at the same time, and who may read its files.
import { expect, test } from 'bun:test'
import { chmodSync, existsSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { aRow, sqliteFiles } from '../../../../testing/worlds/sqlite-files.ts'
import { createSqliteArchive } from './sqlite.ts'
import { filesOthersCanRead } from './sqlite-files.ts'
import type { FileUse } from './sqlite-lock.ts'

const { newPath } = sqliteFiles()

const REFUSED = /another server runs on it; stop that one/

test.each<[FileUse, FileUse, boolean]>([
  ['alone', 'alone', false],
  ['alone', 'together', false],
  ['together', 'alone', false],
  ['together', 'together', true],
])('[C7] a file that is used %s can be opened %s: %p', async (first, second, isAllowed) => {
  const path = newPath()
  const holder = await createSqliteArchive({ path, use: first })
  const other = createSqliteArchive({ path, use: second })
  if (isAllowed) await (await other).close()
  else await expect(other).rejects.toThrow(REFUSED)
  // Commands work beside both.
  const command = await createSqliteArchive({ path })
  await command.migrate()
  await command.close()
  await holder.writeLastSeen([aRow('anna')])
  await holder.close()
  const next = await createSqliteArchive({ path, use: second })
  expect((await next.read(['anna']))[0]?.lastSeen).toEqual(aRow('anna'))
  await next.close()
})

test('[C7] another path to the same file is the same file', async () => {
  const [path, link] = [newPath(), newPath()]
  const holder = await createSqliteArchive({ path, use: 'alone' })
  symlinkSync(path, link)
  await expect(createSqliteArchive({ path: link, use: 'alone' })).rejects.toThrow(REFUSED)
  await holder.close()
})

test('[C7] databases in memory are not locked', async () => {
  const one = await createSqliteArchive({ path: ':memory:', use: 'alone' })
  const other = await createSqliteArchive({ path: ':memory:', use: 'alone' })
  await Promise.all([one.close(), other.close()])
  expect(existsSync(':memory:-lock')).toBe(false)
})

test('[C7] a kill -9 releases the file at once', async () => {
  const path = newPath()
  const source = `
    const { createSqliteArchive } = await import(${JSON.stringify(`${import.meta.dir}/sqlite.ts`)})
    await createSqliteArchive({ path: ${JSON.stringify(path)}, use: 'alone' })
    console.log('open')
    setInterval(() => {}, 1000)`
  const child = Bun.spawn([process.execPath, '-e', source], { stdout: 'pipe', stderr: 'ignore' })
  try {
    await child.stdout.getReader().read()
    await expect(createSqliteArchive({ path, use: 'alone' })).rejects.toThrow(REFUSED)
  } finally {
    child.kill('SIGKILL')
    await child.exited
  }
  await (await createSqliteArchive({ path, use: 'alone' })).close()
})

test('[S4] new files are for their owner only; the mode of a file that exists is kept', async () => {
  const path = newPath()
  const before = process.umask(0)
  try {
    const archive = await createSqliteArchive({ path, use: 'alone' })
    await archive.migrate()
    for (const ending of ['', '-wal', '-shm', '-lock'])
      expect(`${ending} ${(statSync(path + ending).mode & 0o777).toString(8)}`).toBe(`${ending} 600`)
    await archive.close()
    expect(filesOthersCanRead(path)).toEqual([])

    const open = newPath()
    writeFileSync(open, '')
    chmodSync(open, 0o644)
    await (await createSqliteArchive({ path: open, use: 'alone' })).close()
    expect(filesOthersCanRead(open)).toEqual([open])
  } finally {
    process.umask(before)
  }
})
