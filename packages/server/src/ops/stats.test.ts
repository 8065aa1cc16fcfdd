// The figures of a deployment under a clock that stands still: propagation of the last minutes, its history,
// and several processes side by side.
import { afterEach, describe, expect, test } from 'bun:test'
import { createFakeClock } from '../../../../testing/worlds/fake-clock.ts'
import { createTally } from '../platform/tally.ts'
import { createMemoryStore } from '../store/memory.ts'
import type { LogLag } from './process-directory.ts'
import { createStats, type Stats } from './stats.ts'

const NOON = Date.UTC(2030, 0, 1, 12)
const MINUTE_MS = 60_000
const running: Stats[] = []
afterEach(() => {
  for (const stats of running.splice(0)) stats.stop()
})

function createWorld() {
  const clock = createFakeClock(NOON)
  const store = createMemoryStore()
  const addProcess = (logLag: LogLag = {}) => {
    const tally = createTally()
    const stats = createStats({
      tally,
      gateway: () => null,
      logLag: () => logLag,
      archiveBacklog: () => 0,
      store,
      clock,
      roles: ['presence'],
    })
    running.push(stats)
    const deliver = (waitMs: number, count: number) => tally.recentWaits.observe(waitMs, count, clock.now())
    const propagation = async () => ((await stats.read()) as { propagation_ms: object }).propagation_ms
    return { stats, deliver, propagation }
  }
  return { clock, addProcess }
}

/** The percentiles of the newest sample of the history. */
function newest({ stats }: { stats: Stats }): (number | null)[] {
  const sample = stats.history().samples.at(-1)!
  return [sample.propagation_p50_ms, sample.propagation_p90_ms, sample.propagation_p99_ms]
}

describe('stats', () => {
  test('[X4] propagation is of the last five minutes, and says so', async () => {
    const { clock, addProcess } = createWorld()
    const one = addProcess()
    one.deliver(900, 5)
    one.deliver(20, 95)
    expect(await one.propagation()).toEqual({ p50: 20, p90: 20, p99: 900, count: 100, window_ms: 300_000 })
    await clock.advance(6 * MINUTE_MS)
    one.deliver(30, 1)
    expect(await one.propagation()).toEqual({ p50: 30, p90: 30, p99: 30, count: 1, window_ms: 300_000 })
    await clock.advance(6 * MINUTE_MS)
    expect(await one.propagation()).toEqual({ p50: null, p90: null, p99: null, count: 0, window_ms: 300_000 })
  })

  test('[X4] the history has all three percentiles of every sample', async () => {
    const { clock, addProcess } = createWorld()
    const one = addProcess()
    await clock.advance(0)
    expect(newest(one)).toEqual([null, null, null])
    one.deliver(10, 50)
    one.deliver(40, 45)
    one.deliver(70, 5)
    await clock.advance(10_000)
    expect(newest(one)).toEqual([10, 40, 70])
    await clock.advance(6 * MINUTE_MS)
    expect(newest(one)).toEqual([null, null, null])
    const { propagation_window_ms, samples } = one.stats.history()
    expect(propagation_window_ms).toBe(300_000)
    expect(samples.filter(({ propagation_p50_ms }) => propagation_p50_ms === 10)).not.toBeEmpty()
  })

  test('[X4, C1] of several processes the history has the slowest, for each percentile', async () => {
    const { clock, addProcess } = createWorld()
    const [one, two] = [addProcess(), addProcess()]
    one.deliver(10, 98)
    one.deliver(500, 2)
    two.deliver(30, 100)
    // Every process publishes its summary before the next sample.
    await clock.advance(10_000)
    for (const asked of [one, two]) expect(newest(asked)).toEqual([30, 30, 500])
  })

  test('[X4, C1] the lag of the log is of a process that knows it, whichever is asked', async () => {
    const { clock, addProcess } = createWorld()
    const lags = [{ history: null, kafka: 0 }, { history: 7, webhooks: null }, { history: null }, {}]
    const processes = lags.map((lag) => addProcess(lag))
    await clock.advance(10_000)
    for (const { stats } of processes)
      expect(await stats.read()).toMatchObject({ log_lag: { history: 7, kafka: 0, webhooks: null } })
  })
})
