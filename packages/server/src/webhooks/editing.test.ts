// Edits of webhooks on a fake clock and a real archive: which edit wins, and from when on a webhook is told of changes.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { RECORD_VERSION } from '@greendot/protocol'
import { createPipeline, type Pipeline } from '../../../../testing/worlds/presence-pipeline.ts'
import { KNOWN_WITHIN_MS, openWebhookBook, type WebhookBook } from './book.ts'
import { createWebhookConsumer } from './consumer.ts'
import { createWebhooks, type Webhooks } from './editing.ts'

const HOUR_MS = 3_600_000
const WANTED = {
  url: 'https://example.test/old',
  events: ['user.online'],
  filter: { userIds: null, contactsOf: null, platforms: null, viewerId: null },
  secret: null,
} as const

let world: Pipeline
let book: WebhookBook
let webhooks: Webhooks

beforeEach(async () => {
  world = await createPipeline()
  const { clock, logger, archive } = world
  book = await world.done(openWebhookBook(archive.webhooks, clock, logger))
  webhooks = createWebhooks({
    archive,
    book,
    sendPost: () => Promise.reject(new Error('nothing is sent')),
    isShared: true,
    clock,
    trueClock: clock,
    logger,
  })
})
afterEach(() => book.stop())

const stateOf = async (id: string) => (await world.done(webhooks.find(id)))!.webhook.state.state
const pendingOf = async (id: string) => (await world.done(webhooks.find(id)))!.health.pending

/** Lets time pass until it is done. */
async function passing<T>(work: Promise<T>): Promise<T> {
  let isDone = false
  const noted = work.finally(() => {
    isDone = true
  })
  while (!isDone) await world.clock.advance(100)
  return noted
}

/** How much time this takes. */
async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = world.clock.now()
  await passing(work())
  return world.clock.now() - startedAt
}

test('[X5] a webhook that was edited after a request is not disabled for its answer', async () => {
  const asSent = (await passing(webhooks.add(WANTED)))!
  const mended = (await world.done(webhooks.edit(asSent.id, { url: 'https://example.test/new' })))!
  await world.done(webhooks.disable(asSent, 'the endpoint answered 410'))
  expect(await stateOf(asSent.id)).toBe('enabled')
  await world.done(webhooks.disable(mended, 'the endpoint answered 410'))
  expect(await stateOf(asSent.id)).toBe('disabled')
})

test('[X5] the only webhook that is enabled is answered when every process knows of it', async () => {
  const { id } = (await passing(webhooks.add(WANTED)))!
  await world.done(webhooks.edit(id, { isEnabled: false }))
  expect(await timed(() => webhooks.edit(id, { isEnabled: true }))).toBeGreaterThanOrEqual(KNOWN_WITHIN_MS)
  expect(await timed(() => webhooks.edit(id, { isEnabled: true }))).toBeLessThan(KNOWN_WITHIN_MS)
})

test('[X5] changes while a webhook is off are not told when it is on again', async () => {
  const { archive, clock } = world
  const viewerEvents = { keep: () => Promise.reject(new Error('there is no viewer')) }
  const consumer = createWebhookConsumer({ archive, book, viewerEvents, clock, onKept() {} })
  let version = 0
  const change = (at: number) => ({
    userId: 'anna',
    offset: `${++version}`,
    text: JSON.stringify({
      type: 'status_changed',
      v: RECORD_VERSION,
      user_id: 'anna',
      old_status: 'offline',
      new_status: 'online',
      version,
      at,
      devices: [],
      custom_status: null,
    }),
  })
  const { id } = (await passing(webhooks.add(WANTED)))!
  await world.done(webhooks.edit(id, { isEnabled: false }))
  await clock.advance(HOUR_MS)
  const missed = change(clock.now())
  await clock.advance(HOUR_MS)
  await passing(webhooks.edit(id, { isEnabled: true }))
  await world.done(consumer.handle(0, [missed]))
  expect(await pendingOf(id)).toBe(0)
  // Enabled already: it is so since the first time.
  const told = change(clock.now())
  await clock.advance(HOUR_MS)
  await passing(webhooks.edit(id, { isEnabled: true }))
  await world.done(consumer.handle(0, [told]))
  expect(await pendingOf(id)).toBe(1)
})
