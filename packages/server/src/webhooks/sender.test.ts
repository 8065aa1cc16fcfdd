// The sender on a fake clock and a real archive: how long it tries, what waits meanwhile, and when a webhook is disabled.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { aWebhook } from '../../../../testing/contracts/archive/webhooks.ts'
import { createPipeline, type Pipeline } from '../../../../testing/worlds/presence-pipeline.ts'
import type { Webhook } from '../archive/port.ts'
import { createTally } from '../platform/measuring/tally.ts'
import { openWebhookBook, type WebhookBook } from './book.ts'
import type { Outcome, Post } from './request.ts'
import { startWebhookSender, type WebhookSender } from './sender.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const OK: Outcome = { ok: true, status: 200 }
const failed = (fields: object = {}): Outcome => ({
  ok: false,
  status: 500,
  because: 'the endpoint answered 500',
  retryAfterMs: 0,
  isGone: false,
  ...fields,
})

interface Sent {
  at: number
  id: string
  users: string[]
  /** Of the change of each. */
  orders: number[]
}

let world: Pipeline
let book: WebhookBook
let sender: WebhookSender
let sent: Sent[]
let answer: (users: string[]) => Outcome | Promise<Outcome>
let disabled: string[]

beforeEach(async () => {
  world = await createPipeline()
  const { clock, logger, archive } = world
  sent = []
  disabled = []
  answer = () => OK
  const startedAt = clock.now()
  const now = { createdAt: startedAt, updatedAt: startedAt }
  await world.done(archive.webhooks.add(aWebhook('h', now), 10))
  book = await world.done(openWebhookBook(archive.webhooks, clock, logger))
  sender = startWebhookSender({
    archive,
    book,
    async sendPost({ headers, body }: Post) {
      const events: { user: string; order: number }[] = JSON.parse(body).events
      const [users, orders] = [events.map((one) => one.user), events.map((one) => one.order)]
      sent.push({ at: clock.now() - startedAt, id: headers['webhook-id']!, users, orders })
      return answer(users)
    },
    async disable(webhook: Webhook, because: string) {
      disabled.push(because)
      const off = { state: 'disabled', at: clock.now(), because } as const
      await archive.webhooks.edit({ ...webhook, state: off, updatedAt: clock.now() }, webhook.updatedAt)
    },
    leaseMs: 10_000,
    clock,
    trueClock: clock,
    tally: createTally(),
    logger,
  })
})
afterEach(async () => {
  await world.done(sender.stop())
  book.stop()
})

let order = 0
async function keep(...users: string[]): Promise<void> {
  const createdAt = world.clock.now()
  const deliveries = users.map((userId) => ({
    webhookId: 'h',
    userId,
    order: ++order,
    events: JSON.stringify({ user: userId, order }),
    createdAt,
  }))
  await world.done(world.archive.webhooks.keep(deliveries, []))
}
const health = () => world.done(world.archive.webhooks.health('h'))

/** In steps, as time passes: the fake clock runs the timers of each. */
async function pass(ms: number): Promise<void> {
  const until = world.clock.now() + ms
  while (world.clock.now() < until) await world.clock.advance(Math.min(MINUTE_MS, until - world.clock.now()))
}

test('[X5] everything that waits goes in one request, and nothing is sent without need', async () => {
  await pass(HOUR_MS)
  expect(sent).toEqual([])
  await keep('anna', 'bea', 'anna')
  sender.nudge()
  await world.clock.advance(0)
  expect(sent.map(({ users }) => users)).toEqual([['anna', 'anna', 'bea']])
  expect(await health()).toMatchObject({ pending: 0, failed: 0 })
})

