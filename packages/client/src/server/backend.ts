// The methods of the backend kit. Lists of any length are split into calls that the server accepts. Objects of
// the wire keep their wire names, as in the rest of this package.
import { type AvailabilityChoice, IDS_PER_QUERY_MAX } from '@greendot/protocol'
import { chunksOf } from '../chunks.ts'
import type { CustomStatusInput, Expiring } from '../types.ts'
import type {
  AllHistory,
  Explanation,
  Operations,
  OwnPresence,
  PersonData,
  Presence,
  RecordedBatch,
  Settings,
  Stats,
  UserHistory,
  Webhook,
} from './api.ts'
import type { Call } from './call.ts'
import type { Mint } from './token.ts'

export type SettingsChange = Operations['PUT /api/v1/users/{user_id}/settings']['input']['body']
export type NewWebhook = Operations['POST /api/v1/webhooks']['input']['body']
export type WebhookChange = Operations['PATCH /api/v1/webhooks/{webhook_id}']['input']['body']
export type WebhookTest = Operations['POST /api/v1/webhooks/{webhook_id}/test']['answer']
export type WebhookFailures = Operations['GET /api/v1/webhooks/{webhook_id}/failures']['answer']
export type StatsHistory = Operations['GET /api/v1/stats/history']['answer']

export interface ViewerOptions {
  /** See what this viewer may see. Without it nothing is hidden: do not pass the answer on to users. */
  viewerId?: string | undefined
}

export interface DisconnectOptions {
  /** All devices where it is left out. */
  deviceId?: string | undefined
  /** What the clients are told; at most 140 characters. */
  reason?: string | undefined
  /** Until then tokens that were issued before are refused. */
  until?: number | string | Date | undefined
}

export type HeartbeatBatch = Operations['POST /api/v1/heartbeats']['input']['body']

/** Milliseconds, a date, or ISO 8601 text. The last seven days by default, and at most 92 days. */
export interface HistorySpan {
  from?: number | string | Date | undefined
  to?: number | string | Date | undefined
}

export interface QueryResult {
  /** In the order of the ids. */
  people: Presence[]
  /** The hot store was not available, so the answer is from the database. */
  isDegraded: boolean
}

export interface Backend {
  /** A token for the client of a logged-in user. */
  token: Mint
  presence(userId: string, options?: ViewerOptions): Promise<Presence>
  query(userIds: readonly string[], options?: ViewerOptions): Promise<QueryResult>
  /** The contact list of a user. Directed: not the users who list this one. */
  contacts: {
    list(userId: string): Promise<string[]>
    /** In one call; the body may have up to 1 MiB. */
    replace(userId: string, contactIds: readonly string[]): Promise<void>
    add(userId: string, contactIds: readonly string[]): Promise<void>
    remove(userId: string, contactIds: readonly string[]): Promise<void>
  }
  settings: {
    read(userId: string): Promise<Settings>
    /** Merges: settings that are not named stay as they are. */
    change(userId: string, change: SettingsChange): Promise<Settings>
  }
  /** For users who allow a history, on a server with `history_days`; otherwise `not_found`. */
  history: {
    read(userId: string, span?: HistorySpan): Promise<UserHistory>
    /** The hours of all these users together. */
    hours(span?: HistorySpan): Promise<AllHistory>
  }
  /** Endpoints that are told of changes. */
  webhooks: {
    list(): Promise<Webhook[]>
    /** The secret is in the answer, and is not shown again. */
    add(webhook: NewWebhook): Promise<Webhook>
    read(webhookId: string): Promise<Webhook>
    edit(webhookId: string, change: WebhookChange): Promise<Webhook>
    remove(webhookId: string): Promise<void>
    test(webhookId: string): Promise<WebhookTest>
    /** A page of what was given up; `after` is the `next` of the page before. */
    failures(webhookId: string, after?: string): Promise<WebhookFailures>
    /** Sends what was given up again. Resolves with the number of changes. */
    replay(webhookId: string): Promise<number>
  }
  /** `auto` returns to automatic, and so does `online`. */
  setAvailability(userId: string, status: AvailabilityChoice, options?: Expiring): Promise<OwnPresence>
  /** Null, or neither text nor emoji, clears it. */
  setCustomStatus(userId: string, status: CustomStatusInput | null): Promise<OwnPresence>
  /** Why a viewer sees a user as they do, as sentences and as data. */
  explain(userId: string, options?: ViewerOptions): Promise<Explanation>
  /** Ends the sessions of a user, or of one device. Their clients are told, and do not come back by themselves. */
  disconnect(userId: string, options?: DisconnectOptions): Promise<void>
  /**
   * For a connection server of your own: which of its sessions are alive, and which have closed since the last call.
   * Repeat it at least every few seconds; a session that is not named for `heartbeat_ttl_ms` is lost.
   */
  heartbeats(batch: HeartbeatBatch): Promise<RecordedBatch>
  /** All stored data of a user. */
  export(userId: string): Promise<PersonData>
  /** Erases all stored data of a user. Stop minting tokens for them first. */
  erase(userId: string): Promise<void>
  stats(): Promise<Stats>
  /** Samples of the last hour. */
  statsHistory(): Promise<StatsHistory>
}

