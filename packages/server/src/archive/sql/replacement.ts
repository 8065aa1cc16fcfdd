// Replaces contact lists where there is one writer. A single transaction for a long list would block all
// other writers, and its commit the event loop. So a replacement takes many short transactions under a
// claim: contacts that leave are marked 'old', contacts that come are added as 'new', one update switches
// what is shown from 'old' to 'new', then hidden rows, marks and the claim are deleted. A reader never sees
// half a list. A process that finds the claim of another, which may have crashed, takes it over: it keeps
// what is shown and deletes the rest.
import { randomName } from '../../platform/ids.ts'
import { createKeyedQueues } from '../../platform/serial-queue.ts'
import { CONTACTS_PER_STATEMENT_MAX, type ContactRows, PER_STATEMENT } from './contact-rows.ts'
import type { SqlDatabase, SqlDialect, SqlSession } from './database.ts'
import { inSlices, sortedSet } from './slices.ts'

/** Edits, of all lists together, that wait for another edit of the same list. */
const EDITS_WAITING_MAX = 10_000
/** A difference up to this size is written in one transaction, without marks. */
const CHANGES_AT_ONCE_MAX = CONTACTS_PER_STATEMENT_MAX
/** Rows visited in one transaction of the cleanup. */
const FINISHED_AT_ONCE_MAX = 500

/** Runs part of an edit in a transaction. */
type Step = <Result>(run: (tx: SqlSession) => Promise<Result>) => Promise<Result>

/** Another process took the claim over and removed our marks. */
class Overtaken extends Error {}

export interface ListEdits {
  /** Runs in one transaction, on a list that is not being replaced. */
  edit<Result>(ownerId: string, run: (tx: SqlSession) => Promise<Result>): Promise<Result>
  replace(ownerId: string, ids: readonly string[], now: number): Promise<void>
  /** Finishes replacements that a crash interrupted. */
  finishClaimed(): Promise<void>
}

export function createListEdits(database: SqlDatabase, contacts: ContactRows): ListEdits {
  const { pause } = database
  const sql = replacementStatements(database.dialect)
  const queueFor = createKeyedQueues(EDITS_WAITING_MAX, 'an edit of a contact list')

  const isClaimed = async (tx: SqlSession, ownerId: string) =>
    (await tx.rows(sql.claimOf, [ownerId])).length > 0

  /** Transactions that first check that the claim is still ours. */
  const stepsUnder =
    (ownerId: string, claim: string): Step =>
    (run) =>
      database.transaction(async (tx) => {
        const [held] = await tx.rows<{ claim: string }>(sql.claimOf, [ownerId])
        if (held?.claim !== claim) throw new Overtaken()
        return run(tx)
      })

  async function editUnclaimed<Result>(
    ownerId: string,
    run: (tx: SqlSession) => Promise<Result>,
  ): Promise<Result> {
    while (true) {
      const done = await database.transaction(async (tx) =>
        (await isClaimed(tx, ownerId)) ? null : { result: await run(tx) },
      )
      if (done !== null) return done.result
      await takeOver(ownerId)
    }
  }

  async function takeOver(ownerId: string): Promise<void> {
    const claim = randomName('')
    await database.transaction((tx) => tx.run(sql.takeOver, [ownerId, claim]))
    await unlessOvertaken(finishList(ownerId, stepsUnder(ownerId, claim)))
  }

  async function finishList(ownerId: string, step: Step): Promise<void> {
    let afterId = ''
    let isLast = false
    while (!isLast) {
      const rows = await step(async (tx) => {
        const found = await contacts.page(tx.rows, ownerId, afterId, FINISHED_AT_ONCE_MAX)
        const range = [ownerId, afterId, found.at(-1)?.contact_id ?? afterId]
        await tx.run(sql.deleteHidden, range)
        await tx.run(sql.unmarkShown, range)
        return found
      })
      isLast = rows.length < FINISHED_AT_ONCE_MAX
      afterId = rows.at(-1)?.contact_id ?? afterId
      await pause()
    }
    await step((tx) => tx.run(sql.endClaim, [ownerId]))
  }

  async function inSteps(ownerId: string, ids: readonly string[], now: number): Promise<void> {
    const wanted = await sortedSet(ids, pause)
    const claim = randomName('')
    await editUnclaimed(ownerId, (tx) => tx.run(sql.claim, [ownerId, claim]))
    const step = stepsUnder(ownerId, claim)
    const difference = await contacts.difference(database.read, ownerId, wanted)
    const { gone, missing } = difference
    if (gone.length + missing.length <= CHANGES_AT_ONCE_MAX) {
      await step(async (tx) => {
        await contacts.change(tx, ownerId, difference, now)
        await tx.run(sql.endClaim, [ownerId])
      })
      return
    }
    await inSlices(gone, PER_STATEMENT, pause, (slice) =>
      step((tx) => tx.run(sql.markOld, [ownerId, JSON.stringify(slice)])),
    )
    await inSlices(missing, PER_STATEMENT, pause, (slice) =>
      step((tx) => tx.run(sql.addNew, [ownerId, JSON.stringify(slice), now])),
    )
    await step((tx) => tx.run(sql.showNew, [ownerId]))
    // The new list is shown: a process that takes over from here finishes the same cleanup.
    await unlessOvertaken(finishList(ownerId, step))
  }

  // The fallback: two processes that replace one list could overtake each other forever.
  async function atOnce(ownerId: string, ids: readonly string[], now: number): Promise<void> {
    const wanted = await sortedSet(ids, pause)
    await database.transaction(async (tx) => {
      if (await isClaimed(tx, ownerId)) await finishList(ownerId, (run) => run(tx))
      await contacts.change(tx, ownerId, await contacts.difference(tx.rows, ownerId, wanted), now)
    })
  }

  return {
    edit: (ownerId, run) => queueFor(ownerId, () => editUnclaimed(ownerId, run)),

    replace: (ownerId, ids, now) =>
      queueFor(ownerId, async () => {
        if (!(await unlessOvertaken(inSteps(ownerId, ids, now)))) await atOnce(ownerId, ids, now)
      }),

    async finishClaimed() {
      const claims = await database.read<{ owner_id: string }>(sql.claims)
      for (const { owner_id } of claims) await queueFor(owner_id, () => takeOver(owner_id))
    },
  }
}

