// The rows of one contact list, for whoever edits it, in whatever transaction they are. Lists are
// long, so everything here is done in slices: ids in order, because then neighbours share pages, and
// because two writers that meet on the same rows wait for each other in turn, never both at once.

import type { SqlDatabase, SqlSession } from './database.ts'
import { inSlices, type SliceLimits } from './slices.ts'
import type { SqlStatements } from './statements.ts'

/** Contacts in one statement; one owner's rows are neighbours, only the index is scattered. */
export const CONTACTS_PER_STATEMENT_MAX = 500
export const CONTACTS_PER_PAGE = 2000

/** Fewer of those with long ids, which share their pages with fewer others. */
export const PER_STATEMENT: SliceLimits<string> = {
  itemsMax: CONTACTS_PER_STATEMENT_MAX,
  size: { max: 32 * CONTACTS_PER_STATEMENT_MAX, of: (id) => id.length },
}

export interface ContactRow {
  contact_id: string
  is_shown: number | boolean | null
}

/** What makes another list of the one that is stored. */
export interface ListDifference {
  gone: readonly string[]
  missing: readonly string[]
}

export type ContactRows = ReturnType<typeof createContactRows>

export function createContactRows(database: SqlDatabase, sql: SqlStatements) {
  const { pause } = database

  const page = (rows: SqlSession['rows'], ownerId: string, afterId: string, limit: number) =>
    rows<ContactRow>(sql.contactsPage, [ownerId, afterId, limit])

  const insert = (tx: SqlSession, ownerId: string, ids: readonly string[], now: number) =>
    tx.run(sql.addContacts, [ownerId, JSON.stringify(ids), now])

  const remove = (tx: SqlSession, ownerId: string, ids: readonly string[]) =>
    tx.run(sql.removeContacts, [ownerId, JSON.stringify(ids)])

  return {
    page,
    insert,
    remove,

    /** Of a list without marks. Takes those who stay out of the wanted ones. */
    async difference(
      rows: SqlSession['rows'],
      ownerId: string,
      wanted: Set<string>,
    ): Promise<ListDifference> {
      const gone: string[] = []
      let afterId = ''
      while (true) {
        const present = await page(rows, ownerId, afterId, CONTACTS_PER_PAGE)
        for (const { contact_id } of present) if (!wanted.delete(contact_id)) gone.push(contact_id)
        if (present.length < CONTACTS_PER_PAGE) return { gone, missing: [...wanted] }
        afterId = present.at(-1)!.contact_id
        await pause()
      }
    },

    /** Those who stay are not touched: they keep their date, and the usual replacement costs little. */
    async change(tx: SqlSession, ownerId: string, { gone, missing }: ListDifference, now: number) {
      await inSlices(gone, PER_STATEMENT, pause, (slice) => remove(tx, ownerId, slice))
      await inSlices(missing, PER_STATEMENT, pause, (slice) => insert(tx, ownerId, slice, now))
    },
  }
}
