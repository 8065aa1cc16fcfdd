// Requests to the server with a server key. Failures are values with a message for operators. Paths are relative
// to the page, so that it works behind a proxy that adds a prefix.
import type {
  AllHistory,
  Explanation,
  Stats,
  StatsHistory,
  UserHistory,
  Webhook,
} from '@greendot/client/server'

export type { AllHistory, Explanation, Stats, UserHistory, Webhook }
export type Sample = StatsHistory['samples'][number]
export type Process = Stats['processes'][number]

export interface Readiness {
  status: 'ready' | 'degraded' | 'not_ready'
  checks: Record<'store' | 'archive' | 'gateway' | 'accepting', string>
}

export type Answer<Value> =
  | { ok: true; value: Value }
  /** `key`: another key is needed. `server`: no answer. `question`: everything else. */
  | { ok: false; blame: 'key' | 'server' | 'question'; message: string }

export interface Api {
  stats(): Promise<Answer<Stats>>
  history(): Promise<Answer<StatsHistory>>
  readiness(): Promise<Answer<Readiness>>
  explain(userId: string, viewerId: string | null): Promise<Answer<Explanation>>
  /** Until now. Without a history the question is to blame. */
  userHistory(userId: string, from: number): Promise<Answer<UserHistory>>
  hours(from: number): Promise<Answer<AllHistory>>
  webhooks(): Promise<Answer<{ webhooks: Webhook[] }>>
  testWebhook(id: string): Promise<Answer<{ delivered: boolean; because: string | null }>>
  enableWebhook(id: string): Promise<Answer<Webhook>>
  replayWebhook(id: string): Promise<Answer<{ replayed: number }>>
  /** The live feed, until the signal is aborted. */
  feed(signal: AbortSignal): Promise<Response>
}

export function createApi(key: string): Api {
  const headers = { authorization: `Bearer ${key}` }

  async function ask<Value>(
    path: string,
    fine: readonly number[] = [200],
    method: 'GET' | 'POST' | 'PATCH' = 'GET',
    sent?: object,
  ): Promise<Answer<Value>> {
    try {
      const response = await fetch(path, {
        method,
        headers,
        ...(sent !== undefined && { body: JSON.stringify(sent) }),
      })
      const body = await response.json()
      if (fine.includes(response.status)) return { ok: true, value: body }
      const blame = response.status === 401 || response.status === 403 ? 'key' : 'question'
      return { ok: false, blame, message: String(body.detail ?? response.statusText) }
    } catch {
      return { ok: false, blame: 'server', message: 'The server does not answer.' }
    }
  }

  const pathOf = (id: string) => `api/v1/webhooks/${encodeURIComponent(id)}`
  const order = <Value>(id: string, action: string) => ask<Value>(`${pathOf(id)}/${action}`, [200], 'POST')

  return {
    stats: () => ask('api/v1/stats'),
    history: () => ask('api/v1/stats/history'),
    // 503 means "not ready", which is a valid answer.
    readiness: () => ask('readyz', [200, 503]),
    explain(userId, viewerId) {
      const query = new URLSearchParams({ user_id: userId })
      if (viewerId !== null) query.set('viewer_id', viewerId)
      return ask(`api/v1/explain?${query}`)
    },
    userHistory: (userId, from) => ask(`api/v1/users/${encodeURIComponent(userId)}/history?from=${from}`),
    hours: (from) => ask(`api/v1/history?from=${from}`),
    webhooks: () => ask('api/v1/webhooks'),
    testWebhook: (id) => order(id, 'test'),
    enableWebhook: (id) => ask(pathOf(id), [200], 'PATCH', { enabled: true }),
    replayWebhook: (id) => order(id, 'replay'),
    // By fetch, because an EventSource would put the key into the URL.
    feed: (signal) => fetch('api/v1/feed', { headers, signal }),
  }
}
