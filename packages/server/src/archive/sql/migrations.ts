// The schema as an ordered list of named steps, in code so that a single-file executable carries it. A
// released step is never edited; a later step corrects it. All pending steps run in one transaction, so a
// database has either the old schema or the new one.
import { hasOneWriter, type SqlDatabase, type SqlDialect, type SqlSession } from './database.ts'

export interface Migration {
  name: string
  statements: (dialect: SqlDialect) => readonly string[]
}

export const MIGRATIONS: readonly Migration[] = [
  {
    name: '0001_user_last_seen',
    statements: ({ text, integer, tableOptions }) => [
      `CREATE TABLE user_last_seen (
        user_id ${text} NOT NULL PRIMARY KEY,
        last_seen_at ${integer},
        status ${text} NOT NULL CHECK (status IN ('here', 'offline')),
        devices ${text} NOT NULL,
        version ${integer} NOT NULL,
        shown_text ${text},
        shown_emoji ${text},
        shown_expires_at ${integer},
        updated_at ${integer} NOT NULL
      )${tableOptions}`,
      // A restart reads the users that were here, not every user.
      `CREATE INDEX user_last_seen_here ON user_last_seen (user_id) WHERE status = 'here'`,
    ],
  },
  {
    name: '0002_user_settings',
    statements: ({ text, integer, tableOptions }) => [
      `CREATE TABLE user_settings (
        user_id ${text} NOT NULL PRIMARY KEY,
        availability ${text},
        availability_expires_at ${integer},
        availability_set_at ${integer},
        custom_text ${text},
        custom_emoji ${text},
        custom_expires_at ${integer},
        custom_set_at ${integer},
        away_after_ms ${integer},
        away_after_set_at ${integer}
      )${tableOptions}`,
    ],
  },
  {
    name: '0003_contact',
    statements: ({ text, integer, tableOptions }) => [
      `CREATE TABLE contact (
        owner_id ${text} NOT NULL,
        contact_id ${text} NOT NULL,
        created_at ${integer} NOT NULL,
        PRIMARY KEY (owner_id, contact_id)
      )${tableOptions}`,
      'CREATE INDEX contact_by_contact ON contact (contact_id)',
    ],
  },
  {
    name: '0004_server_alive',
    statements: ({ integer, tableOptions }) => [
      `CREATE TABLE server_alive (
        id ${integer} NOT NULL PRIMARY KEY CHECK (id = 1),
        alive_at ${integer} NOT NULL
      )${tableOptions}`,
    ],
  },
  {
    name: '0005_user_privacy',
    statements: ({ text, integer, longRowTableOptions }) => [
      // Separate from the other settings, which are short and written more often.
      `CREATE TABLE user_privacy (
        user_id ${text} NOT NULL PRIMARY KEY,
        set_at ${integer} NOT NULL,
        privacy ${text} NOT NULL
      )${longRowTableOptions}`,
    ],
  },
  {
    name: '0006_contact_by_contact_owner',
    statements: () => [
      // In the order in which owners are listed. The old index is dropped last, so that reads can use it.
      'CREATE INDEX contact_by_contact_owner ON contact (contact_id, owner_id)',
      'DROP INDEX contact_by_contact',
    ],
  },
  {
    name: '0007_contact_replacement',
    // Only for databases with one writer (see replacement.ts).
    statements: (dialect) =>
      hasOneWriter(dialect)
        ? [
            `CREATE TABLE contact_replacement (
              owner_id ${dialect.text} NOT NULL PRIMARY KEY,
              claim ${dialect.text} NOT NULL,
              shown ${dialect.text} NOT NULL CHECK (shown IN ('old', 'new'))
            )${dialect.tableOptions}`,
            `ALTER TABLE contact ADD COLUMN edition ${dialect.text} CHECK (edition IN ('old', 'new'))`,
          ]
        : [],
  },
  {
    name: '0008_user_erasure',
    // Erasures that have begun and have not ended.
    statements: ({ text, integer, tableOptions }) => [
      `CREATE TABLE user_erasure (
        user_id ${text} NOT NULL PRIMARY KEY,
        begun_at ${integer} NOT NULL
      )${tableOptions}`,
    ],
  },
  {
    name: '0009_presence_history',
    statements: ({ text, integer, tableOptions }) => [
      `ALTER TABLE user_settings ADD COLUMN history ${integer}`,
      `ALTER TABLE user_settings ADD COLUMN history_set_at ${integer}`,
      'CREATE INDEX user_settings_history ON user_settings (user_id) WHERE history IS NOT NULL',
      // Offline time has no rows.
      `CREATE TABLE presence_history (
        user_id ${text} NOT NULL,
        from_at ${integer} NOT NULL,
        version ${integer} NOT NULL,
        to_at ${integer},
        status ${text} NOT NULL CHECK (status IN ('online', 'away', 'busy')),
        devices ${text} NOT NULL,
        first_of_hour ${integer} NOT NULL,
        PRIMARY KEY (user_id, from_at, version)
      )${tableOptions}`,
      'CREATE INDEX presence_history_ended ON presence_history (to_at) WHERE to_at IS NOT NULL',
      'CREATE INDEX presence_history_lasting ON presence_history (from_at, status, first_of_hour) WHERE to_at IS NULL',
      `CREATE TABLE presence_hour (
        hour_at ${integer} NOT NULL PRIMARY KEY,
        online_ms ${integer} NOT NULL,
        away_ms ${integer} NOT NULL,
        busy_ms ${integer} NOT NULL,
        users ${integer} NOT NULL
      )${tableOptions}`,
    ],
  },
  {
    name: '0010_user_disconnect',
    statements: ({ text, integer, tableOptions }) => [
      `CREATE TABLE user_disconnect (
        user_id ${text} NOT NULL,
        device_id ${text} NOT NULL,
        at ${integer} NOT NULL,
        until ${integer},
        reason ${text},
        PRIMARY KEY (user_id, device_id)
      )${tableOptions}`,
      'CREATE INDEX user_disconnect_at ON user_disconnect (at)',
      'CREATE INDEX user_disconnect_until ON user_disconnect (until) WHERE until IS NOT NULL',
    ],
  },
  {
    name: '0011_webhook',
    statements: ({ text, integer, tableOptions, longRowTableOptions }) => [
      `CREATE TABLE webhook (
        id ${text} NOT NULL PRIMARY KEY,
        url ${text} NOT NULL,
        events ${text} NOT NULL,
        filter ${text} NOT NULL,
        secrets ${text} NOT NULL,
        disabled_at ${integer},
        disabled_because ${text},
        created_at ${integer} NOT NULL,
        updated_at ${integer} NOT NULL,
        claimed_by ${text},
        claimed_until ${integer} NOT NULL,
        retry_at ${integer} NOT NULL,
        failures_in_row ${integer} NOT NULL,
        failing_since ${integer},
        last_failure ${text},
        delivered_at ${integer}
      )${longRowTableOptions}`,
      // Without a batch: waits for its first request. With a batch: is being sent, or waits until it is due again.
      // With failed_at: was given up.
      `CREATE TABLE webhook_delivery (
        webhook_id ${text} NOT NULL,
        user_id ${text} NOT NULL,
        change_order ${integer} NOT NULL,
        events ${text} NOT NULL,
        created_at ${integer} NOT NULL,
        batch_id ${text},
        attempts ${integer} NOT NULL,
        due_at ${integer} NOT NULL,
        failed_at ${integer},
        because ${text},
        PRIMARY KEY (webhook_id, user_id, change_order)
      )${tableOptions}`,
      `CREATE INDEX webhook_delivery_new ON webhook_delivery (webhook_id, created_at, user_id, change_order)
        WHERE batch_id IS NULL AND failed_at IS NULL`,
      `CREATE INDEX webhook_delivery_batch ON webhook_delivery (webhook_id, due_at, batch_id)
        WHERE batch_id IS NOT NULL`,
      `CREATE INDEX webhook_delivery_failed ON webhook_delivery (webhook_id, failed_at, user_id, change_order)
        WHERE failed_at IS NOT NULL`,
      'CREATE INDEX webhook_delivery_user ON webhook_delivery (user_id)',
      // What the viewer of a webhook was told last.
      `CREATE TABLE webhook_told (
        webhook_id ${text} NOT NULL,
        user_id ${text} NOT NULL,
        change_order ${integer} NOT NULL,
        status ${text},
        version ${integer} NOT NULL,
        devices ${text} NOT NULL,
        custom_status ${text},
        PRIMARY KEY (webhook_id, user_id)
      )${tableOptions}`,
      'CREATE INDEX webhook_told_user ON webhook_told (user_id)',
    ],
  },
  {
    // For how many days the history is kept, also by processes that keep none themselves.
    name: '0012_history_days',
    statements: ({ integer, tableOptions }) => [
      `CREATE TABLE history_days (
        id ${integer} NOT NULL PRIMARY KEY CHECK (id = 1),
        days ${integer} NOT NULL
      )${tableOptions}`,
    ],
  },
  {
    name: '0013_disconnect_issued_before',
    statements: ({ integer }) => [
      `ALTER TABLE user_disconnect ADD COLUMN issued_before ${integer}`,
      'UPDATE user_disconnect SET issued_before = at WHERE until IS NOT NULL',
    ],
  },
  {
    name: '0014_webhook_enabled_at',
    // Null for one that is enabled since it was made.
    statements: ({ integer }) => [`ALTER TABLE webhook ADD COLUMN enabled_at ${integer}`],
  },
  {
    name: '0015_history_ended_by',
    // Null for an interval that lasts, and for one that ended before.
    statements: ({ integer }) => [`ALTER TABLE presence_history ADD COLUMN ended_by ${integer}`],
  },
]

