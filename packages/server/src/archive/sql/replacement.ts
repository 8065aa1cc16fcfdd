// Replacing contact lists where there is one writer. In a single transaction a long list would hold up
// everybody else who writes, and its commit the event loop. So it takes many short ones, under a claim:
// who leaves the list is marked 'old' and who comes is added as 'new', then one row switches what is
// shown from 'old' to 'new', then rows that are not shown are deleted, and marks and claim are taken away.
// A marked row is in the list while its mark is shown, so nobody ever sees half a list. Whoever finds the
// claim of another, who may have crashed, takes it over: what is shown then stays, the rest is deleted.
import { randomName } from '../../platform/ids.ts'
import { createKeyedQueues } from '../serial-queue.ts'
import { CONTACTS_PER_STATEMENT_MAX, type ContactRows, PER_STATEMENT } from './contact-rows.ts'
import type { SqlDatabase, SqlDialect, SqlSession } from './database.ts'
import { inSlices, sortedSet } from './slices.ts'

/** Edits of all lists that wait for another edit of the same list. */
const EDITS_WAITING_MAX = 10_000
/** A difference as small as that is written in one transaction, without marks. */
const CHANGES_AT_ONCE_MAX = CONTACTS_PER_STATEMENT_MAX
/** Rows that are looked at in one transaction to take them or their marks away. */
const SETTLED_AT_ONCE_MAX = 500

/** Runs part of an edit in a transaction. */
type Step = <Result>(run: (tx: SqlSession) => Promise<Result>) => Promise<Result>

/** Somebody else has taken our claim over, and what we have marked is gone. */
class Overtaken extends Error {}

export interface ListEdits {
  /** In one transaction, on a list that nobody is replacing. */
  edit<Result>(ownerId: string, run: (tx: SqlSession) => Promise<Result>): Promise<Result>
  replace(ownerId: string, ids: readonly string[], now: number): Promise<void>
  /** Ends what crashes have left unfinished. */
  settle(): Promise<void>
}

export function createListEdits(database: SqlDatabase, contacts: ContactRows): ListEdits {
  const { pause } = database
  const sql = replacementStatements(database.dialect)
  const queueFor = createKeyedQueues(EDITS_WAITING_MAX, 'edits of their contact lists')

  const isClaimed = async (tx: SqlSession, ownerId: string) =>
    (await tx.rows(sql.claimOf, [ownerId])).length > 0

  /** Transactions in which the claim is certain to be ours still. */
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
    await unlessOvertaken(settleList(ownerId, stepsUnder(ownerId, claim)))
  }

  async function settleList(ownerId: string, step: Step): Promise<void> {
    let afterId = ''
    let isLast = false
    while (!isLast) {
      const rows = await step(async (tx) => {
        const found = await contacts.page(tx.rows, ownerId, afterId, SETTLED_AT_ONCE_MAX)
        const range = [ownerId, afterId, found.at(-1)?.contact_id ?? afterId]
        await tx.run(sql.deleteHidden, range)
        await tx.run(sql.unmarkShown, range)
        return found
      })
      isLast = rows.length < SETTLED_AT_ONCE_MAX
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
    // It is replaced: whoever overtakes us from now on settles the new list.
    await unlessOvertaken(settleList(ownerId, step))
  }

  // Two processes that edit one list could overtake each other for ever; here nobody can.
  async function atOnce(ownerId: string, ids: readonly string[], now: number): Promise<void> {
    const wanted = await sortedSet(ids, pause)
    await database.transaction(async (tx) => {
      if (await isClaimed(tx, ownerId)) await settleList(ownerId, (run) => run(tx))
      await contacts.change(tx, ownerId, await contacts.difference(tx.rows, ownerId, wanted), now)
    })
  }

  return {
    edit: (ownerId, run) => queueFor(ownerId, () => editUnclaimed(ownerId, run)),

    replace: (ownerId, ids, now) =>
      queueFor(ownerId, async () => {
        if (!(await unlessOvertaken(inSteps(ownerId, ids, now)))) await atOnce(ownerId, ids, now)
      }),

    async settle() {
      const claims = await database.read<{ owner_id: string }>(sql.claims)
      for (const { owner_id } of claims) await queueFor(owner_id, () => takeOver(owner_id))
    },
  }
}

/** Whether it came to its end. */
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
    // Texts that differ here may be one for the database: then it is in both lists.
    addNew: `
      INSERT INTO contact (owner_id, contact_id, created_at, edition)
      SELECT $1, entry.value, $3, 'new' FROM ${dialect.jsonTexts('$2')} WHERE true
      ON CONFLICT (owner_id, contact_id) DO UPDATE SET edition = NULL WHERE edition = 'old'`,
    showNew: `UPDATE contact_replacement SET shown = 'new' WHERE owner_id = $1`,
    deleteHidden: `
      DELETE FROM contact WHERE ${inRange}
      AND edition <> (SELECT shown FROM contact_replacement WHERE owner_id = $1)`,
    // Of those that are left.
    unmarkShown: `UPDATE contact SET edition = NULL WHERE ${inRange} AND edition IS NOT NULL`,
  }
}
