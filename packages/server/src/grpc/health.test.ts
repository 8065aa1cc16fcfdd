// The streams of the health service, with calls that are over at an awkward moment.
import { expect, test } from 'bun:test'
import { EventEmitter } from 'node:events'
import { createFakeClock } from '../../../../testing/worlds/fake-clock.ts'
import type { Readiness } from '../ops/readiness.ts'
import type { Message } from './call.ts'
import { createHealth } from './health.ts'

const READY = { status: 'ready', checks: {} } as unknown as Readiness

function createWorld() {
  const clock = createFakeClock(0)
  const asked: ((readiness: Readiness) => void)[] = []
  const readiness = () => new Promise<Readiness>((resolve) => void asked.push(resolve))
  const { handlers, stop } = createHealth({ readiness, services: [], clock })
  const watch = () => {
    const told: Message[] = []
    const call = Object.assign(new EventEmitter(), {
      request: { service: '' },
      writableNeedDrain: false,
      write: (message: Message) => void told.push(message),
      end() {},
    })
    const begun = (handlers.Watch as (call: unknown) => Promise<void>)(call)
    return { call, told, begun }
  }
  return { clock, asked, watch, stop }
}

test('[C5] a call that is cancelled while the checks run is told nothing, then or later', async () => {
  const { clock, asked, watch, stop } = createWorld()
  const { call, told, begun } = watch()
  call.emit('cancelled')
  asked.shift()!(READY)
  await begun
  await clock.advance(5_000)
  // No call is left for which the checks would run.
  expect(asked).toEqual([])
  stop()
  expect(told).toEqual([])
})

test('[C5] a call that is cancelled while the checks run again is not kept either', async () => {
  const { clock, asked, watch, stop } = createWorld()
  const { call, told, begun } = watch()
  asked.shift()!(READY)
  await begun
  expect(told).toEqual([{ status: 'SERVING' }])
  await clock.advance(1_000)
  call.emit('close')
  asked.shift()!({ ...READY, status: 'not_ready' } as Readiness)
  await clock.advance(5_000)
  expect(asked).toEqual([])
  stop()
  expect(told).toHaveLength(1)
})