const TABLE = 'schema_migration'
const SELECT_APPLIED = `SELECT name FROM ${TABLE}`

interface Applied {
  name: string
}

/**
 * Applies the missing steps in order and returns their names. Unknown steps of a newer release are left
 * alone, so that an older process can run beside a newer one during an upgrade.
 */
export function migrate(
  database: SqlDatabase,
  migrations: readonly Migration[],
  now: number,
): Promise<string[]> {
  const { dialect } = database
  const apply = async (tx: SqlSession) => {
    // If two processes start at once, the second finds nothing to do.
    if (dialect.lock !== null) await tx.rows(dialect.lock, [TABLE])
    await tx.run(`CREATE TABLE IF NOT EXISTS ${TABLE} (
      name ${dialect.text} NOT NULL PRIMARY KEY,
      applied_at ${dialect.integer} NOT NULL
    )${dialect.tableOptions}`)
    const missing = without(migrations, await tx.rows(SELECT_APPLIED))
    for (const { name, statements } of missing) {
      for (const statement of statements(dialect)) await tx.run(statement)
      await tx.run(`INSERT INTO ${TABLE} (name, applied_at) VALUES ($1, $2)`, [name, now])
    }
    return missing.map(({ name }) => name)
  }
  return database.transaction(apply, { isLong: true })
}

/** What `migrate` would apply. Changes nothing. */
export async function pendingMigrations(
  database: SqlDatabase,
  migrations: readonly Migration[],
): Promise<string[]> {
  const tables = await database.read(database.dialect.findTable, [TABLE])
  const applied = tables.length === 0 ? [] : await database.read<Applied>(SELECT_APPLIED)
  return without(migrations, applied).map(({ name }) => name)
}

function without(migrations: readonly Migration[], applied: readonly Applied[]): Migration[] {
  const names = new Set(applied.map(({ name }) => name))
  return migrations.filter(({ name }) => !names.has(name))
}
