// Faults of PostgreSQL. A full disk is a trigger that raises the same error on every write.
import { SQL } from 'bun'
import type { Postgres } from '../../../services/postgres.ts'
import type { PlannedFault } from '../plan/plan-faults.ts'

const TABLES = ['user_last_seen', 'user_settings', 'user_privacy']
const DISK_FULL = `
CREATE OR REPLACE FUNCTION refuse_write() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$`

export async function breakArchive(
  { kind, forMs, which }: PlannedFault,
  { postgres, databaseUrl }: { postgres: Postgres; databaseUrl: string },
): Promise<void> {
  switch (kind) {
    case 'archive stopped':
      await postgres.kill(which % 2 === 0 ? 'SIGKILL' : 'SIGINT')
      await Bun.sleep(forMs)
      return postgres.restart()
    case 'archive frozen':
      await postgres.pause()
      await Bun.sleep(forMs)
      return postgres.resume()
    case 'table locked':
      return lockTable(databaseUrl, TABLES[which % TABLES.length]!, forMs)
    case 'archive full':
      return fillDisk(databaseUrl, forMs)
    default:
      throw new Error(`${kind} is no fault of PostgreSQL`)
  }
}

export async function lockTable(databaseUrl: string, table: string, forMs: number): Promise<void> {
  const sql = new SQL(databaseUrl, { max: 1 })
  try {
    await sql.begin(async (tx) => {
      await tx.unsafe(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`)
      await Bun.sleep(forMs)
    })
  } finally {
    await sql.close({ timeout: 0 })
  }
}

async function fillDisk(databaseUrl: string, forMs: number): Promise<void> {
  const sql = new SQL(databaseUrl, { max: 1 })
  const onEach = async (statement: (table: string) => string): Promise<void> => {
    for (const table of TABLES) await sql.unsafe(statement(table))
  }
  try {
    await sql.unsafe(DISK_FULL)
    await onEach(
      (table) =>
        `CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON ${table} EXECUTE FUNCTION refuse_write()`,
    )
    await Bun.sleep(forMs)
    await onEach((table) => `DROP TRIGGER full_disk ON ${table}`)
  } finally {
    await sql.close({ timeout: 0 })
  }
}
