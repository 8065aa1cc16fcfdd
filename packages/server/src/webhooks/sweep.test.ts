// The sweep on a fake clock: a webhook for which too much waits is disabled after a warning, and old failures are deleted.
import { expect, test } from 'bun:test'
import { aWebhook } from '../../../../testing/contracts/archive/webhooks.ts'
import { createPipeline } from '../../../../testing/worlds/presence-pipeline.ts'
import { openWebhookBook, type WebhookBook } from './book.ts'
import { startWebhookSweep } from './sweep.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

test('[X5] disables a webhook for which too much waits, and deletes failures after a week', async () => {
  const world = await createPipeline()
  const { clock, logger, archive } = world
  const { webhooks } = archive
  const startedAt = clock.now()
  await world.done(webhooks.add(aWebhook('h', { createdAt: startedAt, updatedAt: startedAt }), 10))
  const delivery = { webhookId: 'h', userId: 'anna', order: 1, events: '{}', createdAt: startedAt }
  await world.done(webhooks.keep([delivery], []))
  await world.done(webhooks.giveUp('h', startedAt, 'it failed'))
  const book = await world.done(openWebhookBook(webhooks, clock, logger))
  const disabled: string[] = []
  const disable = async (_: unknown, because: string) => void disabled.push(because)
  let pending = 500
  const counted = { ...webhooks, health: async (id: string) => ({ ...(await webhooks.health(id)), pending }) }
  const sweep = startWebhookSweep({
    archive: { ...archive, webhooks: counted },
    book,
    disable,
    pendingMax: 1_000,
    clock,
    logger,
  })
  await clock.advance(6 * DAY_MS)
  expect((await world.done(webhooks.health('h'))).failed).toBe(1)
  expect([disabled, world.lines]).toEqual([[], []])
  await clock.advance(2 * DAY_MS)
  expect((await world.done(webhooks.health('h'))).failed).toBe(0)
  const warning = 'many changes wait for a webhook; it is disabled when there are too many'
  for (const [waiting, warnings] of [
    [501, 1],
    [1_000, 1],
    [500, 1],
    [501, 2],
  ] as const) {
    pending = waiting
    await clock.advance(MINUTE_MS)
    expect(world.lines.filter((line) => line === warning)).toHaveLength(warnings)
  }
  expect(disabled).toEqual([])
  pending = 1_001
  await clock.advance(MINUTE_MS)
  expect(disabled).toEqual(['more than 1000 changes waited for it'])
  sweep.stop()
  book.stop()
})

test('[X5] deletes the failures of the only webhook after a week, though it is disabled', async () => {
  const world = await createPipeline()
  const { clock, logger, archive } = world
  const { webhooks } = archive
  const now = clock.now()
  const webhook = aWebhook('h', { createdAt: now, updatedAt: now })
  await world.done(webhooks.add(webhook, 10))
  await world.done(
    webhooks.keep([{ webhookId: 'h', userId: 'anna', order: 1, events: '{}', createdAt: now }], []),
  )
  const state = { state: 'disabled', at: now, because: 'it failed' } as const
  await world.done(webhooks.edit({ ...webhook, state, updatedAt: now + 1 }, now))
  await world.done(webhooks.giveUp('h', now, 'it failed'))
  const book = { enabled: () => [] } as unknown as WebhookBook
  const disable = async () => {}
  const sweep = startWebhookSweep({ archive, book, disable, pendingMax: 1_000, clock, logger })
  await clock.advance(6 * DAY_MS)
  expect((await world.done(webhooks.health('h'))).failed).toBe(1)
  await clock.advance(2 * DAY_MS)
  expect((await world.done(webhooks.health('h'))).failed).toBe(0)
  sweep.stop()
})
