// The sweep on a fake clock: a webhook for which too much waits is disabled, and old failures are deleted.
import { expect, test } from 'bun:test'
import { aWebhook } from '../../../../testing/contracts/archive/webhooks.ts'
import { createPipeline } from '../../../../testing/worlds/presence-pipeline.ts'
import { openWebhookBook } from './book.ts'
import { startWebhookSweep } from './sweep.ts'

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
  let pending = 100_000
  const counted = { ...webhooks, health: async (id: string) => ({ ...(await webhooks.health(id)), pending }) }
  const sweep = startWebhookSweep({
    archive: { ...archive, webhooks: counted },
    book,
    disable,
    clock,
    logger,
  })
  await clock.advance(6 * DAY_MS)
  expect((await world.done(webhooks.health('h'))).failed).toBe(1)
  expect(disabled).toEqual([])
  await clock.advance(2 * DAY_MS)
  expect((await world.done(webhooks.health('h'))).failed).toBe(0)
  pending = 100_001
  await clock.advance(10_000)
  expect(disabled).toEqual(['more than 100000 changes waited for it'])
  sweep.stop()
  book.stop()
})
