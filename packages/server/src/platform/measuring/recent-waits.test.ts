// Percentiles of the last minutes against exact percentiles of the samples, and what leaves the window.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createRecentWaits, WAIT_WINDOW_MS } from './recent-waits.ts'

const NOON = Date.UTC(2030, 0, 1, 12)
const SLICE_MS = 30_000
const NOTHING = { p50: null, p90: null, p99: null, count: 0 }

interface Observation {
  at: number
  waitMs: number
  count: number
}

/** The smallest waiting time that this share did not exceed, from the sorted list; null without any. */
function exactly(observations: readonly Observation[], share: number): number | null {
  const waits = observations
    .flatMap(({ waitMs, count }) => new Array<number>(count).fill(waitMs))
    .sort((a, b) => a - b)
  return waits[Math.ceil(waits.length * share) - 1] ?? null
}

/** What a bucket of one millisecond up to 4,096 ms keeps of it. */
const rounded = (waitMs: number | null) =>
  waitMs === null ? null : Math.min(4_096, Math.max(0, Math.trunc(waitMs)))

const steps = fc.array(
  fc.record({
    // Often within a slice, sometimes past the whole window.
    laterMs: fc.oneof(fc.nat(2_000), fc.nat(SLICE_MS * 2), fc.nat(WAIT_WINDOW_MS * 2)),
    waitMs: fc.oneof(fc.double({ min: -5, max: 200, noNaN: true }), fc.integer({ min: 0, max: 10_000 })),
    count: fc.integer({ min: 1, max: 20 }),
  }),
  { maxLength: 60 },
)

describe('percentiles of the last minutes', () => {
  test('[X4] match exact percentiles of the samples in the window', () => {
    fc.assert(
      fc.property(steps, fc.nat(WAIT_WINDOW_MS), (taken, afterMs) => {
        const waits = createRecentWaits()
        const observations: Observation[] = []
        let now = NOON
        const compare = () => {
          const sliceOf = (at: number) => Math.floor(at / SLICE_MS)
          const counted = observations.filter(
            ({ at }) => sliceOf(at) > sliceOf(now) - WAIT_WINDOW_MS / SLICE_MS,
          )
          // The window is whole slices, but nothing older counts, and at most one slice is missing.
          for (const one of observations) {
            if (one.at < now - WAIT_WINDOW_MS) expect(counted).not.toContain(one)
            if (one.at > now - WAIT_WINDOW_MS + SLICE_MS) expect(counted).toContain(one)
          }
          expect(waits.percentiles(now)).toEqual({
            p50: rounded(exactly(counted, 0.5)),
            p90: rounded(exactly(counted, 0.9)),
            p99: rounded(exactly(counted, 0.99)),
            count: counted.reduce((sum, { count }) => sum + count, 0),
          })
        }
        for (const { laterMs, waitMs, count } of taken) {
          now += laterMs
          waits.observe(waitMs, count, now)
          observations.push({ at: now, waitMs, count })
          compare()
        }
        now += afterMs
        compare()
      }),
    )
  })

  test('[X4] old samples leave, and the new ones alone count', () => {
    const waits = createRecentWaits()
    waits.observe(4_000, 1_000_000, NOON)
    expect(waits.percentiles(NOON)).toEqual({ p50: 4_000, p90: 4_000, p99: 4_000, count: 1_000_000 })
    waits.observe(7, 1, NOON + WAIT_WINDOW_MS)
    expect(waits.percentiles(NOON + WAIT_WINDOW_MS)).toEqual({ p50: 7, p90: 7, p99: 7, count: 1 })
    expect(waits.percentiles(NOON + 2 * WAIT_WINDOW_MS)).toEqual(NOTHING)
  })

  test('[X4] a clock that was ahead for a while does not stop the window', () => {
    const waits = createRecentWaits()
    waits.observe(9, 1, NOON + 86_400_000)
    waits.observe(3, 1, NOON)
    expect(waits.percentiles(NOON)).toEqual({ p50: 3, p90: 3, p99: 3, count: 1 })
    // A test clock may begin at the epoch and be skewed.
    waits.observe(5, 1, -1)
    expect(waits.percentiles(-1)).toEqual({ p50: 5, p90: 5, p99: 5, count: 1 })
  })
})
