// A copy of a SQLite database, taken while servers write to it. `VACUUM INTO` reads one snapshot and blocks no
// writer; the copy has live rows only, so nothing of an erased user is in it. The copy gets its name when it is
// complete and checked: a backup that was interrupted never looks like one.
import { Database } from 'bun:sqlite'
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs'

/** It holds what users set and whom they know. */
const OWNER_ONLY = 0o600
/** How long a statement waits for a lock of another process. */
const LOCK_WAIT_MAX_MS = 10_000

export interface SqliteBackup {
  tables: number
  rows: number
  bytes: number
}

/** Throws an error with a sentence when the copy cannot be made; then there is no file. */
export function backUpSqlite(path: string, target: string): SqliteBackup {
  if (!existsSync(path)) throw new Error(`there is no database at ${path}; check database_url`)
  const partial = `${target}.partial`
  // Reserves the name, so that two backups cannot meet and nothing is overwritten.
  create(target)
  try {
    create(partial)
    try {
      const backup = copy(path, partial)
      flush(partial)
      renameSync(partial, target)
      return backup
    } catch (error) {
      rmSync(partial, { force: true })
      throw error
    }
  } catch (error) {
    rmSync(target, { force: true })
    throw error
  }
}

function copy(path: string, partial: string): SqliteBackup {
  const source = new Database(path, { readonly: true })
  try {
    source.run(`PRAGMA busy_timeout = ${LOCK_WAIT_MAX_MS}`)
    const tables = tablesOf(source)
    if (tables.length === 0) throw new Error(`${path} has no tables; it is not a database of a server`)
    const versionBefore = dataVersionOf(source)
    const before = countsOf(source, tables)
    source.run('VACUUM INTO ?', [partial])
    // Where no other process wrote meanwhile, the copy has exactly the rows that were counted.
    const isSame = dataVersionOf(source) === versionBefore
    const counts = check(partial, tables, isSame ? before : null)
    const rows = [...counts.values()].reduce((sum, count) => sum + count, 0)
    return { tables: tables.length, rows, bytes: statSync(partial).size }
  } finally {
    source.close()
  }
}

function check(
  partial: string,
  tables: readonly string[],
  expected: ReadonlyMap<string, number> | null,
): ReadonlyMap<string, number> {
  const copied = new Database(partial, { readonly: true })
  try {
    const found = copied.query<{ integrity_check: string }, []>('PRAGMA integrity_check').all()
    const damage = found.map((row) => row.integrity_check).find((line) => line !== 'ok')
    if (damage !== undefined) throw new Error(`the copy is damaged: ${damage}`)
    const missing = tables.find((table) => !tablesOf(copied).includes(table))
    if (missing !== undefined) throw new Error(`the copy lacks the table ${missing}`)
    const counts = countsOf(copied, tables)
    const wrong = tables.find((table) => expected !== null && expected.get(table) !== counts.get(table))
    if (wrong !== undefined)
      throw new Error(`the copy has ${counts.get(wrong)} rows in ${wrong}, not ${expected?.get(wrong)}`)
    return counts
  } finally {
    copied.close()
  }
}

function tablesOf(database: Database): string[] {
  const names =
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
  return database
    .query<{ name: string }, []>(names)
    .all()
    .map(({ name }) => name)
}

function countsOf(database: Database, tables: readonly string[]): ReadonlyMap<string, number> {
  return new Map(
    tables.map((table) => {
      const quoted = `"${table.replaceAll('"', '""')}"`
      const count = database.query<{ rows: number }, []>(`SELECT count(*) AS rows FROM ${quoted}`)
      return [table, count.get()!.rows]
    }),
  )
}

/** Changes when another connection has written. */
function dataVersionOf(database: Database): number {
  return database.query<{ data_version: number }, []>('PRAGMA data_version').get()!.data_version
}

/** Fails if the file exists. */
function create(file: string): void {
  try {
    closeSync(openSync(file, 'wx', OWNER_ONLY))
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null
    if (code === 'EEXIST') throw new Error(`${file} exists already; nothing is overwritten`)
    if (code === 'ENOENT') throw new Error(`the folder of ${file} does not exist`)
    throw new Error(`${file} cannot be written (${String(code)})`)
  }
}

function flush(file: string): void {
  const descriptor = openSync(file, 'r+')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
