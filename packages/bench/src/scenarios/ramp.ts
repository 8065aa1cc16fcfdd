// Looks for the highest rate of changes that is sustained: p99 within the bound, and every watcher
// has the newest state once the changes stop. Grows until a rate fails twice, then halves the gap a few times.

import type { Figure } from '../figures/result.ts'
import type { Fleet } from '../load/fleet.ts'
import { now, sleepUntil } from '../platform/clock.ts'
import { type Bench, figure } from './scenario.ts'

const GROWTH = 1.5
const HALVINGS = 3
const STEPS_MAX = 30
const WARM_SECONDS = 1
const STEP_SECONDS_MAX = 5
const LEAD_MS = 300
const LAST_MS_MAX = 2_000
/** What is still under way when a rate was too high must be through before the next one is tried. */
const RECOVER_MS_MAX = 60_000
/** The load itself may be this late before it, and not the server, is the limit. */
const LATE_MS_MAX = 20

interface Tried {
  rate: number
  isSustained: boolean
  p99: number
  deliveriesPerSecond: number
}

export async function findSustained(fleet: Fleet, bench: Bench, firstRate: number): Promise<Figure[]> {
  const { options, progress } = bench
  const seconds = Math.min(options.seconds, STEP_SECONDS_MAX)
  const boundMs = options.boundMs

  async function attempt(rate: number): Promise<Tried> {
    const startAt = now() + LEAD_MS
    const measuredAt = startAt + WARM_SECONDS * 1000
    const first = (await fleet.inspect()).phases.length
    await fleet.phase({ startAt, perSecond: rate, changes: Math.round(WARM_SECONDS * rate) })
    await fleet.phase({ startAt: measuredAt, perSecond: rate, changes: Math.round(seconds * rate) })
    await sleepUntil(measuredAt)
    const before = (await fleet.report()).counts.updates
    const beforeAt = now()
    await sleepUntil(measuredAt + seconds * 1000)
    const { counts } = await fleet.report()
    const deliveriesPerSecond = ((counts.updates - before) / (now() - beforeAt)) * 1000
    const isQuiet = await fleet.quiet(LAST_MS_MAX)
    const { phases, behind, lateness } = await fleet.inspect()
    const lateMs = lateness[first + 1]!.at(99)
    const p99 = phases[first + 1]!.at(99)
    const isSustained = isQuiet && behind === 0 && p99 <= boundMs
    const verdict = isSustained
      ? 'sustained'
      : behind > 0 || !isQuiet
        ? 'watchers without the newest state'
        : 'too late'
    const late = lateMs > LATE_MS_MAX ? `, the load itself is late by ${lateMs.toFixed(0)} ms` : ''
    progress.say(
      `  ${rate} changes, ${deliveriesPerSecond.toFixed(0)} deliveries a second: p99 ${p99.toFixed(1)} ms, ${verdict}${late}`,
    )
    if (!isSustained) await fleet.quiet(RECOVER_MS_MAX)
    return { rate, isSustained, p99, deliveriesPerSecond }
  }

  /** One hiccup of the machine is not the limit of the server. */
  async function twice(rate: number): Promise<Tried> {
    const tried = await attempt(rate)
    return tried.isSustained ? tried : attempt(rate)
  }

  let best: Tried | null = null
  let failedAt = Number.POSITIVE_INFINITY
  for (let rate = firstRate, step = 0; step < STEPS_MAX; rate = Math.ceil(rate * GROWTH), step++) {
    const tried = await twice(rate)
    if (!tried.isSustained) {
      failedAt = rate
      break
    }
    best = tried
  }
  for (let halving = 0; halving < HALVINGS && Number.isFinite(failedAt); halving++) {
    const tried = await twice(Math.round(((best?.rate ?? 0) + failedAt) / 2))
    if (tried.isSustained) best = tried
    else failedAt = tried.rate
  }
  return [
    figure(
      'sustained_changes_per_second',
      `highest rate with p99 up to ${boundMs} ms`,
      best?.rate ?? 0,
      'changes a second',
    ),
    figure(
      'sustained_deliveries_per_second',
      'deliveries at that rate',
      best?.deliveriesPerSecond ?? 0,
      'a second',
    ),
    figure('sustained_p99_ms', 'p99 at that rate', best?.p99 ?? 0, 'ms'),
  ]
}
