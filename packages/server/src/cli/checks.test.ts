// The checks that look at a value rather than at the world.
import { expect, test } from 'bun:test'
import { checkClock } from './checks.ts'

const NOW = Date.UTC(2026, 5, 1)

test('[C7] a clock before this program or past the century cannot be right', () => {
  expect(checkClock(NOW, null).state).toBe('ok')
  expect(checkClock(0, null).state).toBe('fail')
  expect(checkClock(Date.UTC(2101, 0, 1), null).state).toBe('fail')
})

test('[C7] a clock behind the last sign of life on the database went backwards', () => {
  expect(checkClock(NOW, NOW - 1).state).toBe('ok')
  expect(checkClock(NOW, NOW + 60_000).state).toBe('ok')
  expect(checkClock(NOW, NOW + 60_001)).toMatchObject({ state: 'fail', mend: expect.stringContaining('NTP') })
})
