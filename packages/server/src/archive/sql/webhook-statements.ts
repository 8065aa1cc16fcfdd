// The statements about webhooks. A webhook's own columns are edited by the app; those of its claim and its failures are
// written by the process that sends. A delivery is new, in a batch, or given up.
import type { ToldView, WebhookDelivery } from '../port.ts'
import type { SqlDialect } from './database.ts'
import { type Column, insertJsonRows } from './rows.ts'

export const DELIVERY_COLUMNS: readonly Column<WebhookDelivery>[] = [
  { name: 'webhook_id', type: 'TEXT', of: (row) => row.webhookId },
  { name: 'user_id', type: 'TEXT', of: (row) => row.userId },
  { name: 'change_order', type: 'BIGINT', of: (row) => row.order },
  { name: 'events', type: 'TEXT', of: (row) => row.events },
  { name: 'created_at', type: 'BIGINT', of: (row) => row.createdAt },
  { name: 'attempts', type: 'BIGINT', of: () => 0 },
  { name: 'due_at', type: 'BIGINT', of: () => 0 },
]

export const TOLD_COLUMNS: readonly Column<ToldView>[] = [
  { name: 'webhook_id', type: 'TEXT', of: (row) => row.webhookId },
  { name: 'user_id', type: 'TEXT', of: (row) => row.userId },
  { name: 'change_order', type: 'BIGINT', of: (row) => row.order },
  { name: 'status', type: 'TEXT', of: (row) => row.status },
  { name: 'version', type: 'BIGINT', of: (row) => row.version },
  { name: 'devices', type: 'TEXT', of: (row) => row.devices.join(' ') },
  {
    name: 'custom_status',
    type: 'TEXT',
    of: (row) => (row.customStatus === null ? null : JSON.stringify(row.customStatus)),
  },
]

const HOOK =
  'id, url, events, filter, secrets, disabled_at, disabled_because, enabled_at, created_at, updated_at'
const DELIVERY = 'webhook_id, user_id, change_order, events, created_at, attempts'
const KEY = 'webhook_id, user_id, change_order'
const isNew = (table: string) => `${table}.batch_id IS NULL AND ${table}.failed_at IS NULL`
/** In a row before a first success: then all that waits is due at once. */
const OUTAGE_FAILURES = 3