/** A body has at most 1 MiB, and an id at most 256 bytes if each of its characters is escaped. */
const CONTACTS_PER_CALL = 4_000
const QUERIES_AT_ONCE = 4
/** With the longest ids, and every character escaped, so many fit into 1 MiB. */
const ENTRIES_PER_CALL = 1_500

export function createBackend(call: Call, token: Mint): Backend {
  async function ask<One extends keyof Operations>(
    name: One,
    input: Operations[One]['input'],
  ): Promise<Operations[One]['answer']> {
    return (await call(name, input)).answer
  }

  async function query(userIds: readonly string[], { viewerId }: ViewerOptions = {}): Promise<QueryResult> {
    const answers = await inTurns(chunksOf(userIds, IDS_PER_QUERY_MAX), QUERIES_AT_ONCE, (ids) =>
      call('POST /api/v1/presence/query', { query: { viewer_id: viewerId }, body: { user_ids: ids } }),
    )
    return {
      people: answers.flatMap(({ answer }) => answer),
      isDegraded: answers.some(({ isDegraded }) => isDegraded),
    }
  }

  const editContacts =
    (name: `${'POST' | 'DELETE'} /api/v1/users/{user_id}/contacts`) =>
    async (userId: string, contactIds: readonly string[]): Promise<void> => {
      for (const ids of chunksOf(contactIds, CONTACTS_PER_CALL)) {
        await ask(name, { ...of(userId), body: { user_ids: ids } })
      }
    }

  return {
    token,
    query,
    async presence(userId, options) {
      // Not by path, where a user called "settings" would be a route.
      const { people } = await query([userId], options)
      return people[0]!
    },
    contacts: {
      list: async (userId) => (await ask('GET /api/v1/users/{user_id}/contacts', of(userId))).user_ids,
      replace: (userId, contactIds) =>
        ask('PUT /api/v1/users/{user_id}/contacts', { ...of(userId), body: { user_ids: [...contactIds] } }),
      add: editContacts('POST /api/v1/users/{user_id}/contacts'),
      remove: editContacts('DELETE /api/v1/users/{user_id}/contacts'),
    },
    settings: {
      read: (userId) => ask('GET /api/v1/users/{user_id}/settings', of(userId)),
      change: (userId, change) =>
        ask('PUT /api/v1/users/{user_id}/settings', { ...of(userId), body: change }),
    },
    history: {
      read: (userId, span) =>
        ask('GET /api/v1/users/{user_id}/history', { ...of(userId), query: spanOf(span) }),
      hours: (span) => ask('GET /api/v1/history', { query: spanOf(span) }),
    },
    webhooks: {
      list: async () => (await ask('GET /api/v1/webhooks', {})).webhooks,
      add: (webhook) => ask('POST /api/v1/webhooks', { body: webhook }),
      read: (id) => ask('GET /api/v1/webhooks/{webhook_id}', hook(id)),
      edit: (id, change) => ask('PATCH /api/v1/webhooks/{webhook_id}', { ...hook(id), body: change }),
      remove: (id) => ask('DELETE /api/v1/webhooks/{webhook_id}', hook(id)),
      test: (id) => ask('POST /api/v1/webhooks/{webhook_id}/test', hook(id)),
      failures: (id, after) =>
        ask('GET /api/v1/webhooks/{webhook_id}/failures', { ...hook(id), query: { after } }),
      replay: async (id) => (await ask('POST /api/v1/webhooks/{webhook_id}/replay', hook(id))).replayed,
    },
    setAvailability(userId, status, options) {
      const body = { status, expires_at: expiryOf(options) }
      return ask('PUT /api/v1/users/{user_id}/availability', { ...of(userId), body })
    },
    setCustomStatus(userId, status) {
      if (status === null) return ask('DELETE /api/v1/users/{user_id}/status', of(userId))
      const body = { text: status.text, emoji: status.emoji, expires_at: expiryOf(status) }
      return ask('PUT /api/v1/users/{user_id}/status', { ...of(userId), body })
    },
    explain: (userId, { viewerId } = {}) =>
      ask('GET /api/v1/explain', { query: { user_id: userId, viewer_id: viewerId } }),
    async disconnect(userId, { deviceId, reason, until } = {}) {
      const body = { device_id: deviceId, reason, until: millisecondsOf(until) }
      await ask('POST /api/v1/users/{user_id}/disconnect', { ...of(userId), body })
    },
    async heartbeats({ gateway_id, sessions = [], disconnected = [] }) {
      const recorded: RecordedBatch = { accepted: 0, rejected: [] }
      async function send(from: number, body: Omit<HeartbeatBatch, 'gateway_id'>): Promise<void> {
        const { accepted, rejected } = await ask('POST /api/v1/heartbeats', { body: { gateway_id, ...body } })
        recorded.accepted += accepted
        recorded.rejected.push(...rejected.map((one) => ({ ...one, index: from + one.index })))
      }
      // Sessions that closed come first: one that is in both lists has come back.
      for (const [turn, part] of chunksOf(disconnected, ENTRIES_PER_CALL).entries())
        await send(sessions.length + turn * ENTRIES_PER_CALL, { disconnected: part })
      for (const [turn, part] of chunksOf(sessions, ENTRIES_PER_CALL).entries())
        await send(turn * ENTRIES_PER_CALL, { sessions: part })
      recorded.rejected.sort((a, b) => a.index - b.index)
      return recorded
    },
    export: (userId) => ask('GET /api/v1/users/{user_id}/export', of(userId)),
    erase: (userId) => ask('DELETE /api/v1/users/{user_id}', of(userId)),
    stats: () => ask('GET /api/v1/stats', {}),
    statsHistory: () => ask('GET /api/v1/stats/history', {}),
  }
}

const of = (userId: string) => ({ path: { user_id: userId } })
const hook = (webhookId: string) => ({ path: { webhook_id: webhookId } })

function expiryOf({ expiresAt }: Expiring = {}): number | string | null | undefined {
  return millisecondsOf(expiresAt)
}

const spanOf = ({ from, to }: HistorySpan = {}) => ({ from: millisecondsOf(from), to: millisecondsOf(to) })

const millisecondsOf = <Instant>(instant: Instant | Date): Exclude<Instant, Date> | number =>
  instant instanceof Date ? instant.getTime() : (instant as Exclude<Instant, Date>)

/** Runs a few at once; results in the order of the list. The first failure ends it. */
async function inTurns<One, Result>(
  list: readonly One[],
  atOnceMax: number,
  run: (one: One) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  for (const some of chunksOf(list, atOnceMax)) results.push(...(await Promise.all(some.map(run))))
  return results
}
