// Charts of the last hour: the history of the server, continued with the answers that this page gets.
import { h } from '../dom.ts'
import { roundWords } from '../words.ts'
import type { Sample, Stats } from './api.ts'
import { createChart } from './chart.ts'
import { slowest, total, windowWords } from './deployment.ts'

const KEPT_MS = 3_600_000

const whole = (value: number): string => value.toLocaleString()
const rate = (value: number): string => `${roundWords(value)}/s`
const ms = (value: number): string => `${roundWords(value)} ms`

export function createCharts() {
  const people = createChart('People by status', [
    { label: 'Online', color: 'online', isFilled: true, format: whole },
    { label: 'Away', color: 'away', format: whole },
    { label: 'Busy', color: 'busy', format: whole },
    { label: 'Just gone', color: 'edge', isDashed: true, format: whole },
  ])
  const connections = createChart('Connections and watches', [
    { label: 'Connections', color: 'blue', isFilled: true, format: whole },
    { label: 'Watches, right', color: 'violet', isDashed: true, isRight: true, format: whole },
  ])
  const rates = createChart('Changes and deliveries', [
    { label: 'Changes', color: 'online', format: rate },
    { label: 'Deliveries, right', color: 'blue', isDashed: true, isRight: true, format: rate },
  ])
  const propagation = createChart('Propagation, from a change to its frame', [
    { label: 'p50', color: 'online', format: ms },
    { label: 'p90', color: 'away', isDashed: true, format: ms },
    { label: 'p99', color: 'busy', format: ms },
  ])
  const charts = [people, connections, rates, propagation]
  let points: Sample[] = []

  function draw(): void {
    const instants = points.map(({ at }) => at)
    const row = (value: (point: Sample) => number | null) => points.map(value)
    people.show(instants, [
      row(({ users }) => users?.online ?? null),
      row(({ users }) => users?.away ?? null),
      row(({ users }) => users?.busy ?? null),
      row(({ users }) => users?.offline ?? null),
    ])
    connections.show(instants, [row((point) => point.connections), row((point) => point.watches)])
    rates.show(instants, [
      row((point) => point.changes_per_second),
      row((point) => point.deliveries_per_second),
    ])
    propagation.show(instants, [
      row((point) => point.propagation_p50_ms),
      row((point) => point.propagation_p90_ms),
      row((point) => point.propagation_p99_ms),
    ])
  }

  return {
    element: h('div', { class: 'charts' }, ...charts.map(({ element }) => element)),
    stop() {
      for (const chart of charts) chart.stop()
    },
    /** Starts again with the history of the server. */
    begin(samples: readonly Sample[]) {
      points = [...samples]
      draw()
    },
    add(stats: Stats, at: number) {
      const { processes } = stats
      const last = points.at(-1)?.at ?? 0
      // The clocks of browser and server differ, but the time axis must not go back.
      points.push({
        at: Math.max(at, last + 1),
        users: stats.users,
        connections: stats.connections,
        watches: stats.watches,
        changes_per_second: total(processes, 'changes_per_second'),
        deliveries_per_second: total(processes, 'deliveries_per_second'),
        propagation_p50_ms: slowest(processes, 'p50'),
        propagation_p90_ms: slowest(processes, 'p90'),
        propagation_p99_ms: slowest(processes, 'p99'),
      })
      points = points.filter((point) => point.at > at - KEPT_MS)
      const whose = processes.length > 1 ? 'of the slowest process, ' : ''
      propagation.say(`${whose}in ${windowWords(stats)}`)
      draw()
    },
  }
}
