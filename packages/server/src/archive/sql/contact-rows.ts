// The rows of one contact list, inside the transaction of the caller. Lists are long, so all work is done
// in slices, in the order of ids: neighbours share pages, and two writers on the same rows wait for each
// other in the same order, so they cannot deadlock.

import type { SqlDatabase, SqlSession } from './database.ts'
import { inSlices, type SliceLimits } from './slices.ts'
import type { SqlStatements } from './statements.ts'

/** Contacts in one statement. The rows of one owner are neighbours; only index entries are scattered. */
export const CONTACTS_PER_STATEMENT_MAX = 500
export const CONTACTS_PER_PAGE = 2000

/** Fewer contacts per statement where ids are long, because they fill more pages. */
export const PER_STATEMENT: SliceLimits<string> = {
  itemsMax: CONTACTS_PER_STATEMENT_MAX,
  size: { max: 32 * CONTACTS_PER_STATEMENT_MAX, of: (id) => id.length },
}

export interface ContactRow {
  contact_id: string
  is_shown: number | boolean | null
}

/** What turns the stored list into the wanted one. */
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

    /** For a list without marks. Removes from `wanted` the ids that are stored already. */
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

    /** Contacts that stay are not touched: they keep their date, and a typical replacement is cheap. */
    async change(tx: SqlSession, ownerId: string, { gone, missing }: ListDifference, now: number) {
      await inSlices(gone, PER_STATEMENT, pause, (slice) => remove(tx, ownerId, slice))
      await inSlices(missing, PER_STATEMENT, pause, (slice) => insert(tx, ownerId, slice, now))
    },
  }
}
