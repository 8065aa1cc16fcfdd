// What the SQL archive needs from a database, so that one archive serves SQLite and PostgreSQL. Statements
// number their parameters `$1`, `$2`. Lists are passed as one JSON parameter, so that a statement has the
// same text for any number of rows and is prepared once.

export type SqlValue = string | number | null

export interface SqlSession {
  rows<Row>(text: string, params?: readonly SqlValue[]): Promise<Row[]>
  /** Returns how many rows changed. */
  run(text: string, params?: readonly SqlValue[]): Promise<number>
}

export interface TransactionOptions {
  /** For statements that may touch every row: their timeout is minutes. */
  isLong?: boolean
}

export interface SqlDatabase {
  readonly dialect: SqlDialect
  /** One statement. It sees every finished transaction of this process. */
  read<Row>(text: string, params?: readonly SqlValue[]): Promise<Row[]>
  /** Several statements on one snapshot, for reads that are too long for one. May wait for other snapshots. */
  snapshot<Result>(run: (rows: SqlSession['rows']) => Promise<Result>): Promise<Result>
  /** Commits when `run` resolves, rolls back when it throws. Not visible outside before the commit. */
  transaction<Result>(run: (tx: SqlSession) => Promise<Result>, options?: TransactionOptions): Promise<Result>
  /** Removes deleted data from older versions that the database keeps. Does not wait for the result. */
  wipe?(): void
  /** Awaited between slices of long work, so that the event loop can run. */
  pause(): Promise<void>
  close(): Promise<void>
}

/** Where the dialects differ. Everything else is written once. */
export interface SqlDialect {
  /** Whole numbers of 64 bits. */
  readonly integer: string
  /** Text that sorts by its bytes. */
  readonly text: string
  /** After the closing bracket of CREATE TABLE. */
  readonly tableOptions: string
  /** The same for a table whose rows may be longer than a page. */
  readonly longRowTableOptions: string
  /** A FROM item `entry` whose `value` is one row, itself a JSON array, of a JSON array of rows. */
  jsonRows(param: string): string
  /** A FROM item `entry` whose `value` is one text of a JSON array of texts. */
  jsonTexts(param: string): string
  /** The texts of the rows for which the condition is true, in order, as the text of a JSON array. */
  jsonArray(text: string, condition: string): string
  /** Whether one text is somewhere in the other. */
  contains(text: string, part: string): string
  /** Locks `$1` until the transaction ends; null where there is only one writer. */
  readonly lock: string | null
  /** At the end of a SELECT: locks its rows until the transaction ends. Empty where there is only one writer. */
  readonly forUpdate: string
  /** Selects a row when there is a table named `$1`. */
  readonly findTable: string
  /** Fails when the database cannot be reached. */
  readonly ping: string
}

/** If so, a long transaction blocks all other writes. */
export function hasOneWriter(dialect: SqlDialect): boolean {
  return dialect.lock === null
}
