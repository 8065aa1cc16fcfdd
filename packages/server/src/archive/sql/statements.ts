// The statements of the SQL archive. Only this file decides which write is the newest: each upsert
// compares the new row with the stored row, so batches may repeat and arrive late.
import { hasOneWriter, type SqlDialect } from './database.ts'
import { type Column, insertJsonRows, LAST_SEEN_COLUMNS, PRIVACY_COLUMNS, SETTINGS_COLUMNS } from './rows.ts'

/** Expressions compared from left to right; `#` stands for the row. */
type Rank = readonly string[]

// The version decides, then the later write. The rest breaks ties, so that the order of arrival never
// does. One version has one custom status, so that is not compared.
const LAST_SEEN_RANK: Rank = [
  '#.version',
  '#.updated_at',
  'COALESCE(#.last_seen_at, -1)',
  '#.status',
  '#.devices',
]

/** The parts of the settings. Each wins or loses by itself; its first column is its instant. */
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
  {
    columns: ['history_set_at', 'history'],
    rank: [instant('history_set_at'), 'COALESCE(#.history, 0)'],
  },
]

const PRIVACY_RANK: Rank = ['#.set_at', '#.privacy']
/** Longer texts are left out of the joined read and read separately. */
const PRIVACY_BYTES_TOGETHER_MAX = 2048

export type SqlStatements = ReturnType<typeof sqlStatements>

