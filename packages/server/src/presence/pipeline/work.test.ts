// Joining two pieces of work of one user.
import { expect, test } from 'bun:test'
import type { PresenceEvent } from '../core/event.ts'
import { createWork, join, type Work } from './work.ts'

const TICK: PresenceEvent = { type: 'tick' }
const LEFT: PresenceEvent = { type: 'left', sessionId: 's1', at: 1 }

const work = (fields: Partial<Work>): Work => ({ ...createWork(), ...fields })

test('[P2] later events and callers come after the earlier ones', () => {
  const caller = (event: PresenceEvent) => ({ events: [event], resolve() {}, reject() {} })
  const [early, late] = [caller(TICK), caller(LEFT)]
  const joined = work({ events: [TICK], waiters: [early] })
  join(joined, work({ events: [LEFT], waiters: [late] }))
  expect(joined.events).toEqual([TICK, LEFT])
  expect(joined.waiters).toEqual([early, late])
  expect(joined.isRepeated).toBe(false)
})

test.each([
  [true, false],
  [false, true],
])('[C7] joined work is announced again if either part must be (%p, %p)', (one, other) => {
  const joined = work({ isRepeated: one })
  join(joined, work({ isRepeated: other }))
  expect(joined.isRepeated).toBe(true)
})
