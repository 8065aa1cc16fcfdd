// The process clock against a machine whose clock is set back and forth while monotonic time goes on.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { type Clock, systemClock } from './clock.ts'
import { createLogger } from './logger.ts'
import { createSteadyClock } from './steady-clock.ts'

const NOON = Date.UTC(2030, 0, 1, 12)
const MINUTES_MS = 300_000
const AGREE_MS = 10

function world() {
  let wallAt = NOON
  let elapsedMs = 50
  const lines: string[] = []
  const logger = createLogger({ level: 'info', destination: { write: (line) => void lines.push(line) } })
  const machine: Clock = { ...systemClock, now: () => Math.floor(wallAt), elapsed: () => elapsedMs }
  const clock = createSteadyClock(machine, logger)
  return {
    clock,
    lines,
    wallAt: () => Math.floor(wallAt),
    pass(ms: number) {
      wallAt += ms
      elapsedMs += ms
    },
    /** As a server, which reads its clock all the time. */
    run(ms: number) {
      for (let at = 0; at < ms; at += 100) {
        this.pass(100)
        clock.now()
      }
    },
    step(ms: number) {
      wallAt += ms
    },
  }
}

test('[C7] is the clock of the machine while that is not set', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 5_000, noNaN: true }), { maxLength: 50 }), (pauses) => {
      const { clock, pass, wallAt, lines } = world()
      for (const ms of pauses) {
        pass(ms)
        expect(clock.now()).toBe(wallAt())
      }
      expect(lines).toEqual([])
    }),
  )
})

test('[C7] a clock that is set back 20 s delays no deadline by more than a tenth, and is caught up with', () => {
  const machine = world()
  const { clock, run, step, wallAt, lines } = machine
  const before = clock.now()
  step(-20_000)
  expect(clock.now()).toBe(before)
  run.call(machine, 10_000)
  expect(clock.now() - before).toBeGreaterThanOrEqual(9_000)
  expect(clock.now() - before).toBeLessThanOrEqual(10_000)
  run.call(machine, 200_000)
  expect(clock.now()).toBe(wallAt())
  expect(lines).toHaveLength(1)
})

test('[C7] a machine that slept for hours is followed at once', () => {
  const { clock, pass, step, wallAt } = world()
  pass(10)
  clock.now()
  step(8 * 3_600_000)
  expect(clock.now()).toBe(wallAt())
})

const happenings = fc.array(
  fc.record({
    passMs: fc.double({ min: 0, max: 3_000, noNaN: true }),
    stepMs: fc.oneof(
      { weight: 3, arbitrary: fc.constant(0) },
      fc.integer({ min: -20, max: 20 }),
      fc.integer({ min: -100_000, max: 100_000 }),
      fc.integer({ min: -86_400_000, max: 86_400_000 }),
    ),
  }),
  { maxLength: 100 },
)

test('[C7] never goes back, and runs within a tenth of monotonic time unless the step is minutes ahead', () => {
  fc.assert(
    fc.property(happenings, (taken) => {
      const { clock, pass, step, wallAt } = world()
      let last = clock.now()
      for (const { passMs, stepMs } of taken) {
        step(stepMs)
        pass(passMs)
        const now = clock.now()
        expect(now).toBeGreaterThanOrEqual(last)
        // One more for the part of a millisecond that both cut off.
        expect(now - last).toBeGreaterThanOrEqual(passMs * 0.9 - AGREE_MS - 1)
        const isFollowed = wallAt() - (last + passMs) >= MINUTES_MS - 1
        if (!isFollowed) expect(now - last).toBeLessThanOrEqual(passMs * 1.1 + AGREE_MS + 1)
        last = now
      }
    }),
  )
})

test('[C7] agrees with the machine again after any steps, in ten times the difference', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -30_000, max: 30_000 }), { maxLength: 5 }), (steps) => {
      const machine = world()
      for (const ms of steps) {
        machine.step(ms)
        machine.run(500)
      }
      machine.run(steps.reduce((sum, ms) => sum + Math.abs(ms), 0) * 10 + 1_000)
      expect(machine.clock.now()).toBe(machine.wallAt())
    }),
    { numRuns: 30 },
  )
})
