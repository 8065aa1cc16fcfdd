// How long the event loop is blocked while a SQLite file holds 100,000 contacts and works on them.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Archive } from '../../../server/src/archive/port.ts'
import { createSqlArchive } from '../../../server/src/archive/sql/sql.ts'
import { createSqliteArchive, openSqlite } from '../../../server/src/archive/sqlite.ts'
import { chunksOf } from '../../../server/src/platform/chunks.ts'
import { systemClock } from '../../../server/src/platform/clock.ts'
import { type BoundGroup, createLargest, type Value } from './bounds.ts'
import { longestBlockMs } from './event-loop.ts'

const CONTACTS = 100_000
const T = 1_700_000_000_000
/** As long as a UUID, and nearly as long as an id may be. */
const ID_LENGTHS = [36, 120]
const LOG_BYTES_MIN = 25e6

/** In no order, as a backend may send them. */
const idsOf = (letter: string, length: number): string[] =>
  Array.from(
    { length: CONTACTS },
    (_, n) => `${letter}${String((n * 7919) % CONTACTS).padStart(length - 1, '0')}`,
  )

async function withArchive<T>(work: (archive: Archive, folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'greendot-check-'))
  const archive = await createSqliteArchive({ path: join(folder, 'check.db') })
  try {
    await archive.migrate()
    return await work(archive, folder)
  } finally {
    await archive.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** With the checkpoint that follows a write. */
async function andCheckpoint(archive: Archive, work: Promise<unknown>): Promise<void> {
  await work
  await archive.markAlive(T)
}

/** Reads the list again and again while it is replaced and half of its rows are hidden. */
async function replaceBesideReader(archive: Archive, contactIds: readonly string[]): Promise<void> {
  let isReplaced = false
  const replacing = archive.replaceContacts('owner', contactIds, T).finally(() => {
    isReplaced = true
  })
  while (!isReplaced) {
    await archive.contactsOf('owner', 501)
    await systemClock.nextTurn()
  }
  await andCheckpoint(archive, replacing)
}

async function contactList(archive: Archive): Promise<Value> {
  const largest = createLargest('contact list in SQLite')
  for (const length of ID_LENGTHS) {
    const some = idsOf('a', length)
    const others = idsOf('b', length)
    const pairs = some.map((contactId) => ({ ownerId: 'owner', contactId }))
    // Each step works on what the one before has left.
    const steps: [string, () => Promise<unknown>][] = [
      ['add', () => andCheckpoint(archive, archive.addContacts('owner', some, T))],
      ['add again', () => andCheckpoint(archive, archive.addContacts('owner', some, T))],
      ['read 501', () => archive.contactsOf('owner', 501)],
      ['read all', () => archive.contactsOf('owner')],
      ['read all as JSON', () => archive.contactsJson('owner')],
      ['look up all', () => archive.areContacts(pairs)],
      ['replace by the same', () => andCheckpoint(archive, archive.replaceContacts('owner', some, T))],
      ['replace by others', () => andCheckpoint(archive, archive.replaceContacts('owner', others, T))],
      ['replace beside a reader', () => replaceBesideReader(archive, some)],
      ['remove', () => andCheckpoint(archive, archive.removeContacts('owner', some))],
    ]
    for (const [step, work] of steps) largest.add(`${step}, ids of ${length}`, await longestBlockMs(work))
  }
  return largest.value()
}

async function checkpoint(folder: string): Promise<Value> {
  const path = join(folder, 'log.db')
  const database = await openSqlite({ path })
  const archive = createSqlArchive(database, systemClock)
  await archive.migrate()
  // One transaction, so that all of it is in the log at its end.
  await database.transaction((tx) =>
    tx.run('INSERT INTO contact (owner_id, contact_id, created_at) SELECT $1, value, $3 FROM json_each($2)', [
      'owner',
      JSON.stringify(idsOf('a', 128)),
      T,
    ]),
  )
  const logBytes = Bun.file(`${path}-wal`).size
  if (logBytes < LOG_BYTES_MIN) throw new Error(`the log has only ${logBytes} bytes`)
  const value = await longestBlockMs(() => archive.markAlive(T))
  await archive.close()
  return { name: 'checkpoint of SQLite', value }
}

async function erase(archive: Archive): Promise<Value> {
  const ids = idsOf('a', 36)
  await archive.addContacts('owner', ids, T)
  for (const some of chunksOf(ids, 5_000))
    await Promise.all(some.map((id) => archive.addContacts(id, ['owner'], T)))
  const largest = createLargest('erase in SQLite')
  largest.add('list 1,000 owners', await longestBlockMs(() => archive.ownersOf('owner', '', 1_000)))
  largest.add('erase', await longestBlockMs(() => andCheckpoint(archive, archive.erase('owner'))))
  return largest.value()
}

async function privacyScan(archive: Archive): Promise<Value> {
  const ids = idsOf('a', 36)
  const privacy = {
    statusVisibility: 'contacts' as const,
    lastSeenVisibility: null,
    reciprocal: false,
    lastSeenPrecision: 'exact' as const,
    allow: idsOf('b', 36).slice(0, 5),
    setAt: T,
  }
  const none = { availability: null, customStatus: null, awayAfter: null, history: null }
  for (const some of chunksOf(ids, 1_000))
    await archive.writeSettings(
      some.map((userId) => ({ userId, ...none, privacy: { ...privacy, deny: [`not-${userId}`] } })),
    )
  const largest = createLargest('privacy scan in SQLite')
  largest.add('an id in no setting', await longestBlockMs(() => archive.namedBy('unknown', '', 1_000)))
  // The word is in every setting, so every setting is parsed.
  largest.add('parse all settings', await longestBlockMs(() => archive.namedBy('deny', '', 1_000)))
  return largest.value()
}

export const contactLists: BoundGroup = {
  name: 'sqlite',
  bounds: ['contact list in SQLite', 'checkpoint of SQLite', 'erase in SQLite', 'privacy scan in SQLite'],
  run: () =>
    withArchive(async (archive, folder) => [
      await contactList(archive),
      await checkpoint(folder),
      await erase(archive),
      await privacyScan(archive),
    ]),
}
