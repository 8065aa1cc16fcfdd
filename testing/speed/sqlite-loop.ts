// Longest standstill of the event loop, in milliseconds, while a SQLite archive works on 100,000 contacts (20).
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSqliteArchive } from '../../packages/server/src/archive/sqlite.ts'
import { longestStandstillMs } from './standstill.ts'

const CONTACTS = 100_000
/** Nearly as long as an id may be. */
const ID_CHARS = 120
const T = 1_700_000_000_000

/** In no order, as a backend may send them. */
const ids = (letter: string) =>
  Array.from(
    { length: CONTACTS },
    (_, n) => `${letter}${String((n * 7919) % CONTACTS).padStart(ID_CHARS - 1, '0')}`,
  )

export async function measure(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'greendot-loop-'))
  const archive = await createSqliteArchive({ path: join(folder, 'loop.db') })
  await archive.migrate()
  const [some, others] = [ids('a'), ids('b')]
  /** Each on what the one before has left; the marks wait for the checkpoint that a writer leaves behind. */
  const works: (() => Promise<unknown>)[] = [
    () => archive.addContacts('owner', some, T),
    () => archive.addContacts('owner', some, T),
    () => archive.contactsOf('owner'),
    () => archive.contactsJson('owner'),
    () => archive.areContacts(some.map((contactId) => ({ ownerId: 'owner', contactId }))),
    () => archive.replaceContacts('owner', some, T),
    () => archive.replaceContacts('owner', others, T),
    () => archive.removeContacts('owner', others.slice(0, CONTACTS / 2)),
    () => archive.erase('owner'),
  ]
  let longestMs = 0
  for (const work of works) {
    const stillMs = await longestStandstillMs(async () => {
      await work()
      await archive.markAlive(T)
    })
    longestMs = Math.max(longestMs, stillMs)
  }
  await archive.close()
  rmSync(folder, { recursive: true })
  return longestMs
}
