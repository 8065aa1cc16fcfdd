// Works by themselves: what comes later is added in order, whoever waits hears of it once, and only what
// asks nothing but what is due may be left out.
import { describe, expect, test } from 'bun:test'
import type { PresenceEvent } from '../core/event.ts'
import { Unavailable } from '../unavailable.ts'
import { createWork, isTick, join, reject, type Work } from './work.ts'

const TICK: PresenceEvent = { type: 'tick' }
const GOODBYE: PresenceEvent = { type: 'left', sessionId: 's1', at: 1 }

function work(fields: Partial<Work> = {}): Work {
  return { ...createWork(1), ...fields }
}

/** Somebody who waits, and what they were told. */
function waiter() {
  const told: unknown[] = []
  return { told, resolve: () => void told.push('done'), reject: (error: unknown) => void told.push(error) }
}

test('[P2] what joins a work comes after it, and keeps the number it is waited for by', () => {
  const [early, late] = [waiter(), waiter()]
  const first = work({ number: 3, events: [TICK], waiters: [early] })
  join(first, work({ number: 7, events: [GOODBYE], waiters: [late] }))
  expect(first).toMatchObject({ number: 3, events: [TICK, GOODBYE], isRepeated: false })
  expect(first.waiters).toEqual([early, late])
})

test('[C7] whichever of the two is to be said again, both are', () => {
  for (const [one, other] of [
    [true, false],
    [false, true],
  ] as const) {
    const joined = work({ isRepeated: one })
    join(joined, work({ isRepeated: other }))
    expect(joined.isRepeated).toBe(true)
  }
})

test('[C7] everybody who waits is told that it failed', () => {
  const [one, other] = [waiter(), waiter()]
  const failure = new Unavailable('the store does not answer')
  reject(work({ waiters: [one, other] }), failure)
  expect([one.told, other.told]).toEqual([[failure], [failure]])
})

describe('only what is due is asked', () => {
  test('[P5] by ticks alone', () => {
    expect(isTick(work({ events: [TICK, TICK] }))).toBe(true)
    expect(isTick(work({ events: [TICK, GOODBYE] }))).toBe(false)
  })

  test('[C7] not when somebody waits for it, nor when it is to be said again', () => {
    expect(isTick(work({ events: [TICK], waiters: [waiter()] }))).toBe(false)
    expect(isTick(work({ events: [TICK], isRepeated: true }))).toBe(false)
  })
})
