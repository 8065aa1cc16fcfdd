// The statements of the SQL archive. "The newest wins" is decided here and nowhere else: each
// upsert compares the row it brings with the row it finds, so batches may repeat and arrive late.
import type { SqlDialect } from './sql-database.ts'
import { insertJsonRows, LAST_SEEN_COLUMNS, SETTINGS_COLUMNS } from './sql-rows.ts'

/** Expressions that are compared from left to right; `#` stands for the row. */
type Rank = readonly string[]

// The version decides, then the later write. The rest only settles equals, so that the order of
// arrival never does; one version shows one custom status, so that needs no comparing.
const LAST_SEEN_RANK: Rank = [
  '#.version',
  '#.updated_at',
  'COALESCE(#.last_seen_at, -1)',
  '#.status',
  '#.devices',
]

/** The parts of the settings, which win or lose each by itself. The first column is its instant. */
const SETTINGS_PARTS: readonly { columns: readonly string[]; rank: Rank }[] = [
  {
    columns: ['availability_set_at', 'availability', 'availability_expires_at'],
    rank: [
      instant('availability_set_at'),
      "COALESCE(#.availability, '')",
      ...nullLast('availability_expires_at', '0'),
    ],
  },
  {
    columns: ['custom_set_at', 'custom_text', 'custom_emoji', 'custom_expires_at'],
    rank: [
      instant('custom_set_at'),
      ...nullLast('custom_text', "''"),
      ...nullLast('custom_emoji', "''"),
      ...nullLast('custom_expires_at', '0'),
    ],
  },
  {
    columns: ['away_after_set_at', 'away_after_ms'],
    rank: [instant('away_after_set_at'), ...nullLast('away_after_ms', '0')],
  },
]

export function sqlStatements(dialect: SqlDialect) {
  return {
    read: `
      SELECT entry.value AS wanted_id,
        seen.last_seen_at, seen.status, seen.devices, seen.version, seen.shown_text, seen.shown_emoji,
        seen.shown_expires_at, seen.updated_at,
        said.user_id AS settings_id, said.availability, said.availability_expires_at,
        said.availability_set_at, said.custom_text, said.custom_emoji, said.custom_expires_at,
        said.custom_set_at, said.away_after_ms, said.away_after_set_at
      FROM ${dialect.jsonTexts('$1')}
      LEFT JOIN user_last_seen AS seen ON seen.user_id = entry.value
      LEFT JOIN user_settings AS said ON said.user_id = entry.value`,

    upsertLastSeen: `
      ${insertJsonRows('user_last_seen', LAST_SEEN_COLUMNS, dialect)}
      ON CONFLICT (user_id) DO UPDATE SET ${LAST_SEEN_COLUMNS.slice(1)
        .map(({ name }) => `${name} = excluded.${name}`)
        .join(', ')}
      WHERE ${newer('user_last_seen', LAST_SEEN_RANK)}`,

    upsertSettings: `
      ${insertJsonRows('user_settings', SETTINGS_COLUMNS, dialect)}
      ON CONFLICT (user_id) DO UPDATE SET ${SETTINGS_PARTS.flatMap(({ columns, rank }) =>
        columns.map((name) => takeIf(newer('user_settings', rank), 'user_settings', name)),
      ).join(', ')}`,

    markAlive: `
      INSERT INTO server_alive (id, alive_at) VALUES (1, $1)
      ON CONFLICT (id) DO UPDATE SET alive_at = excluded.alive_at
      WHERE excluded.alive_at > server_alive.alive_at`,
    aliveAt: 'SELECT alive_at FROM server_alive',

    // The literal 'here' lets the partial index find them.
    hereIds: `
      SELECT user_id FROM user_last_seen
      WHERE status = 'here' AND user_id > $1 ORDER BY user_id LIMIT CAST($2 AS BIGINT)`,

    contactsOf: 'SELECT contact_id FROM contact WHERE owner_id = $1 ORDER BY contact_id',
    addContacts: `
      INSERT INTO contact (owner_id, contact_id, created_at)
      SELECT CAST($1 AS TEXT), entry.value, CAST($3 AS BIGINT) FROM ${dialect.jsonTexts('$2')} WHERE true
      ON CONFLICT (owner_id, contact_id) DO NOTHING`,
    removeContacts: `
      DELETE FROM contact WHERE owner_id = $1
      AND contact_id IN (SELECT entry.value FROM ${dialect.jsonTexts('$2')})`,
  }
}

/** True where the row that is written ranks above the row that is stored. */
function newer(table: string, rank: Rank): string {
  const of = (row: string) => rank.map((part) => part.replaceAll('#', row)).join(', ')
  return `(${of('excluded')}) > (${of(table)})`
}

function takeIf(condition: string, table: string, name: string): string {
  return `${name} = CASE WHEN ${condition} THEN excluded.${name} ELSE ${table}.${name} END`
}

/** A part that says nothing is older than any that does. */
function instant(name: string): string {
  return `COALESCE(#.${name}, -1)`
}

// Two choices of the same instant are ordered by their values, null last, as the machine does it.
function nullLast(name: string, whereNull: string): Rank {
  return [`#.${name} IS NULL`, `COALESCE(#.${name}, ${whereNull})`]
}
