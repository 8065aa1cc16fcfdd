// A real endpoint for webhooks, which can misbehave. It verifies every signature with the Standard Webhooks library
// before it looks at the body, as a receiver should.

import type { WebhookEvent, WebhookPayload } from '@greendot/protocol'
import type { Socket } from 'bun'
import { Webhook } from 'standardwebhooks'
import type { OnEnd } from '../clients/clearing.ts'
import { until, WAIT_MS } from '../services/within.ts'

/** What it does with a request; a response, or nothing at all. */
export type Behaviour = (payload: WebhookPayload, attempt: number) => Response | Promise<Response>

export interface Receiver {
  url: string
  /** Events of requests that were answered with success, without repeats, in the order of their arrival. */
  events: WebhookEvent[]
  /** The message ids of all requests. */
  messages: string[]
  /** The headers of the last request. */
  headers(): Headers
  /** Signatures are checked from now on. */
  know(secret: string): void
  /** Requests whose signature was wrong. */
  forged(): number
  gets(what: string, isThere: (events: WebhookEvent[]) => boolean): Promise<void>
}

const accept: Behaviour = () => new Response(null, { status: 204 })

export function startReceiver(onEnd: OnEnd, behave: Behaviour = accept, port = 0): Receiver {
  const events: WebhookEvent[] = []
  const messages: string[] = []
  const seen = new Set<string>()
  let secret: string | null = null
  let forged = 0
  let last = new Headers()

  const server = Bun.serve({
    hostname: '127.0.0.1',
    port,
    idleTimeout: 0,
    async fetch(request) {
      const body = await request.text()
      last = request.headers
      messages.push(last.get('webhook-id') ?? '')
      try {
        if (secret !== null) new Webhook(secret).verify(body, Object.fromEntries(last))
      } catch {
        forged++
        return new Response('who are you?', { status: 401 })
      }
      const payload = JSON.parse(body) as WebhookPayload
      const answer = await behave(payload, messages.length)
      if (answer.ok)
        for (const event of payload.events) {
          if (seen.has(event.id) || event.type === 'webhook.test') continue
          seen.add(event.id)
          events.push(event)
        }
      return answer
    },
  })
  onEnd(() => server.stop(true))

  return {
    url: `http://127.0.0.1:${server.port}/hook`,
    events,
    messages,
    headers: () => last,
    know(known) {
      secret = known
    },
    forged: () => forged,
    gets: (what, isThere) => until(WAIT_MS, what, async () => isThere(events)),
  }
}

/** An endpoint that does not speak HTTP, until it recovers and is a receiver at the same URL. */
export interface RawEndpoint {
  url: string
  recover(): Receiver
}

/** `answer` is written as it is. */
export function startRawEndpoint(onEnd: OnEnd, answer: (socket: Socket) => void): RawEndpoint {
  const server = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: { data: (socket) => answer(socket), error() {} },
  })
  onEnd(() => server.stop(true))
  const { port } = server
  return {
    url: `http://127.0.0.1:${port}/hook`,
    recover() {
      server.stop(true)
      return startReceiver(onEnd, accept, port)
    },
  }
}

export const typesOf = (events: readonly WebhookEvent[]) => events.map(({ type }) => type)
