// A long list is replaced in many transactions. Wherever it is interrupted, readers see the old list or the new
// one; the remains of a crash are cleaned up; and other writers do not wait for all of it.
import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { aRow, sqliteFiles } from '../../../../../testing/worlds/sqlite-files.ts'
import { type Clock, systemClock } from '../../platform/clock.ts'
import type { Archive } from '../port.ts'
import { createSqliteArchive, openSqlite } from '../sqlite.ts'
import { CONTACTS_PER_STATEMENT_MAX } from './contact-rows.ts'
import { MIGRATIONS, migrate } from './migrations.ts'

const T = 1_700_000_000_000
/** Some transactions for each part of the work. */
const LIST_SIZE = CONTACTS_PER_STATEMENT_MAX * 2

const { newPath } = sqliteFiles()

const numbered = (prefix: string) =>
  Array.from({ length: LIST_SIZE }, (_, index) => `${prefix}${String(index).padStart(6, '0')}`)
// Contacts that come and contacts that leave are before and after the contacts that stay.
const OLD = [...numbered('b'), ...numbered('d'), ...numbered('f')]
const NEW = [...numbered('a'), ...numbered('d'), ...numbered('e')]
const ALL_CONTACTS = [...new Set([...OLD, ...NEW])].sort()

/** Stops work, for good or until it is resumed, at the first pause at which `isTime`. */
function stoppingClock() {
  const stopped = Promise.withResolvers<void>()
  let isTime = () => false
  let resume = () => {}
  const nextTurn = () => {
    if (!isTime()) return systemClock.nextTurn()
    isTime = () => false
    stopped.resolve()
    return new Promise<void>((resolve) => {
      resume = resolve
    })
  }
  const clock: Clock = { ...systemClock, nextTurn }
  const stopWhen = (condition: () => boolean) => {
    isTime = condition
  }
  return { clock, stopped: stopped.promise, stopWhen, resume: () => resume() }
}

/** A replacement that has stopped, or has come to its end without. */
async function replaceUntil(path: string, ids: readonly string[], isTime: () => boolean) {
  const { clock, stopped, stopWhen, resume } = stoppingClock()
  const archive = await createSqliteArchive({ path, clock })
  stopWhen(isTime)
  const replacing = archive.replaceContacts('owner', ids, T + 1)
  const isStopped = await Promise.race([stopped.then(() => true), replacing.then(() => false)])
  const finish = async () => {
    resume()
    await replacing
    await archive.close()
  }
  return { isStopped, finish }
}

async function fileWithOldList(): Promise<string> {
  const path = newPath()
  const archive = await createSqliteArchive({ path })
  await archive.migrate()
  await archive.addContacts('owner', OLD, T)
  await archive.close()
  return path
}

/** True once a contact was added that is not shown yet. */
const hasNew = (path: string, id: string) => () => {
  const database = new Database(path)
  const row = database.query("SELECT 1 FROM contact WHERE contact_id = ? AND edition = 'new'").get(id)
  database.close()
  return row !== null
}

/** The list as all ways to read it agree on it. */
async function listIn(archive: Archive): Promise<string[]> {
  const list = await archive.contactsOf('owner')
  expect(JSON.parse(await archive.contactsJson('owner'))).toEqual(list)
  for (const limit of [0, 1, 501, list.length]) {
    expect(await archive.contactsOf('owner', limit)).toEqual(list.slice(0, limit))
  }
  const inList = new Set(list)
  const pairs = ALL_CONTACTS.map((contactId) => ({ ownerId: 'owner', contactId }))
  expect(await archive.areContacts(pairs)).toEqual(ALL_CONTACTS.map((id) => inList.has(id)))
  for (const id of ['a000000', 'b000000', 'd000000', 'e000999', 'f000999']) {
    expect(await archive.ownersOf(id, '', 10)).toEqual(inList.has(id) ? ['owner'] : [])
  }
  return list
}

function leftIn(path: string) {
  const database = new Database(path)
  const count = (from: string) =>
    database.query<{ count: number }, []>(`SELECT count(*) AS count FROM ${from}`).get()!.count
  const left = {
    claims: count('contact_replacement'),
    marks: count('contact WHERE edition IS NOT NULL'),
    rows: count('contact'),
  }
  database.close()
  return left
}

