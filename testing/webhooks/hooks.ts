// The routes about webhooks, as tests call them.
import type { WebhookEvent, WebhookEventType } from '@greendot/protocol'
import { WEBHOOK_EVENTS } from '@greendot/protocol'
import type { WebhookAnswer } from '../../packages/server/src/http/openapi/webhook-answer.ts'
import { call } from '../e2e/scene.ts'

const SERVER_KEY = 'dev'
const PATH = '/api/v1/webhooks'

interface Wanted {
  url: string
  events?: readonly WebhookEventType[]
  filter?: object
  secret?: string
}

interface Failures {
  failures: { user_id: string; events: WebhookEvent[]; attempts: number; because: string }[]
  next: string | null
}

/** All events, unless others are named. */
export async function addHook(url: string, wanted: Wanted): Promise<WebhookAnswer & { secret: string }> {
  const body = { events: WEBHOOK_EVENTS, ...wanted }
  const answer = await call<WebhookAnswer & { secret: string }>(url, SERVER_KEY, 'POST', PATH, body)
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return answer.body
}

export const getHook = async (url: string, id: string) =>
  (await call<WebhookAnswer>(url, SERVER_KEY, 'GET', `${PATH}/${id}`)).body
export const editHook = async (url: string, id: string, edit: object) =>
  (await call<WebhookAnswer>(url, SERVER_KEY, 'PATCH', `${PATH}/${id}`, edit)).body
export const removeHook = (url: string, id: string) => call(url, SERVER_KEY, 'DELETE', `${PATH}/${id}`)
export const testHook = async (url: string, id: string) =>
  (
    await call<{ delivered: boolean; status: number | null; because: string | null }>(
      url,
      SERVER_KEY,
      'POST',
      `${PATH}/${id}/test`,
    )
  ).body
export const failuresOf = async (url: string, id: string, query = '') =>
  (await call<Failures>(url, SERVER_KEY, 'GET', `${PATH}/${id}/failures${query}`)).body
export const replayHook = async (url: string, id: string) =>
  (await call<{ replayed: number }>(url, SERVER_KEY, 'POST', `${PATH}/${id}/replay`)).body
