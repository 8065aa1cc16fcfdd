// Receives webhooks: checks who sent them, drops repeats, and prints what happened. It answers before it does anything
// slow, because a sender that waits tries again.

import type { WebhookPayload } from '@greendot/protocol'
import { Webhook } from 'standardwebhooks'

const url = 'http://127.0.0.1:4400'
const headers = { authorization: 'Bearer dev' }

/** Ids of events that were handled. A real receiver keeps them in its database, for as long as events may come again. */
const handled = new Set<string>()
let verifier: Webhook | null = null

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: Number(process.env.PORT ?? 4500),
  async fetch(request) {
    const body = await request.text()
    try {
      verifier!.verify(body, Object.fromEntries(request.headers))
    } catch {
      return new Response('the signature is wrong', { status: 401 })
    }
    for (const event of (JSON.parse(body) as WebhookPayload).events) {
      if (handled.has(event.id)) continue
      handled.add(event.id)
      if (event.type === 'webhook.test') console.log('this is a test')
      else console.log(`${event.user_id}: ${event.type}, ${event.old_status} -> ${event.new_status}`)
    }
    return new Response(null, { status: 204 })
  },
})

const answer = await fetch(`${url}/api/v1/webhooks`, {
  method: 'POST',
  headers,
  body: JSON.stringify({
    url: `http://127.0.0.1:${server.port}/`,
    events: ['user.online', 'user.away', 'user.offline'],
  }),
})
if (!answer.ok) throw new Error(await answer.text())
const { id, secret } = (await answer.json()) as { id: string; secret: string }
verifier = new Webhook(secret)
console.log(`receiving as ${id}`)

process.once('SIGINT', async () => {
  await fetch(`${url}/api/v1/webhooks/${id}`, { method: 'DELETE', headers })
  process.exit(0)
})
