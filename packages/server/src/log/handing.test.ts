// A batch that was rejected for long is tried again soon after its consumer can take it.
import { expect, test } from 'bun:test'
import { createFakeClock } from '../../../../testing/worlds/fake-clock.ts'
import { createLogger } from '../platform/logger.ts'
import { createHanding } from './handing.ts'

const SOON_MS = 2_000

test('[C7] a batch is handed out again within 2 s of the end of a long outage', async () => {
  const clock = createFakeClock(1_000_000)
  let isAway = true
  let handled = 0
  const handing = createHanding({
    group: 'test',
    consumer: {
      async handle() {
        if (isAway) throw new Error('the store is away')
        handled++
      },
    },
    pauseMs: 100,
    clock,
    logger: createLogger({ level: 'silent' }),
  })
  const handed = handing.hand(0, [{ userId: 'bob', text: '{}', offset: '1' }], () => false)
  await clock.advance(60_000)
  isAway = false
  await clock.advance(SOON_MS)
  expect([handled, await handed]).toEqual([1, true])
})
