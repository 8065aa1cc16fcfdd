// HTTP requests of a random run: choices of users, and reads of a backend for one viewer.
import type { Presence } from '@greendot/protocol'
import type { Choice, Field } from '../history/history.ts'

const ANSWER_MS_MAX = 8_000

const ROUTES: Record<Field, { path: string; body(value: string): object }> = {
  availability: { path: 'presence/availability', body: (status) => ({ status }) },
  text: { path: 'presence/status', body: (text) => ({ text }) },
  visibility: { path: 'presence/settings', body: (value) => ({ status_visibility: value }) },
}

export function request(url: string, method: string, token: string, body?: object): Promise<Response> {
  return fetch(url, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(ANSWER_MS_MAX),
  })
}

export async function choose(
  url: string,
  userId: string,
  field: Field,
  value: string,
): Promise<Choice['outcome']> {
  const { path, body } = ROUTES[field]
  try {
    const response = await request(`${url}/api/v1/${path}`, 'PUT', `dev:${userId}`, body(value))
    await response.arrayBuffer()
    return response.ok ? 'acknowledged' : 'refused'
  } catch {
    return 'unanswered'
  }
}

export const contacts = (url: string, userId: string, userIds: readonly string[]): Promise<Response> =>
  request(`${url}/api/v1/users/${userId}/contacts`, 'PUT', 'dev', { user_ids: userIds })

export interface QueryAnswer {
  /** 0 when there was no answer. */
  code: number
  isDegraded: boolean
  presences: Presence[]
}

export async function query(url: string, viewer: string, userIds: readonly string[]): Promise<QueryAnswer> {
  try {
    const body = { user_ids: userIds, viewer_id: viewer }
    const response = await request(`${url}/api/v1/presence/query`, 'POST', 'dev', body)
    const isDegraded = response.headers.get('greendot-degraded') === 'true'
    const presences = response.ok ? ((await response.json()) as Presence[]) : []
    return { code: response.status, isDegraded, presences }
  } catch {
    return { code: 0, isDegraded: false, presences: [] }
  }
}
