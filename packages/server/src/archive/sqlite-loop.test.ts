// How long the event loop stands still while a SQLite file holds a list of a hundred thousand
// contacts and works on it. Everything else a process does waits that long, so it is never to be
// more than twenty milliseconds, whatever the archive does.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { longestStandstillMs, STILL_MS_MAX } from '../../../../testing/e2e/standstill.ts'
import { systemClock } from '../platform/clock.ts'
import type { Archive } from './port.ts'
import { createSqlArchive } from './sql/sql.ts'
import { createSqliteArchive, openSqlite } from './sqlite.ts'

const CONTACTS = 100_000
const TIMEOUT_MS = 60_000
const T = 1_700_000_000_000

/** As long as a UUID, and nearly as long as an id may be. */
const ID_LENGTHS = [36, 120]

// In no order, as a backend may send them.
const ids = (letter: string, length: number) =>
  Array.from(
    { length: CONTACTS },
    (_, n) => `${letter}${String((n * 7919) % CONTACTS).padStart(length - 1, '0')}`,
  )
const here = ids('a', 36)
const others = ids('b', 36)

let folder: string
let archive: Archive
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'greendot-loop-'))
  archive = await createSqliteArchive({ path: join(folder, 'loop.db') })
  await archive.migrate()
})
afterAll(async () => {
  await archive.close()
  rmSync(folder, { recursive: true })
})

/** With the checkpoint that a writer leaves behind it in the line. */
const andAfter = async (work: Promise<unknown>) => {
  await work
  await archive.markAlive(T)
}

/** Reads it again and again while it is replaced, when half of its rows are not to be seen. */
async function replaceBesideReader(contactIds: readonly string[]): Promise<void> {
  let isReplaced = false
  const replacing = archive.replaceContacts('owner', contactIds, T).finally(() => {
    isReplaced = true
  })
  while (!isReplaced) {
    await archive.contactsOf('owner', 501)
    await new Promise((resolve) => setImmediate(resolve))
  }
  await andAfter(replacing)
}

/** One after the other, each on what the one before has left. */
const works = (some: string[], others: string[]): [string, () => Promise<unknown>][] => [
  ['add', () => andAfter(archive.addContacts('owner', some, T))],
  ['add them again', () => andAfter(archive.addContacts('owner', some, T))],
  ['read 501', () => archive.contactsOf('owner', 501)],
  ['read all', () => archive.contactsOf('owner')],
  ['read all as JSON', () => archive.contactsJson('owner')],
  ['ask', () => archive.areContacts(some.map((contactId) => ({ ownerId: 'owner', contactId })))],
  ['replace by the same', () => andAfter(archive.replaceContacts('owner', some, T))],
  ['replace by others', () => andAfter(archive.replaceContacts('owner', others, T))],
  ['replace beside a reader', () => replaceBesideReader(some)],
  ['remove', () => andAfter(archive.removeContacts('owner', some))],
]

test.each(ID_LENGTHS)(
  '[W2] [C9] a list of 100,000 contacts with ids of %d characters never holds up the event loop',
  async (length) => {
    for (const [what, work] of works(ids('a', length), ids('b', length))) {
      const stillMs = await longestStandstillMs(work)
      console.log(`${what}: at most ${stillMs.toFixed(1)} ms`)
      expect(stillMs, what).toBeLessThanOrEqual(STILL_MS_MAX)
    }
    expect(await archive.contactsOf('owner')).toEqual([])
  },
  TIMEOUT_MS,
)

test(
  '[C9] nor does a checkpoint, however much is in the log',
  async () => {
    const path = join(folder, 'log.db')
    const database = await openSqlite({ path })
    const large = createSqlArchive(database, systemClock)
    await large.migrate()
    // One transaction, so that all of it is in the log at its end.
    const longest = ids('a', 128)
    await database.transaction((tx) =>
      tx.run(
        'INSERT INTO contact (owner_id, contact_id, created_at) SELECT $1, value, $3 FROM json_each($2)',
        ['owner', JSON.stringify(longest), T],
      ),
    )
    const logBytes = Bun.file(`${path}-wal`).size
    const stillMs = await longestStandstillMs(() => large.markAlive(T))
    console.log(`checkpoint of ${Math.round(logBytes / 1e6)} MB: at most ${stillMs.toFixed(1)} ms`)
    expect(logBytes).toBeGreaterThan(25e6)
    expect(stillMs).toBeLessThanOrEqual(STILL_MS_MAX)
    // It was made: what comes next goes into the same log from its beginning.
    await large.removeContacts('owner', longest.slice(0, CONTACTS / 2))
    expect(Bun.file(`${path}-wal`).size).toBeLessThan(logBytes * 1.5)
    await large.close()
  },
  TIMEOUT_MS,
)

test(
  '[X6] [C9] nor does erasing somebody who is in 100,000 lists and has as many contacts',
  async () => {
    await archive.addContacts('owner', here, T)
    for (let start = 0; start < CONTACTS; start += 5_000) {
      await Promise.all(here.slice(start, start + 5_000).map((id) => archive.addContacts(id, ['owner'], T)))
    }
    const listing = await longestStandstillMs(() => archive.ownersOf('owner', '', 1_000))
    const erasing = await longestStandstillMs(() => andAfter(archive.erase('owner')))
    console.log(
      `list 1,000 owners: at most ${listing.toFixed(1)} ms; erase: at most ${erasing.toFixed(1)} ms`,
    )
    expect(listing).toBeLessThanOrEqual(STILL_MS_MAX)
    expect(erasing).toBeLessThanOrEqual(STILL_MS_MAX)
    expect(await archive.ownersOf('owner', '', 1)).toEqual([])
    expect(await archive.contactsOf('owner', 1)).toEqual([])
  },
  TIMEOUT_MS,
)

test(
  '[X6] [C9] nor does looking through the privacy of 100,000 people',
  async () => {
    const privacy = {
      statusVisibility: 'contacts' as const,
      lastSeenVisibility: null,
      reciprocal: false,
      lastSeenPrecision: 'exact' as const,
      allow: others.slice(0, 5),
      setAt: T,
    }
    for (let start = 0; start < CONTACTS; start += 1_000) {
      await archive.writeSettings(
        here.slice(start, start + 1_000).map((userId) => ({
          userId,
          availability: null,
          customStatus: null,
          awayAfter: null,
          privacy: { ...privacy, deny: [`not-${userId}`] },
        })),
      )
    }
    const nobody = await longestStandstillMs(() => archive.namedBy('nobody', '', 1_000))
    // The word is in every setting, so every setting is parsed.
    const everybody = await longestStandstillMs(() => archive.namedBy('deny', '', 1_000))
    console.log(`look for nobody: at most ${nobody.toFixed(1)} ms; parse all: ${everybody.toFixed(1)} ms`)
    expect(nobody).toBeLessThanOrEqual(STILL_MS_MAX)
    expect(everybody).toBeLessThanOrEqual(STILL_MS_MAX)
    expect(await archive.namedBy(`not-${here[7]}`, '', 10)).toEqual([here[7]!])
  },
  TIMEOUT_MS,
)
