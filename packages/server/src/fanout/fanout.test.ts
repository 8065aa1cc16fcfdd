// How far consumers are behind, as the fan-out role tells operators.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createFakeClock, type FakeClock, untilDone } from '../../../../testing/worlds/fake-clock.ts'
import { createMemoryLog } from '../log/memory.ts'
import type { ChangeLog } from '../log/port.ts'
import { createLogger } from '../platform/logger.ts'
import { type Fanout, startFanout } from './fanout.ts'

const LOOK_EVERY_MS = 5_000

let clock: FakeClock
let log: ChangeLog
let fanout: Fanout
/** What the log says to the next question. */
let answer: Promise<number>
let first: PromiseWithResolvers<number>

beforeEach(async () => {
  clock = createFakeClock(Date.UTC(2030, 0, 1))
  first = Promise.withResolvers()
  answer = first.promise
  const logger = createLogger({ level: 'silent' })
  const memory = createMemoryLog({ partitionCount: 1, clock, logger })
  log = { ...memory, lag: () => answer }
  fanout = await startFanout({ log, consumers: { history: { async handle() {} } }, clock, logger })
})
afterEach(async () => {
  await untilDone(clock, fanout.stop())
  await untilDone(clock, log.close())
})

test('[C3] a lag that was not answered yet is unknown, not 0, and is asked for at once', async () => {
  await clock.advance(1)
  expect(fanout.lags()).toEqual({ history: null })
  first.resolve(12)
  await clock.advance(1)
  expect(fanout.lags()).toEqual({ history: 12 })
})

test('[C3, C7] it is unknown while the log does not answer', async () => {
  first.reject(new Error('away'))
  await clock.advance(1)
  expect(fanout.lags()).toEqual({ history: null })
  answer = Promise.resolve(3)
  await clock.advance(LOOK_EVERY_MS)
  expect(fanout.lags()).toEqual({ history: 3 })
})

test('[C3] a consumer that has left has none', async () => {
  first.resolve(12)
  const webhooks = await fanout.consume('webhooks', { async handle() {} })
  await clock.advance(1)
  expect(fanout.lags()).toEqual({ history: 12, webhooks: 12 })
  await untilDone(clock, webhooks.stop())
  await clock.advance(LOOK_EVERY_MS)
  expect(fanout.lags()).toEqual({ history: 12 })
})