/** Returns whether the work finished. */
async function unlessOvertaken(work: Promise<unknown>): Promise<boolean> {
  try {
    await work
    return true
  } catch (error) {
    if (error instanceof Overtaken) return false
    throw error
  }
}

function replacementStatements(dialect: SqlDialect) {
  const inRange = 'owner_id = $1 AND contact_id > $2 AND contact_id <= $3'
  return {
    claims: 'SELECT owner_id FROM contact_replacement ORDER BY owner_id',
    claimOf: 'SELECT claim FROM contact_replacement WHERE owner_id = $1',
    claim: `INSERT INTO contact_replacement (owner_id, claim, shown) VALUES ($1, $2, 'old')`,
    takeOver: 'UPDATE contact_replacement SET claim = $2 WHERE owner_id = $1',
    endClaim: 'DELETE FROM contact_replacement WHERE owner_id = $1',
    markOld: `
      UPDATE contact SET edition = 'old' WHERE owner_id = $1
      AND contact_id IN (SELECT entry.value FROM ${dialect.jsonTexts('$2')})`,
    // Ids that differ here may be equal for the database: then the contact is in both lists.
    addNew: `
      INSERT INTO contact (owner_id, contact_id, created_at, edition)
      SELECT $1, entry.value, $3, 'new' FROM ${dialect.jsonTexts('$2')} WHERE true
      ON CONFLICT (owner_id, contact_id) DO UPDATE SET edition = NULL WHERE edition = 'old'`,
    showNew: `UPDATE contact_replacement SET shown = 'new' WHERE owner_id = $1`,
    deleteHidden: `
      DELETE FROM contact WHERE ${inRange}
      AND edition <> (SELECT shown FROM contact_replacement WHERE owner_id = $1)`,
    // Runs after deleteHidden, on the rows that remain.
    unmarkShown: `UPDATE contact SET edition = NULL WHERE ${inRange} AND edition IS NOT NULL`,
  }
}
