// The contact lists of the SQL archive. A list may have a hundred thousand entries, so all work goes
// through it in slices. How an edit is isolated depends on the database: where transactions run
// concurrently, an edit is one transaction with a lock on the list; otherwise see replacement.ts.
import type { Archive } from '../port.ts'
import {
  CONTACTS_PER_PAGE,
  type ContactRow,
  type ContactRows,
  createContactRows,
  PER_STATEMENT,
} from './contact-rows.ts'
import { hasOneWriter, type SqlDatabase, type SqlSession } from './database.ts'
import { createListEdits, type ListEdits } from './replacement.ts'
import { inSlices, sorted, sortedSet } from './slices.ts'
import type { SqlStatements } from './statements.ts'

const PAIRS_PER_READ_MAX = 1000
/** Entries of an erased user in one statement. Each is in another list, on a page of its own. */
const FORGOTTEN_PER_STATEMENT_MAX = 250

type Reading = 'contactsOf' | 'contactsJson' | 'areContacts' | 'ownersOf' | 'ownersOfErased'
type Editing = 'addContacts' | 'removeContacts' | 'replaceContacts'

interface ContactLists extends Pick<Archive, Reading | Editing> {
  /** Deletes the list of the user, and the user from the lists of others. */
  forgetContacts(userId: string): Promise<void>
  /** Finishes edits that a crash interrupted. */
  finishClaimed(): Promise<void>
}

interface JsonPage {
  json: string
  length: number | string
  last_id: string | null
}

export function createSqlContacts(database: SqlDatabase, sql: SqlStatements): ContactLists {
  const { pause } = database
  const contacts = createContactRows(database, sql)
  const edits = hasOneWriter(database.dialect)
    ? createListEdits(database, contacts)
    : createLockedEdits(database, contacts)

  const owners = (statement: string) => async (contactId: string, afterId: string, limit: number) => {
    const rows = await database.read<{ owner_id: string }>(statement, [contactId, afterId, limit])
    return rows.map((row) => row.owner_id)
  }

  async function jsonPage(rows: SqlSession['rows'], ownerId: string, afterId: string) {
    const [found] = await rows<JsonPage>(sql.contactsJsonPage, [ownerId, afterId, CONTACTS_PER_PAGE])
    const { json, length, last_id } = found!
    return { inner: json.slice(1, -1), isLast: Number(length) < CONTACTS_PER_PAGE, lastId: last_id ?? '' }
  }

  async function pages(rows: SqlSession['rows'], ownerId: string, limit: number): Promise<string[]> {
    const ids: string[] = []
    let afterId = ''
    while (true) {
      const next = await contacts.page(rows, ownerId, afterId, CONTACTS_PER_PAGE)
      ids.push(...shownIds(next))
      if (ids.length >= limit) return ids.slice(0, limit)
      if (next.length < CONTACTS_PER_PAGE) return ids
      afterId = next.at(-1)!.contact_id
      await pause()
    }
  }

  return {
    async contactsOf(ownerId, limit = Number.MAX_SAFE_INTEGER) {
      // One statement is a snapshot too, and it is enough for all but the longest lists.
      const firstMax = Math.min(CONTACTS_PER_PAGE, limit)
      const first = await contacts.page(database.read, ownerId, '', firstMax)
      const ids = shownIds(first)
      if (first.length < firstMax || ids.length === limit) return ids
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

    ownersOf: owners(sql.ownersOf),
    ownersOfErased: owners(sql.ownersOfErased),

    async addContacts(ownerId, ids, now) {
      await inSlices(await sorted(ids, pause), PER_STATEMENT, pause, (slice) =>
        edits.edit(ownerId, (tx) => contacts.insert(tx, ownerId, slice, now)),
      )
    },

    async removeContacts(ownerId, ids) {
      await inSlices(await sorted(ids, pause), PER_STATEMENT, pause, (slice) =>
        edits.edit(ownerId, (tx) => contacts.remove(tx, ownerId, slice)),
      )
    },

    replaceContacts: edits.replace,

    async forgetContacts(userId) {
      for (const statement of [sql.forgetContacts, sql.forgetAsContact]) {
        const forgetSome = () =>
          edits.edit(userId, (tx) => tx.run(statement, [userId, FORGOTTEN_PER_STATEMENT_MAX]))
        while ((await forgetSome()) > 0) await pause()
      }
    },

    finishClaimed: edits.finishClaimed,
  }
}

/** Edits of one list are serialised by a lock, so each sees the result of the one before. */
function createLockedEdits(database: SqlDatabase, contacts: ContactRows): ListEdits {
  const edit: ListEdits['edit'] = (ownerId, run) =>
    database.transaction(async (tx) => {
      await tx.rows(database.dialect.lock!, [`contact ${ownerId}`])
      return run(tx)
    })
  return {
    edit,
    async replace(ownerId, ids, now) {
      const wanted = await sortedSet(ids, database.pause)
      await edit(ownerId, async (tx) =>
        contacts.change(tx, ownerId, await contacts.difference(tx.rows, ownerId, wanted), now),
      )
    },
    // A crash rolls the whole transaction back.
    finishClaimed: async () => {},
  }
}

function shownIds(rows: readonly ContactRow[]): string[] {
  return rows.filter((row) => row.is_shown).map((row) => row.contact_id)
}
