// Webhooks in SQL: the webhooks, what is to be delivered to them, and what their viewers were told. Long changes are made
// in short transactions. A claim is one statement, so two processes never have the same webhook.
import type { CustomStatus, Platform, Status, WebhookEventType } from '@greendot/protocol'
import type {
  FailedDelivery,
  ToldView,
  Webhook,
  WebhookArchive,
  WebhookDelivery,
  WebhookFilter,
  WebhookHealth,
  WebhookSecret,
  WebhookState,
} from '../port.ts'
import type { SqlDatabase, SqlSession } from './database.ts'
import { toJsonRows, type Whole, wholeOrNull } from './rows.ts'
import { DELIVERY_COLUMNS, TOLD_COLUMNS, webhookStatements } from './webhook-statements.ts'

const ROWS_PER_TRANSACTION_MAX = 500
const LOCK = 'webhook'

interface FoundHook {
  id: string
  url: string
  events: string
  filter: string
  secrets: string
  disabled_at: Whole | null
  disabled_because: string | null
  enabled_at: Whole | null
  created_at: Whole
  updated_at: Whole
}

interface FoundDelivery {
  webhook_id: string
  user_id: string
  change_order: Whole
  events: string
  created_at: Whole
  attempts: Whole
}

interface FoundFailure extends FoundDelivery {
  failed_at: Whole
  because: string
}

interface FoundHealth {
  failures_in_row: Whole
  failing_since: Whole | null
  last_failure: string | null
  delivered_at: Whole | null
}

interface FoundTold {
  webhook_id: string
  user_id: string
  change_order: Whole
  status: Status | null
  version: Whole
  devices: string
  custom_status: string | null
}

/** Rolls the transaction back; the caller is answered with false. */
class Overtaken extends Error {}

export function createSqlWebhooks(
  database: SqlDatabase,
): WebhookArchive & { forgetUser(userId: string): Promise<void> } {
  const { dialect } = database
  const sql = webhookStatements(dialect)
  const run = (statement: string, ...params: (string | number | null)[]) =>
    database.transaction((tx) => tx.run(statement, params))

  /** Runs a statement whose last parameter limits its rows until it changes none. Returns how many were changed. */
  async function inSteps(statement: string, ...params: (string | number)[]): Promise<number> {
    let total = 0
    for (;;) {
      const changed = await run(statement, ...params, ROWS_PER_TRANSACTION_MAX)
      total += changed
      if (changed < ROWS_PER_TRANSACTION_MAX) return total
      await database.pause()
    }
  }

  /** What a viewer was told is written by one transaction at a time, and never beside an edit of the webhook. */
  async function lockTold(tx: SqlSession, id: string): Promise<void> {
    if (dialect.lock !== null) await tx.rows(dialect.lock, [`${LOCK} ${id}`])
  }

  async function healthOf(rows: SqlSession['rows'], id: string): Promise<WebhookHealth> {
    const [health] = await rows<FoundHealth>(sql.health, [id])
    const [counts] = await rows<{ deliveries: Whole; failed: Whole }>(sql.counts, [id])
    const failed = Number(counts!.failed)
    return {
      failuresInRow: Number(health?.failures_in_row ?? 0),
      failingSince: wholeOrNull(health?.failing_since ?? null),
      lastFailure: health?.last_failure ?? null,
      deliveredAt: wholeOrNull(health?.delivered_at ?? null),
      pending: Number(counts!.deliveries) - failed,
      failed,
    }
  }

  return {
    async edition() {
      const [row] = await database.read<{ hooks: Whole; edited: Whole | null }>(sql.edition)
      return `${row!.hooks} ${row!.edited}`
    },

    async list() {
      return (await database.read<FoundHook>(sql.list)).map(toHook)
    },

    add: (webhook, max) =>
      database.transaction(async (tx) => {
        if (dialect.lock !== null) await tx.rows(dialect.lock, [LOCK])
        const [row] = await tx.rows<{ hooks: Whole }>(sql.count)
        if (Number(row!.hooks) >= max) return false
        const { createdAt, updatedAt } = webhook
        await tx.run(sql.add, [webhook.id, ...edited(webhook), createdAt, updatedAt])
        return true
      }),

    edit: (webhook, editedAt) =>
      database.transaction(async (tx) => {
        const { id, filter, updatedAt } = webhook
        await lockTold(tx, id)
        const [former] = await tx.rows<{ filter: string }>(sql.filterOf, [id])
        const changed = await tx.run(sql.edit, [id, ...edited(webhook), updatedAt, editedAt])
        if (changed === 0) return false
        if (!hasSameView(JSON.parse(former!.filter) as WebhookFilter, filter))
          await tx.run(sql.removeTold, [id])
        return true
      }),

    async remove(id) {
      const isFound = (await run(sql.remove, id)) > 0
      await inSteps(sql.removeDeliveries, id)
      await run(sql.removeTold, id)
      return isFound
    },

    health: (id) => healthOf(database.read, id),

    async keep(deliveries, told, editedAt) {
      if (deliveries.length === 0 && told.length === 0) return true
      try {
        await database.transaction(async (tx) => {
          if (told.length > 0) {
            for (const id of new Set(told.map(({ webhookId }) => webhookId))) await lockTold(tx, id)
            const rows = toJsonRows(TOLD_COLUMNS, told)
            const [passedOver] = await tx.rows<{ erased: Whole }>(sql.erasedOf, [rows])
            const written = await tx.run(sql.tell, [rows, editedAt ?? null])
            if (written + Number(passedOver!.erased) < told.length) throw new Overtaken()
          }
          if (deliveries.length > 0) await tx.run(sql.keep, [toJsonRows(DELIVERY_COLUMNS, deliveries)])
        })
        return true
      } catch (error) {
        if (error instanceof Overtaken) return false
        throw error
      }
    },

    async told(webhookId, userIds) {
      return (await database.read<FoundTold>(sql.told, [webhookId, JSON.stringify(userIds)])).map(toTold)
    },

    async toldUsers(webhookId, afterId, limit) {
      const rows = await database.read<{ user_id: string }>(sql.toldUsers, [webhookId, afterId, limit])
      return rows.map((row) => row.user_id)
    },

    async claim(process, now, until) {
      const rows = await database.transaction((tx) =>
        tx.rows<{ id: string; failures_in_row: Whole }>(sql.claim, [process, now, until]),
      )
      return rows.map(({ id, failures_in_row }) => ({ id, failuresInRow: Number(failures_in_row) }))
    },

    async renew(process, id, until) {
      return (await run(sql.renew, process, id, until)) > 0
    },

    async release(process, id) {
      await run(sql.release, process, id)
    },

    nextBatch: (id, batchId, now, max) =>
      database.transaction(async (tx) => {
        const [due] = await tx.rows<{ batch_id: string }>(sql.dueBatch, [id, now])
        if (due === undefined && (await tx.run(sql.makeBatch, [id, batchId, now, max])) === 0) return null
        const chosen = due?.batch_id ?? batchId
        const rows = await tx.rows<FoundDelivery>(sql.batch, [id, chosen])
        return { id: chosen, attempts: Number(rows[0]!.attempts), deliveries: rows.map(toDelivery) }
      }),

    async delivered(id, batchId, now) {
      await database.transaction(async (tx) => {
        await tx.run(sql.endBatch, [id, batchId])
        await tx.run(sql.hasten, [id, now])
        await tx.run(sql.succeed, [id, now])
      })
    },

    failed: (id, batchId, { at, because, dueAt, retryAt }) =>
      database.transaction(async (tx) => {
        if (dueAt === null) await tx.run(sql.giveUpBatch, [id, batchId, at, because])
        else await tx.run(sql.retryBatch, [id, batchId, dueAt, because])
        await tx.run(sql.fail, [id, at, because, retryAt])
        return healthOf(tx.rows, id)
      }),

    async giveUp(id, now, because) {
      await inSteps(sql.giveUp, id, now, because)
    },

    async failures(id, after, limit) {
      const from = after ?? { failedAt: -1, userId: '', order: -1 }
      const params = [id, from.failedAt, from.userId, from.order, limit]
      return (await database.read<FoundFailure>(sql.failures, params)).map(toFailure)
    },

    async replay(id, before) {
      const replayed = await inSteps(sql.replay, id, before)
      await run(sql.soon, id)
      return replayed
    },

    async trim(before) {
      await inSteps(sql.trim, before)
      await run(sql.trimTold)
    },

    async forgetUser(userId) {
      await inSteps(sql.eraseDeliveries, userId)
      await run(sql.eraseTold, userId)
    },
  }
}