export function sqlStatements(dialect: SqlDialect) {
  // The table is almost always empty.
  const isKept = (userId: string) => `${userId} NOT IN (SELECT user_id FROM user_erasure)`
  // During a replacement some rows are not shown yet, or no longer (see replacement.ts).
  const isOfShownEdition = (ownerId: string) =>
    hasOneWriter(dialect)
      ? `(edition IS NULL OR edition = (SELECT shown FROM contact_replacement AS r WHERE r.owner_id = ${ownerId}))`
      : 'true'
  const isShown = (ownerId: string) => `(${isOfShownEdition(ownerId)} AND ${isKept(ownerId)})`
  // Hidden rows are part of the page, so that its cost does not depend on how many there are.
  const contactsPage = `
    SELECT contact_id, ${isShown('$1')} AS is_shown FROM contact
    WHERE owner_id = $1 AND contact_id > $2 ORDER BY contact_id LIMIT CAST($3 AS BIGINT)`
  const owners = (condition: string) => `
    SELECT owner_id FROM contact
    WHERE contact_id = $1 AND owner_id > $2 AND ${isShown('contact.owner_id')} AND ${condition}
    ORDER BY owner_id LIMIT CAST($3 AS BIGINT)`

  return {
    read: `
      SELECT entry.value AS wanted_id,
        seen.last_seen_at, seen.status, seen.devices, seen.version, seen.shown_text, seen.shown_emoji,
        seen.shown_expires_at, seen.updated_at,
        said.user_id AS settings_id, said.availability, said.availability_expires_at,
        said.availability_set_at, said.custom_text, said.custom_emoji, said.custom_expires_at,
        said.custom_set_at, said.away_after_ms, said.away_after_set_at,
        said.history, said.history_set_at,
        private.set_at AS privacy_set_at, octet_length(private.privacy) AS privacy_bytes,
        CASE WHEN octet_length(private.privacy) <= ${PRIVACY_BYTES_TOGETHER_MAX} THEN private.privacy
          END AS privacy
      FROM ${dialect.jsonTexts('$1')}
      LEFT JOIN user_last_seen AS seen ON seen.user_id = entry.value
      LEFT JOIN user_settings AS said ON said.user_id = entry.value
      LEFT JOIN user_privacy AS private ON private.user_id = entry.value
      WHERE ${isKept('entry.value')}`,

    upsertLastSeen: upsert('user_last_seen', LAST_SEEN_COLUMNS, LAST_SEEN_RANK, dialect),

    upsertSettings: `
      ${insertJsonRows('user_settings', SETTINGS_COLUMNS, dialect)}
      ON CONFLICT (user_id) DO UPDATE SET ${SETTINGS_PARTS.flatMap(({ columns, rank }) =>
        columns.map((name) => takeIf(newer('user_settings', rank), 'user_settings', name)),
      ).join(', ')}`,

    upsertPrivacy: upsert('user_privacy', PRIVACY_COLUMNS, PRIVACY_RANK, dialect),

    markAlive: `
      INSERT INTO server_alive (id, alive_at) VALUES (1, $1)
      ON CONFLICT (id) DO UPDATE SET alive_at = excluded.alive_at
      WHERE excluded.alive_at > server_alive.alive_at`,
    aliveAt: 'SELECT alive_at FROM server_alive',

    // The literal 'here' matches the partial index.
    hereIds: `
      SELECT user_id FROM user_last_seen
      WHERE status = 'here' AND user_id > $1 AND ${isKept('user_id')} ORDER BY user_id LIMIT CAST($2 AS BIGINT)`,

    readPrivacy: `
      SELECT user_id, set_at, privacy FROM user_privacy
      WHERE user_id IN (SELECT entry.value FROM ${dialect.jsonTexts('$1')})`,
    privacySizes: `
      SELECT user_id, octet_length(privacy) AS bytes FROM user_privacy
      WHERE user_id > $1 ORDER BY user_id LIMIT CAST($2 AS BIGINT)`,
    privacyContaining: `
      SELECT user_id, set_at, privacy FROM user_privacy WHERE user_id > $1 AND user_id <= $2
      AND ${dialect.contains('privacy', 'CAST($3 AS TEXT)')} AND ${isKept('user_id')} ORDER BY user_id`,

    contactsPage,
    contactsJsonPage: `
      SELECT ${dialect.jsonArray('page.contact_id', 'page.is_shown')} AS json, count(*) AS length,
        max(page.contact_id) AS last_id
      FROM (${contactsPage}) AS page`,
    // Input rows are `[position, owner, contact]`; the answer is the positions that are contacts.
    areContacts: `
      SELECT CAST(entry.value ->> 0 AS BIGINT) AS position FROM ${dialect.jsonRows('$1')}
      WHERE EXISTS (
        SELECT 1 FROM contact WHERE owner_id = entry.value ->> 1 AND contact_id = entry.value ->> 2
        AND ${isShown('contact.owner_id')} AND ${isKept('contact.contact_id')})`,
    ownersOf: owners(isKept('contact.contact_id')),
    ownersOfErased: owners('true'),
    addContacts: `
      INSERT INTO contact (owner_id, contact_id, created_at)
      SELECT CAST($1 AS TEXT), entry.value, CAST($3 AS BIGINT) FROM ${dialect.jsonTexts('$2')} WHERE true
      ON CONFLICT (owner_id, contact_id) DO NOTHING`,
    removeContacts: `
      DELETE FROM contact WHERE owner_id = $1
      AND contact_id IN (SELECT entry.value FROM ${dialect.jsonTexts('$2')})`,

    beginErasure: `
      INSERT INTO user_erasure (user_id, begun_at) VALUES ($1, $2)
      ON CONFLICT (user_id) DO UPDATE SET begun_at = excluded.begun_at
      WHERE excluded.begun_at > user_erasure.begun_at`,
    resumeErasure: 'UPDATE user_erasure SET begun_at = $2 WHERE user_id = $1',
    unfinishedErasures: `
      SELECT user_id FROM user_erasure WHERE begun_at < $1
      ORDER BY begun_at, user_id LIMIT CAST($2 AS BIGINT)`,
    endErasure: 'DELETE FROM user_erasure WHERE user_id = $1 AND begun_at = $2',
    eraseLastSeen: 'DELETE FROM user_last_seen WHERE user_id = $1',
    eraseSettings: 'DELETE FROM user_settings WHERE user_id = $1',
    erasePrivacy: 'DELETE FROM user_privacy WHERE user_id = $1',
    forgetContacts: `
      DELETE FROM contact WHERE owner_id = $1 AND contact_id IN (
        SELECT contact_id FROM contact WHERE owner_id = $1 ORDER BY contact_id LIMIT CAST($2 AS BIGINT))`,
    forgetAsContact: `
      DELETE FROM contact WHERE contact_id = $1 AND owner_id IN (
        SELECT owner_id FROM contact WHERE contact_id = $1 ORDER BY owner_id LIMIT CAST($2 AS BIGINT))`,
  }
}

/** A new row that ranks above the stored one replaces it. */
function upsert<Row>(
  table: string,
  columns: readonly Column<Row>[],
  rank: Rank,
  dialect: SqlDialect,
): string {
  const taken = columns.slice(1).map(({ name }) => `${name} = excluded.${name}`)
  return `
    ${insertJsonRows(table, columns, dialect)}
    ON CONFLICT (user_id) DO UPDATE SET ${taken.join(', ')} WHERE ${newer(table, rank)}`
}

/** True where the new row ranks above the stored one. */
function newer(table: string, rank: Rank): string {
  const of = (row: string) => rank.map((part) => part.replaceAll('#', row)).join(', ')
  return `(${of('excluded')}) > (${of(table)})`
}

function takeIf(condition: string, table: string, name: string): string {
  return `${name} = CASE WHEN ${condition} THEN excluded.${name} ELSE ${table}.${name} END`
}

/** A part that was never set is older than any that was. */
function instant(name: string): string {
  return `COALESCE(#.${name}, -1)`
}

// Two settings of the same instant are ordered by their values, null last, as in the state machine.
function nullLast(name: string, whereNull: string): Rank {
  return [`#.${name} IS NULL`, `COALESCE(#.${name}, ${whereNull})`]
}
