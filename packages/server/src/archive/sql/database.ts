// What the SQL archive needs from a database, so that one archive serves SQLite and PostgreSQL.
// Statements number their parameters `$1`, `$2`. Lists travel as one JSON parameter, so that a
// statement has the same text for any number of rows and is prepared once.

export type SqlValue = string | number | null

export interface SqlSession {
  rows<Row>(text: string, params?: readonly SqlValue[]): Promise<Row[]>
  /** Returns how many rows changed. */
  run(text: string, params?: readonly SqlValue[]): Promise<number>
}

export interface TransactionOptions {
  /** For statements that may touch every row there is: the limit on their time is minutes. */
  isLong?: boolean
}

export interface SqlDatabase {
  readonly dialect: SqlDialect
  /** One statement by itself, in a snapshot that has every finished transaction of this process. */
  read<Row>(text: string, params?: readonly SqlValue[]): Promise<Row[]>
  /** Several statements in one snapshot, for reading what is too much for one. May wait for others. */
  snapshot<Result>(run: (rows: SqlSession['rows']) => Promise<Result>): Promise<Result>
  /** Commits when `run` resolves and rolls back when it throws; nobody sees anything before. */
  transaction<Result>(run: (tx: SqlSession) => Promise<Result>, options?: TransactionOptions): Promise<Result>
  /** Takes what was deleted out of older versions that are kept beside the tables. Does not wait for it. */
  wipe?(): void
  /** Called between slices of long work: lets the event loop run where statements occupy it. */
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
  /** Holds `$1` until the transaction ends; null where there is one writer, for whom all others wait. */
  readonly lock: string | null
  /** Selects a row when there is a table named `$1`. */
  readonly findTable: string
  /** Fails when the database cannot be reached. */
  readonly ping: string
}

/** Then a long transaction holds up everybody who has anything to write. */
export function hasOneWriter(dialect: SqlDialect): boolean {
  return dialect.lock === null
}
