// Changes go from one gateway to the other at growing rates, each to all watchers. Measured is the time from
// the client's send to the receipt by a watcher on the other gateway, and the CPU of every process.
import { cpuSeconds } from '../../../packages/bench/src/platform/proc.ts'
import { type FaultCase, type Fixture, startFixture } from '../fixture.ts'

const RATES = [250, 500, 1_000, 2_000]
const RATES_QUICK = [100, 200]
const STRETCH_MS = 8_000
const STRETCH_QUICK_MS = 3_000
const WARM_UP_MS = 1_500
const FLUSH_MS = 5
const TARGET_P99_MS = 50
const PAUSE_MS = 1_000

export const propagation: FaultCase = {
  name: 'changes from gateway to gateway',
  expectation: `p99 below ${TARGET_P99_MS} ms from send to receipt, and nothing lost, at growing rates`,
  async run(context) {
    const latencies: number[] = []
    let isMeasuring = false
    const fixture = await startFixture(context, {
      presences: 1,
      settings: { flush_ms: FLUSH_MS },
      onState(about, state, watcher) {
        if (!isMeasuring || state.status !== about.status.current()) return
        if (about.client.url() === watcher.client.url()) return
        latencies.push(performance.now() - about.status.since())
      },
    })
    const { users, checker } = fixture
    const notes = [
      `flush_ms ${FLUSH_MS}, ${context.contacts} watchers each, half of them on the other gateway`,
    ]
    const problems: string[] = []
    try {
      checker.begin(5_000)
      for (const rate of context.isQuick ? RATES_QUICK : RATES) {
        const stop = users.keepChanging(users.all, rate)
        await Bun.sleep(WARM_UP_MS)
        latencies.length = 0
        isMeasuring = true
        const watch = watchCpu(fixture)
        await Bun.sleep(context.isQuick ? STRETCH_QUICK_MS : STRETCH_MS)
        const busy = watch()
        isMeasuring = false
        stop()
        const [p50, p99] = [percentile(latencies, 0.5), percentile(latencies, 0.99)]
        if (p99 >= TARGET_P99_MS) problems.push(`p99 was ${Math.round(p99)} ms at ${rate} changes a second`)
        const line = `${rate} changes a second: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms (${busy})`
        notes.push(line)
        context.say(line)
        await Bun.sleep(PAUSE_MS)
      }
      return await fixture.verdict({ healMsMax: 1_000, notes, problems })
    } finally {
      await fixture.stop()
    }
  },
}

/** Returns a function that says what share of a core each process used since. */
function watchCpu({ deployment }: Fixture): () => string {
  const pids = [
    ...deployment.gateways.map(({ pid }, index) => [`gateway ${index + 1}`, pid] as const),
    ['presence', deployment.presences[0]!.pid] as const,
    ['redis', deployment.redis().pid] as const,
    ['clients', process.pid] as const,
  ]
  const startedAt = performance.now()
  const before = pids.map(([, pid]) => cpuSeconds(pid))
  return () => {
    const seconds = (performance.now() - startedAt) / 1000
    const share = (pid: number, index: number) =>
      Math.round(((cpuSeconds(pid) - before[index]!) / seconds) * 100)
    return pids.map(([name, pid], index) => `${name} ${share(pid, index)} %`).join(', ')
  }
}

function percentile(values: readonly number[], share: number): number {
  if (values.length === 0) return Number.POSITIVE_INFINITY
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!
}
