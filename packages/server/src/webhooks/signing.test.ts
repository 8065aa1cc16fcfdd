// Signatures are verified by the Standard Webhooks library, and secrets overlap while one is replaced.
import { expect, test } from 'bun:test'
import { isWebhookSecret } from '@greendot/protocol'
import { Webhook } from 'standardwebhooks'
import type { WebhookSecret } from '../archive/port.ts'
import { newSecret, replaceSecret, signatureHeaders } from './signing.ts'

const DAY_MS = 86_400_000
const body = '{"events":[{"text":"zoë 👩🏽‍🚀"}]}'

function isVerified(secret: string, secrets: readonly WebhookSecret[], now: number): boolean {
  const headers = signatureHeaders({ id: 'msg_1', body, secrets, now })
  try {
    // Against the time of the machine, so only the present is tried with it.
    new Webhook(secret).verify(body, headers)
    return true
  } catch {
    return false
  }
}

test('[X5] a new secret is one, and the library verifies what it signs', () => {
  const secret = newSecret()
  expect(isWebhookSecret(secret)).toBe(true)
  expect(newSecret()).not.toBe(secret)
  const secrets = [{ secret, until: null }]
  expect(isVerified(secret, secrets, Date.now())).toBe(true)
  expect(isVerified(newSecret(), secrets, Date.now())).toBe(false)
  expect(isVerified(secret, secrets, Date.now() - DAY_MS)).toBe(false)
})

test('[X5] [C6] a secret that was replaced is good for a day beside the new one', () => {
  const now = Date.now()
  const [first, second, third] = [newSecret(), newSecret(), newSecret()]
  const replaced = replaceSecret([{ secret: first, until: null }], second, now)
  expect(replaced).toEqual([
    { secret: second, until: null },
    { secret: first, until: now + DAY_MS },
  ])
  expect([first, second, third].map((one) => isVerified(one, replaced, now))).toEqual([true, true, false])
  const signatures = (at: number) =>
    signatureHeaders({ id: 'msg_1', body, secrets: replaced, now: at })['webhook-signature']!.split(' ')
      .length
  expect([signatures(now + DAY_MS - 1), signatures(now + DAY_MS)]).toEqual([2, 1])
  expect(replaceSecret(replaced, third, now + DAY_MS).map(({ secret }) => secret)).toEqual([third, second])
  expect(replaceSecret(replaced, second, now)).toEqual(replaced)
})

test('[X5] [C6] every secret of the last day is in use, however often it was replaced', () => {
  const now = Date.now()
  const all = Array.from({ length: 11 }, newSecret)
  let secrets: WebhookSecret[] = []
  for (const secret of all) secrets = replaceSecret(secrets, secret, now)
  expect(all.map((one) => isVerified(one, secrets, now))).toEqual(all.map(() => true))
  // There is a limit all the same.
  expect(replaceSecret(secrets, newSecret(), now)).toHaveLength(11)
})

test.each([
  ['whsec_', false],
  ['hunter2', false],
  [`whsec_${Buffer.alloc(23).toString('base64')}`, false],
  [`whsec_${Buffer.alloc(24).toString('base64')}`, true],
  [`whsec_${Buffer.alloc(64).toString('base64')}`, true],
  [`whsec_${Buffer.alloc(65).toString('base64')}`, false],
  [`whsec_${Buffer.alloc(32).toString('base64')}\n`, false],
])('[X5] %j is a secret: %p', (text, isOne) => expect(isWebhookSecret(text)).toBe(isOne))