export function webhookStatements(dialect: SqlDialect) {
  const whole = (param: string) => `CAST(${param} AS BIGINT)`
  const isEnabled = `EXISTS (
    SELECT 1 FROM webhook WHERE webhook.id = entry.value ->> 0 AND webhook.disabled_at IS NULL)`
  const isErased = 'EXISTS (SELECT 1 FROM user_erasure WHERE user_erasure.user_id = entry.value ->> 1)'
  const someOf = (condition: string, limit: string) =>
    `(${KEY}) IN (SELECT ${KEY} FROM webhook_delivery WHERE ${condition} LIMIT ${whole(limit)})`

  return {
    edition: 'SELECT count(*) AS hooks, sum(updated_at) AS edited FROM webhook',
    list: `SELECT ${HOOK} FROM webhook ORDER BY created_at, id`,
    filterOf: 'SELECT filter FROM webhook WHERE id = $1',
    count: 'SELECT count(*) AS hooks FROM webhook',
    add: `
      INSERT INTO webhook (${HOOK}, claimed_until, retry_at, failures_in_row)
      VALUES ($1, $2, $3, $4, $5, ${whole('$6')}, $7, ${whole('$8')}, ${whole('$9')}, ${whole('$10')}, 0, 0, 0)`,
    // An edit may mend what failed, so nothing waits for it.
    edit: `
      UPDATE webhook SET url = $2, events = $3, filter = $4, secrets = $5, disabled_at = ${whole('$6')},
        disabled_because = $7, enabled_at = ${whole('$8')}, updated_at = ${whole('$9')}, retry_at = 0,
        failures_in_row = 0, failing_since = NULL
      WHERE id = $1 AND updated_at = ${whole('$10')}`,
    remove: 'DELETE FROM webhook WHERE id = $1',
    removeTold: 'DELETE FROM webhook_told WHERE webhook_id = $1',
    removeDeliveries: `DELETE FROM webhook_delivery WHERE ${someOf('webhook_id = $1', '$2')}`,
    health: 'SELECT failures_in_row, failing_since, last_failure, delivered_at FROM webhook WHERE id = $1',
    counts: `
      SELECT count(*) AS deliveries, count(failed_at) AS failed FROM webhook_delivery WHERE webhook_id = $1`,

    keep: `
      ${insertJsonRows('webhook_delivery', DELIVERY_COLUMNS, dialect)} AND ${isEnabled} AND NOT ${isErased}
      ON CONFLICT (${KEY}) DO NOTHING`,
    tell: `
      ${insertJsonRows('webhook_told', TOLD_COLUMNS, dialect)} AND NOT ${isErased} AND (${whole('$2')} IS NULL
        OR EXISTS (SELECT 1 FROM webhook WHERE webhook.id = entry.value ->> 0 AND updated_at = ${whole('$2')}))
      ON CONFLICT (webhook_id, user_id) DO UPDATE SET ${TOLD_COLUMNS.slice(2)
        .map(({ name }) => `${name} = excluded.${name}`)
        .join(', ')} WHERE excluded.change_order > webhook_told.change_order`,
    erasedOf: `SELECT count(*) AS erased FROM ${dialect.jsonRows('$1')} WHERE ${isErased}`,
    told: `
      SELECT ${TOLD_COLUMNS.map(({ name }) => name).join(', ')} FROM webhook_told
      WHERE webhook_id = $1 AND user_id IN (SELECT entry.value FROM ${dialect.jsonTexts('$2')})`,
    toldUsers: `
      SELECT user_id FROM webhook_told WHERE webhook_id = $1 AND user_id > $2
      ORDER BY user_id LIMIT ${whole('$3')}`,

    claim: `
      UPDATE webhook SET claimed_by = $1, claimed_until = ${whole('$3')}
      WHERE disabled_at IS NULL AND retry_at <= ${whole('$2')}
      AND (claimed_by IS NULL OR claimed_until <= ${whole('$2')})
      AND (EXISTS (SELECT 1 FROM webhook_delivery AS fresh
          WHERE fresh.webhook_id = webhook.id AND ${isNew('fresh')})
        OR EXISTS (SELECT 1 FROM webhook_delivery AS old WHERE old.webhook_id = webhook.id
          AND old.batch_id IS NOT NULL AND old.due_at <= ${whole('$2')}))
      RETURNING id, failures_in_row`,
    renew: `UPDATE webhook SET claimed_until = ${whole('$3')} WHERE id = $2 AND claimed_by = $1`,
    release: 'UPDATE webhook SET claimed_by = NULL, claimed_until = 0 WHERE id = $2 AND claimed_by = $1',

    dueBatch: `
      SELECT batch_id FROM webhook_delivery
      WHERE webhook_id = $1 AND batch_id IS NOT NULL AND due_at <= ${whole('$2')}
      ORDER BY due_at, batch_id LIMIT 1`,
    // First the users that wait longest, then their changes in order: a clock that was set back gives a later change an
    // earlier instant.
    makeBatch: `
      UPDATE webhook_delivery SET batch_id = $2, due_at = ${whole('$3')} WHERE (${KEY}) IN (
        SELECT fresh.webhook_id, fresh.user_id, fresh.change_order FROM (
          SELECT user_id, min(created_at) AS waits_since FROM (
            SELECT user_id, created_at FROM webhook_delivery AS oldest
            WHERE oldest.webhook_id = $1 AND ${isNew('oldest')}
            AND NOT EXISTS (SELECT 1 FROM webhook_delivery AS failed WHERE failed.webhook_id = $1
              AND failed.user_id = oldest.user_id AND failed.batch_id IS NOT NULL)
            ORDER BY created_at, user_id, change_order LIMIT ${whole('$4')}) AS found
          GROUP BY user_id) AS waiting
        JOIN webhook_delivery AS fresh ON fresh.webhook_id = $1 AND fresh.user_id = waiting.user_id
        WHERE ${isNew('fresh')}
        ORDER BY waiting.waits_since, fresh.user_id, fresh.change_order LIMIT ${whole('$4')})`,
    batch: `
      SELECT ${DELIVERY} FROM webhook_delivery WHERE webhook_id = $1 AND batch_id = $2
      ORDER BY user_id, change_order`,
    endBatch: 'DELETE FROM webhook_delivery WHERE webhook_id = $1 AND batch_id = $2',
    hasten: `
      UPDATE webhook_delivery SET due_at = ${whole('$2')} WHERE webhook_id = $1 AND batch_id IS NOT NULL
      AND EXISTS (SELECT 1 FROM webhook WHERE webhook.id = $1 AND webhook.failures_in_row >= ${OUTAGE_FAILURES})`,
    succeed: `
      UPDATE webhook SET failures_in_row = 0, failing_since = NULL, last_failure = NULL, retry_at = 0,
        delivered_at = ${whole('$2')} WHERE id = $1`,
    retryBatch: `
      UPDATE webhook_delivery SET attempts = attempts + 1, due_at = ${whole('$3')}, because = $4
      WHERE webhook_id = $1 AND batch_id = $2`,
    giveUpBatch: `
      UPDATE webhook_delivery SET attempts = attempts + 1, batch_id = NULL, failed_at = ${whole('$3')}, because = $4
      WHERE webhook_id = $1 AND batch_id = $2`,
    fail: `
      UPDATE webhook SET failures_in_row = failures_in_row + 1, retry_at = ${whole('$4')}, last_failure = $3,
        failing_since = COALESCE(failing_since, ${whole('$2')}) WHERE id = $1`,
    giveUp: `
      UPDATE webhook_delivery SET batch_id = NULL, failed_at = ${whole('$2')}, because = $3
      WHERE ${someOf('webhook_id = $1 AND failed_at IS NULL', '$4')}`,

    failures: `
      SELECT ${DELIVERY}, failed_at, because FROM webhook_delivery
      WHERE webhook_id = $1 AND failed_at IS NOT NULL
      AND (failed_at, user_id, change_order) > (${whole('$2')}, $3, ${whole('$4')})
      ORDER BY failed_at, user_id, change_order LIMIT ${whole('$5')}`,
    replay: `
      UPDATE webhook_delivery SET failed_at = NULL, because = NULL, attempts = 0, due_at = 0
      WHERE ${someOf(`webhook_id = $1 AND failed_at IS NOT NULL AND failed_at <= ${whole('$2')}`, '$3')}`,
    soon: 'UPDATE webhook SET retry_at = 0 WHERE id = $1',
    trim: `DELETE FROM webhook_delivery WHERE ${someOf(
      `(failed_at IS NOT NULL AND failed_at < ${whole('$1')}) OR webhook_id NOT IN (SELECT id FROM webhook)`,
      '$2',
    )}`,
    trimTold: 'DELETE FROM webhook_told WHERE webhook_id NOT IN (SELECT id FROM webhook)',
    eraseDeliveries: `DELETE FROM webhook_delivery WHERE ${someOf('user_id = $1', '$2')}`,
    eraseTold: 'DELETE FROM webhook_told WHERE user_id = $1',
  }
}