test('[X5] an endpoint that is down is tried for a day, ever less often, and then disabled', async () => {
  answer = () => failed()
  await keep('anna')
  await pass(30 * HOUR_MS)
  const waits = sent.slice(1).map(({ at }, index) => at - sent[index]!.at)
  expect(new Set(sent.map(({ id }) => id)).size).toBe(1)
  expect(sent).toHaveLength(60)
  expect(Math.min(...waits)).toBe(waits[0]!)
  expect(Math.max(...waits)).toBeGreaterThan(20 * MINUTE_MS)
  expect(await health()).toMatchObject({ pending: 0, failed: 1 })
  expect(world.lines).toContain('a webhook failed; it is tried again')
  await keep('bea')
  await pass(HOUR_MS)
  expect(disabled).toEqual(['every request failed for a day; the last one: the endpoint answered 500'])
  const requests = sent.length
  await pass(HOUR_MS)
  expect(sent).toHaveLength(requests)
})

test('[X5] after an outage of hours everything comes soon, in the order of each user', async () => {
  answer = () => failed()
  for (let hour = 0; hour < 3; hour++) {
    await keep('anna', 'bea', 'carl', 'bea')
    await pass(HOUR_MS)
  }
  await keep('anna')
  answer = () => OK
  sent = []
  await pass(HOUR_MS)
  const orders = (user: string) =>
    sent.flatMap((one) => one.orders.filter((_, index) => one.users[index] === user))
  for (const [user, changes] of [
    ['anna', 4],
    ['bea', 6],
    ['carl', 3],
  ] as const) {
    expect(orders(user)).toHaveLength(changes)
    expect(orders(user)).toEqual(orders(user).toSorted((one, other) => one - other))
  }
  expect(await health()).toMatchObject({ pending: 0, failingSince: null, failuresInRow: 0 })
})

test('[X5] a change that its endpoint never takes holds up its own user only, and is given up', async () => {
  answer = (users) => (users.includes('bad') ? failed({ status: 400 }) : OK)
  await keep('bad')
  await pass(MINUTE_MS)
  // Each success makes what failed due, so it is given up sooner than after a day: not within these hours, though.
  for (let hour = 0; hour < 10; hour++) {
    await keep('anna', 'bad')
    await pass(HOUR_MS)
  }
  const goods = sent.filter(({ users }) => !users.includes('bad'))
  expect(goods.flatMap(({ users }) => users)).toEqual(Array(10).fill('anna'))
  expect(disabled).toEqual([])
  await pass(20 * HOUR_MS)
  const given = await world.done(world.archive.webhooks.failures('h', null, 10))
  expect(given[0]).toMatchObject({ userId: 'bad', attempts: 60 })
  expect(world.lines).toContain('a webhook was given up')
})

test('[X5] an endpoint that wants to be left alone for a while is', async () => {
  answer = () => failed({ status: 429, retryAfterMs: 20 * MINUTE_MS })
  await keep('anna')
  await pass(19 * MINUTE_MS)
  expect(sent).toHaveLength(1)
  answer = () => OK
  await pass(5 * MINUTE_MS)
  expect(sent).toHaveLength(2)
})

test('[X5] an endpoint that is gone is disabled at once', async () => {
  answer = () => failed({ status: 410, because: 'the endpoint answered 410', isGone: true })
  await keep('anna')
  await pass(MINUTE_MS)
  expect(disabled).toEqual(['the endpoint answered 410'])
})

test('[X5] [C7] an archive that is away is waited for', async () => {
  const { webhooks } = world.archive
  const { claim } = webhooks
  webhooks.claim = () => Promise.reject(new Error('the database is gone'))
  await keep('anna')
  await pass(MINUTE_MS)
  expect(sent).toEqual([])
  webhooks.claim = claim
  await pass(MINUTE_MS)
  expect(sent).toHaveLength(1)
})

test('[X5] [C7] a claim that cannot be renewed does not send a batch twice at the same time', async () => {
  const { webhooks } = world.archive
  webhooks.renew = () => Promise.reject(new Error('the database is gone'))
  const hanging = Promise.withResolvers<Outcome>()
  answer = () => hanging.promise
  await keep('anna')
  await pass(MINUTE_MS)
  expect(sent).toHaveLength(1)
  hanging.resolve(OK)
  await pass(MINUTE_MS)
  expect(await health()).toMatchObject({ pending: 0 })
})
