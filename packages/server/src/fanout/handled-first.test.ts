import { expect, test } from 'bun:test'
import { createFakeClock } from '../../../../testing/worlds/fake-clock.ts'
import { createMemoryLog } from '../log/memory.ts'
import { createLogger } from '../platform/logger.ts'
import { createHandledFirst } from './handled-first.ts'

const logger = createLogger({ level: 'silent' })

function createWorld() {
  const clock = createFakeClock(0)
  const log = createMemoryLog({ partitionCount: 2, clock, logger })
  const held: (() => void)[] = []
  const consumer = { handle: () => new Promise<void>((resolve) => held.push(resolve)) }
  const waitFor = createHandledFirst({ whenHandled: () => log.whenHandled('g'), clock })
  /** Whether what was waited for is there. */
  const isThere = async (waited: Promise<unknown> | null) => {
    let isDone = false
    void waited?.then(() => {
      isDone = true
    })
    await clock.advance(0)
    return isDone
  }
  return { clock, log, held, consumer, waitFor, isThere }
}

const change = (userId: string) => ({ userId, text: '{}' })

test('[X5] an announcement waits until its change is handled, not for those after it', async () => {
  const { clock, log, held, consumer, waitFor, isThere } = createWorld()
  expect(waitFor()).toBeNull()
  await log.consume('g', 'oldest', consumer)
  expect(waitFor()).toBeNull()
  await log.append([change('ann')])
  const first = waitFor()
  await clock.advance(0)
  expect(await isThere(first)).toBe(false)
  await log.append([change('ann')])
  held[0]!()
  await clock.advance(0)
  expect(await isThere(first)).toBe(true)
  expect(waitFor()).not.toBeNull()
})

test('[X5, C7] a consumer that does not get on is waited for once, until it has caught up', async () => {
  const { clock, log, held, consumer, waitFor, isThere } = createWorld()
  await log.consume('g', 'oldest', consumer)
  await log.append([change('ann')])
  const first = waitFor()
  await clock.advance(1_000)
  expect(await isThere(first)).toBe(true)
  expect(waitFor()).toBeNull()
  held[0]!()
  await clock.advance(0)
  await log.append([change('bob')])
  await clock.advance(0)
  expect(waitFor()).not.toBeNull()
})

test('[X5] nothing waits for a consumer that has left', async () => {
  const { clock, log, held, consumer, waitFor, isThere } = createWorld()
  const consumption = await log.consume('g', 'oldest', consumer)
  await log.append([change('ann')])
  const waited = waitFor()
  await clock.advance(0)
  await log.append([change('ann')])
  const stopped = consumption.stop()
  held[0]!()
  await stopped
  expect(await isThere(waited)).toBe(true)
  expect(waitFor()).toBeNull()
})