describe('a replacement that stops in the middle', () => {
  test('[W2] [C7] leaves the old list or the new one, wherever it stops, and others go on from there', async () => {
    const moments = { unmarked: 0, old: 0, new: 0 }
    for (let pauses = 1; ; pauses++) {
      const path = await fileWithOldList()
      let left = pauses
      const { isStopped, finish } = await replaceUntil(path, NEW, () => --left === 0)
      if (!isStopped) {
        await finish()
        break
      }
      const other = await createSqliteArchive({ path })
      const list = await listIn(other)
      const isNew = list[0] === NEW[0]
      expect(list).toEqual(isNew ? NEW : OLD)
      if (leftIn(path).marks === 0) moments.unmarked += 1
      else moments[isNew ? 'new' : 'old'] += 1

      // As every start does.
      await other.migrate()
      expect(await listIn(other)).toEqual(list)
      expect(leftIn(path)).toEqual({ claims: 0, marks: 0, rows: list.length })

      // The interrupted process had not crashed, and finishes its work. Edits made by others after the new
      // list was shown stay.
      await other.addContacts('owner', ['z'], T)
      await finish()
      expect(await listIn(other)).toEqual(isNew ? [...NEW, 'z'] : NEW)
      expect(leftIn(path)).toMatchObject({ claims: 0, marks: 0 })
      await other.close()
    }
    expect(moments.unmarked).toBeGreaterThan(0)
    expect(moments.old).toBeGreaterThan(2)
    expect(moments.new).toBeGreaterThan(2)
  })

  test.each([
    ['adds', (other: Archive) => other.addContacts('owner', ['z'], T), [...OLD, 'z']],
    ['removes', (other: Archive) => other.removeContacts('owner', ['b000000']), OLD.slice(1)],
    ['replaces', (other: Archive) => other.replaceContacts('owner', ['z'], T), ['z']],
    ['erases', (other: Archive) => other.erase('owner'), []],
  ])('[W2] [C7] is undone by the next who %s, without a restart', async (_, edit, expected) => {
    const path = await fileWithOldList()
    const { finish } = await replaceUntil(path, NEW, hasNew(path, 'a000000'))
    const other = await createSqliteArchive({ path })
    await edit(other)
    expect(await listIn(other)).toEqual(expected)
    expect(leftIn(path)).toEqual({ claims: 0, marks: 0, rows: expected.length })
    await finish()
    expect(await listIn(other)).toEqual(NEW)
    await other.close()
  })

  test('[W2] [C7] comes to its end though another, which has undone it, has stopped as well', async () => {
    const path = await fileWithOldList()
    const first = await replaceUntil(path, NEW, hasNew(path, 'a000000'))
    const second = await replaceUntil(path, numbered('c'), hasNew(path, 'c000000'))
    expect([first.isStopped, second.isStopped]).toEqual([true, true])
    const reader = await createSqliteArchive({ path })
    expect(await listIn(reader)).toEqual(OLD)
    await first.finish()
    expect(await listIn(reader)).toEqual(NEW)
    expect(leftIn(path)).toEqual({ claims: 0, marks: 0, rows: NEW.length })
    await second.finish()
    expect(await listIn(reader)).toEqual(numbered('c'))
    await reader.close()
  })

  test('[X6] keeps no user who is erased meanwhile', async () => {
    const path = await fileWithOldList()
    const { finish } = await replaceUntil(path, NEW, hasNew(path, 'a000000'))
    const other = await createSqliteArchive({ path })
    await other.erase('a000000')
    await other.erase('b000000')
    await finish()
    expect(await other.contactsOf('owner')).toEqual(NEW.slice(1))
    await other.close()
  })

  test('[W2] [C7] leaves the old list after kill -9, and nothing else once the server has started', async () => {
    const path = newPath()
    const source = `
      import { createSqliteArchive } from ${JSON.stringify(join(import.meta.dir, '../sqlite.ts'))}
      import { systemClock } from ${JSON.stringify(join(import.meta.dir, '../../platform/clock.ts'))}
      import { Database } from 'bun:sqlite'
      const path = ${JSON.stringify(path)}
      const marks = () => new Database(path).query("SELECT 1 FROM contact WHERE edition = 'new' LIMIT 1").get()
      let isReplacing = false
      const kill = () => process.kill(process.pid, 'SIGKILL')
      const nextTurn = () => (isReplacing && marks() ? kill() : systemClock.nextTurn())
      const archive = await createSqliteArchive({ path, clock: { ...systemClock, nextTurn } })
      await archive.migrate()
      await archive.addContacts('owner', ${JSON.stringify(OLD)}, 1)
      isReplacing = true
      await archive.replaceContacts('owner', ${JSON.stringify(NEW)}, 2)`
    const child = Bun.spawn([process.execPath, '-e', source], { stderr: 'inherit' })
    await child.exited
    expect(child.signalCode).toBe('SIGKILL')
    expect(leftIn(path).rows).toBeGreaterThan(OLD.length)

    const archive = await createSqliteArchive({ path })
    expect(await listIn(archive)).toEqual(OLD)
    expect(await archive.migrate()).toEqual([])
    expect(await listIn(archive)).toEqual(OLD)
    expect(leftIn(path)).toEqual({ claims: 0, marks: 0, rows: OLD.length })
    await archive.close()
  })
})

