// A SQLite archive works in the thread of the event loop, so long lists are worked on in slices, with turns
// of the loop in between. How long a slice takes is measured by `npm run bench:check`.
import { expect, test } from 'bun:test'
import { sqliteFiles } from '../../../../testing/worlds/sqlite-files.ts'
import { createSqliteArchive } from './sqlite.ts'

const CONTACTS = 20_000
const T = 1_700_000_000_000
const { newPath } = sqliteFiles()

// In no order, as a backend may send them.
const ids = (letter: string) =>
  Array.from({ length: CONTACTS }, (_, n) => `${letter}${String((n * 7919) % CONTACTS).padStart(35, '0')}`)

/** How many turns the event loop takes until the work is done. */
async function turnsOf(work: () => Promise<unknown>): Promise<number> {
  let turns = 0
  let isDone = false
  const count = () => {
    turns += 1
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  await work()
  isDone = true
  return turns
}

test('[W2] [X6] [C9] every operation on 20,000 contacts leaves turns to the event loop', async () => {
  const archive = await createSqliteArchive({ path: newPath() })
  await archive.migrate()
  const [some, others] = [ids('a'), ids('b')]
  // Each on what the one before has left.
  const works: [string, turnsMin: number, () => Promise<unknown>][] = [
    ['add', 40, () => archive.addContacts('owner', some, T)],
    ['add again', 40, () => archive.addContacts('owner', some, T)],
    ['read', 5, () => archive.contactsOf('owner')],
    ['read as JSON', 5, () => archive.contactsJson('owner')],
    [
      'ask for pairs',
      10,
      () => archive.areContacts(some.map((contactId) => ({ ownerId: 'owner', contactId }))),
    ],
    ['replace by the same', 40, () => archive.replaceContacts('owner', some, T)],
    ['replace by others', 80, () => archive.replaceContacts('owner', others, T)],
    ['remove', 20, () => archive.removeContacts('owner', others.slice(CONTACTS / 2))],
    ['erase', 20, () => archive.erase('owner')],
  ]
  for (const [what, turnsMin, work] of works) {
    expect(await turnsOf(work), what).toBeGreaterThanOrEqual(turnsMin)
  }
  expect(await archive.contactsOf('owner')).toEqual([])
  await archive.close()
})
