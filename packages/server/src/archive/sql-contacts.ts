// The contact lists of the SQL archive. A list may hold a hundred thousand people, so everything
// here goes through it in slices: ids in order, because then neighbours share pages, and because
// two writers that meet on the same rows wait for each other in turn, never both at once.
import type { Archive } from './port.ts'
import { inSlices, type SliceLimits, sorted, sortedSet } from './slices.ts'
import type { SqlDatabase, SqlSession } from './sql-database.ts'
import type { SqlStatements } from './sql-statements.ts'

/** Contacts in one statement; one owner's rows are neighbours, only the index is scattered. */
export const CONTACTS_PER_STATEMENT_MAX = 500
const CONTACTS_PER_PAGE = 2000
const PAIRS_PER_READ_MAX = 1000
/** Of somebody who is erased: each is in another list, on a page of its own. */
const FORGOTTEN_PER_STATEMENT_MAX = 250

type Reading = 'contactsOf' | 'contactsJson' | 'areContacts' | 'ownersOf'
type Editing = 'addContacts' | 'removeContacts' | 'replaceContacts'

interface ContactLists extends Pick<Archive, Reading | Editing> {
  /** Their own list, and them in the lists of others. */
  forgetContacts(userId: string): Promise<void>
}

interface JsonPage {
  json: string
  length: number | string
  last_id: string | null
}

/** Fewer of those with long ids, which share their pages with fewer others. */
const PER_STATEMENT: SliceLimits<string> = {
  itemsMax: CONTACTS_PER_STATEMENT_MAX,
  size: { max: 32 * CONTACTS_PER_STATEMENT_MAX, of: (id) => id.length },
}

export function createSqlContacts(database: SqlDatabase, sql: SqlStatements): ContactLists {
  const { pause } = database

  async function page(
    rows: SqlSession['rows'],
    ownerId: string,
    afterId: string,
    limit: number,
  ): Promise<string[]> {
    const found = await rows<{ contact_id: string }>(sql.contactsPage, [ownerId, afterId, limit])
    return found.map((row) => row.contact_id)
  }

  async function jsonPage(rows: SqlSession['rows'], ownerId: string, afterId: string) {
    const [found] = await rows<JsonPage>(sql.contactsJsonPage, [ownerId, afterId, CONTACTS_PER_PAGE])
    const { json, length, last_id } = found!
    return { inner: json.slice(1, -1), isLast: Number(length) < CONTACTS_PER_PAGE, lastId: last_id ?? '' }
  }

  /** Page after page, up to the last or the limit. */
  async function pages(rows: SqlSession['rows'], ownerId: string, limit: number): Promise<string[]> {
    const ids: string[] = []
    while (true) {
      const pageMax = Math.min(CONTACTS_PER_PAGE, limit - ids.length)
      const next = await page(rows, ownerId, ids.at(-1) ?? '', pageMax)
      ids.push(...next)
      if (next.length < CONTACTS_PER_PAGE || ids.length === limit) return ids
      await pause()
    }
  }

  /** Edits of one list stand in line, so that each finds it as the one before has left it. */
  const edit = <Result>(ownerId: string, run: (tx: SqlSession) => Promise<Result>) =>
    database.transaction(async (tx) => {
      const { lock } = database.dialect
      if (lock !== null) await tx.rows(lock, [`contact ${ownerId}`])
      return run(tx)
    })

  const insert = (tx: SqlSession, ownerId: string, ids: readonly string[], now: number) =>
    tx.run(sql.addContacts, [ownerId, JSON.stringify(ids), now])

  const remove = (tx: SqlSession, ownerId: string, ids: readonly string[]) =>
    tx.run(sql.removeContacts, [ownerId, JSON.stringify(ids)])

  return {
    async contactsOf(ownerId, limit = Number.MAX_SAFE_INTEGER) {
      // One statement is a snapshot too, and enough for all but the longest lists.
      const first = await page(database.read, ownerId, '', Math.min(CONTACTS_PER_PAGE, limit))
      if (first.length < CONTACTS_PER_PAGE || first.length === limit) return first
      return database.snapshot((rows) => pages(rows, ownerId, limit))
    },

    async contactsJson(ownerId) {
      const first = await jsonPage(database.read, ownerId, '')
      if (first.isLast) return `[${first.inner}]`
      return database.snapshot(async (rows) => {
        let inner = ''
        let afterId = ''
        while (true) {
          const next = await jsonPage(rows, ownerId, afterId)
          if (next.inner !== '') inner += inner === '' ? next.inner : `,${next.inner}`
          if (next.isLast) return `[${inner}]`
          afterId = next.lastId
          await pause()
        }
      })
    },

    async areContacts(pairs) {
      const answers = new Array<boolean>(pairs.length).fill(false)
      let start = 0
      await inSlices(pairs, { itemsMax: PAIRS_PER_READ_MAX }, pause, async (slice) => {
        const rows = slice.map(({ ownerId, contactId }, at) => [start + at, ownerId, contactId])
        const found = await database.read<{ position: number | string }>(sql.areContacts, [
          JSON.stringify(rows),
        ])
        for (const { position } of found) answers[Number(position)] = true
        start += slice.length
      })
      return answers
    },

    async ownersOf(contactId, afterId, limit) {
      const rows = await database.read<{ owner_id: string }>(sql.ownersOf, [contactId, afterId, limit])
      return rows.map((row) => row.owner_id)
    },

    async addContacts(ownerId, ids, now) {
      await inSlices(await sorted(ids, pause), PER_STATEMENT, pause, (slice) =>
        edit(ownerId, (tx) => insert(tx, ownerId, slice, now)),
      )
    },

    async removeContacts(ownerId, ids) {
      await inSlices(await sorted(ids, pause), PER_STATEMENT, pause, (slice) =>
        edit(ownerId, (tx) => remove(tx, ownerId, slice)),
      )
    },

    // Only the difference is written, so that those who stay keep their date and the usual
    // replacement, which changes little, costs little.
    async replaceContacts(ownerId, ids, now) {
      const missing = await sortedSet(ids, pause)
      await edit(ownerId, async (tx) => {
        let afterId = ''
        let isLast = false
        while (!isLast) {
          const present = await page(tx.rows, ownerId, afterId, CONTACTS_PER_PAGE)
          const gone = present.filter((id) => !missing.delete(id))
          await inSlices(gone, PER_STATEMENT, pause, (slice) => remove(tx, ownerId, slice))
          isLast = present.length < CONTACTS_PER_PAGE
          afterId = present.at(-1) ?? ''
          await pause()
        }
        await inSlices([...missing], PER_STATEMENT, pause, (slice) => insert(tx, ownerId, slice, now))
        // After so many writes the commit itself is long.
        await pause()
      })
    },

    async forgetContacts(userId) {
      for (const statement of [sql.forgetContacts, sql.forgetAsContact]) {
        const forgetSome = () =>
          edit(userId, (tx) => tx.run(statement, [userId, FORGOTTEN_PER_STATEMENT_MAX]))
        while ((await forgetSome()) > 0) await pause()
      }
    },
  }
}
