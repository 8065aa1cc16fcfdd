// Secrets and signatures as the Standard Webhooks specification has them. While a secret is replaced, requests carry a
// signature for the new one and for each former one, so a receiver may change over at any time within the overlap.
import { createHmac } from 'node:crypto'
import { WEBHOOK_SECRET_PREFIX } from '@greendot/protocol'
import type { WebhookSecret } from '../archive/port.ts'
import { randomSecret } from '../platform/ids.ts'

const SECRET_BYTES = 32
/** For how long a secret that was replaced is used beside the new one. */
const OVERLAP_MS = 24 * 60 * 60 * 1000
/** Former secrets that are in use at a time. Every request has a signature for each. */
const FORMER_MAX = 10

export const newSecret = (): string => WEBHOOK_SECRET_PREFIX + randomSecret(SECRET_BYTES).toString('base64')

const bytesOf = (secret: string): Buffer => Buffer.from(secret.slice(WEBHOOK_SECRET_PREFIX.length), 'base64')

/** The new secret, and those that receivers may still know. */
export function replaceSecret(
  secrets: readonly WebhookSecret[],
  secret: string,
  now: number,
): WebhookSecret[] {
  const former = secrets
    .filter((one) => one.secret !== secret && (one.until === null || one.until > now))
    .map((one) => ({ secret: one.secret, until: one.until ?? now + OVERLAP_MS }))
  return [{ secret, until: null }, ...former.slice(0, FORMER_MAX)]
}

export interface Signed {
  id: string
  body: string
  secrets: readonly WebhookSecret[]
  now: number
}

export function signatureHeaders({ id, body, secrets, now }: Signed): Record<string, string> {
  const timestamp = Math.floor(now / 1000)
  const signatures = secrets
    .filter(({ until }) => until === null || until > now)
    .map(({ secret }) => {
      const hmac = createHmac('sha256', bytesOf(secret))
      return `v1,${hmac.update(`${id}.${timestamp}.${body}`).digest('base64')}`
    })
  return {
    'webhook-id': id,
    'webhook-timestamp': `${timestamp}`,
    'webhook-signature': signatures.join(' '),
  }
}