test('[W2] edits of one list take effect in the order in which a process asks for them', async () => {
  const archive = await createSqliteArchive({ path: newPath() })
  await archive.migrate()
  await Promise.all([
    archive.replaceContacts('owner', OLD, T),
    archive.replaceContacts('owner', NEW, T),
    archive.addContacts('owner', ['y', 'z'], T),
    archive.removeContacts('owner', ['y']),
  ])
  expect(await listIn(archive)).toEqual([...NEW, 'z'])
  await archive.close()
})

test('[W2] other writes do not wait for a long replacement', async () => {
  const archive = await createSqliteArchive({ path: newPath() })
  await archive.migrate()
  await archive.addContacts('owner', OLD, T)
  let isReplaced = false
  const replacing = archive.replaceContacts('owner', NEW, T).then(() => {
    isReplaced = true
  })
  let writes = 0
  while (!isReplaced) {
    await archive.writeLastSeen([aRow('a', ++writes)])
    await systemClock.nextTurn()
  }
  await replacing
  // One between any two of its transactions; it has two dozen of them.
  expect(writes).toBeGreaterThan(10)
  await archive.close()
})

test.each([
  ['few', [...OLD.slice(1), 'z']],
  ['many', NEW],
])('[W2] those who stay keep their date when %s are replaced', async (_, ids) => {
  const path = newPath()
  const archive = await createSqliteArchive({ path })
  await archive.migrate()
  await archive.addContacts('owner', OLD, T)
  await archive.replaceContacts('owner', ids, T + 1)
  await archive.close()
  const database = new Database(path)
  const rows = database.query<{ contact_id: string; created_at: number }, []>('SELECT * FROM contact').all()
  const known = new Set(OLD)
  expect(rows.map((row) => row.contact_id)).toEqual(ids)
  expect(rows.filter((row) => row.created_at !== (known.has(row.contact_id) ? T : T + 1))).toEqual([])
  database.close()
})

test('[W2] a file from before lists were replaced like this keeps its lists', async () => {
  const path = newPath()
  const database = await openSqlite({ path })
  const before = MIGRATIONS.filter(({ name }) => name < '0007')
  expect(await migrate(database, before, T)).toHaveLength(6)
  await database.transaction((tx) =>
    tx.run(
      'INSERT INTO contact (owner_id, contact_id, created_at) SELECT $1, entry.value, $3 FROM json_each($2) AS entry',
      ['owner', JSON.stringify(OLD), T],
    ),
  )
  await database.close()

  const archive = await createSqliteArchive({ path })
  expect(await archive.migrate()).toContain('0007_contact_replacement')
  expect(await listIn(archive)).toEqual(OLD)
  await archive.replaceContacts('owner', NEW, T)
  expect(await listIn(archive)).toEqual(NEW)
  await archive.close()
})