function edited({ url, events, filter, secrets, state }: Webhook): (string | number | null)[] {
  const isDisabled = state.state === 'disabled'
  return [
    url,
    JSON.stringify(events),
    JSON.stringify(filter),
    JSON.stringify(secrets),
    isDisabled ? state.at : null,
    isDisabled ? state.because : null,
    isDisabled ? null : state.since,
  ]
}

/** Whether both are for the same users, as the same viewer sees them. */
const hasSameView = (one: WebhookFilter, other: WebhookFilter): boolean =>
  one.viewerId === other.viewerId &&
  one.contactsOf === other.contactsOf &&
  JSON.stringify(one.userIds) === JSON.stringify(other.userIds)

function toHook(row: FoundHook): Webhook {
  const disabledAt = wholeOrNull(row.disabled_at)
  const state: WebhookState =
    disabledAt === null
      ? { state: 'enabled', since: wholeOrNull(row.enabled_at) ?? Number(row.created_at) }
      : { state: 'disabled', at: disabledAt, because: row.disabled_because ?? '' }
  return {
    id: row.id,
    url: row.url,
    events: JSON.parse(row.events) as WebhookEventType[],
    filter: JSON.parse(row.filter) as WebhookFilter,
    secrets: JSON.parse(row.secrets) as WebhookSecret[],
    state,
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
  }
}

function toDelivery(row: FoundDelivery): WebhookDelivery {
  return {
    webhookId: row.webhook_id,
    userId: row.user_id,
    order: Number(row.change_order),
    events: row.events,
    createdAt: Number(row.created_at),
  }
}

function toFailure(row: FoundFailure): FailedDelivery {
  return {
    ...toDelivery(row),
    attempts: Number(row.attempts),
    failedAt: Number(row.failed_at),
    because: row.because,
  }
}

function toTold(row: FoundTold): ToldView {
  return {
    webhookId: row.webhook_id,
    userId: row.user_id,
    order: Number(row.change_order),
    status: row.status,
    version: Number(row.version),
    devices: row.devices === '' ? [] : (row.devices.split(' ') as Platform[]),
    customStatus: row.custom_status === null ? null : (JSON.parse(row.custom_status) as CustomStatus),
  }
}
