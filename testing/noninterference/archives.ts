// Archives for worlds: SQLite in memory, created once and emptied between worlds, because creating the schema
// takes longer than most histories. Two worlds at the same time have two databases.

import type { Archive } from '../../packages/server/src/archive/port.ts'
import type { SqlDatabase } from '../../packages/server/src/archive/sql/database.ts'
import { createSqlArchive } from '../../packages/server/src/archive/sql/sql.ts'
import { openSqlite } from '../../packages/server/src/archive/sqlite.ts'
import { type Clock, systemClock } from '../../packages/server/src/platform/clock.ts'

export interface Borrowed {
  archive: Archive
  /** Nothing may be under way any more. */
  giveBack(): Promise<void>
}

interface Owned {
  database: SqlDatabase
  tables: readonly string[]
  /** The clock of the world that has it now. */
  turnTo(clock: Clock): void
}

const free: Owned[] = []

export async function borrowArchive(clock: Clock): Promise<Borrowed> {
  const owned = free.pop() ?? (await open())
  owned.turnTo(clock)
  const archive = createSqlArchive(owned.database, clock)
  return {
    archive,
    async giveBack() {
      owned.turnTo(systemClock)
      await owned.database.transaction(async ({ run }) => {
        for (const table of owned.tables) await run(`DELETE FROM ${table}`)
      })
      free.push(owned)
    },
  }
}

async function open(): Promise<Owned> {
  let clock: Clock = systemClock
  const present: Clock = {
    now: () => clock.now(),
    elapsed: () => clock.elapsed(),
    after: (delayMs, run) => clock.after(delayMs, run),
    every: (intervalMs, run) => clock.every(intervalMs, run),
    soon: (run) => clock.soon(run),
    nextTurn: () => clock.nextTurn(),
    sleep: (delayMs) => clock.sleep(delayMs),
  }
  const database = await openSqlite({ path: ':memory:', clock: present })
  await createSqlArchive(database, present).migrate()
  const tables = await database.read<{ name: string }>(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'schema_migration'",
  )
  return {
    database,
    tables: tables.map(({ name }) => name),
    turnTo(next) {
      clock = next
    },
  }
}

/** Questions that a request or a watch waits for take their time, as they do over a network. */
export function slowed(
  archive: Archive,
  clock: Clock,
  archiveMs: number,
  questions: { asked: number; answered: number },
): Archive {
  async function later<T>(ask: () => Promise<T>): Promise<T> {
    questions.asked++
    try {
      if (archiveMs > 0) await clock.sleep(archiveMs)
      return await ask()
    } finally {
      questions.answered++
    }
  }
  return {
    ...archive,
    read: (userIds) => later(() => archive.read(userIds)),
    areContacts: (pairs) => later(() => archive.areContacts(pairs)),
  }
}
