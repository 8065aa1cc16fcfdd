// The table of processes, with their load and its sum.

import { h, setText } from '../dom.ts'
import { bytesWords, durationWords, roundWords } from '../words.ts'
import type { Process, Stats } from './api.ts'
import { slowest, total, windowWords } from './deployment.ts'

interface Column {
  title: string
  /** The figure of one process, or the sum of several. */
  text(processes: readonly Process[]): string
  /** For the bar behind the number. */
  amount?: (process: Process) => number
}

type Amount = 'connections' | 'streams' | 'watches' | 'watched_users'

const counted = (title: string, what: Amount): Column => ({
  title,
  text: (processes) => total(processes, what).toLocaleString(),
  amount: (process) => process[what],
})
const rated = (title: string, what: 'changes_per_second' | 'deliveries_per_second'): Column => ({
  title,
  text: (processes) => roundWords(total(processes, what)),
})

const COLUMNS: readonly Column[] = [
  { title: 'Roles', text: (processes) => [...new Set(processes.flatMap(({ roles }) => roles))].join(', ') },
  counted('Connections', 'connections'),
  counted('Streams', 'streams'),
  counted('Watches', 'watches'),
  counted('Watched', 'watched_users'),
  { title: 'Slow', text: (processes) => total(processes, 'slow_readers').toLocaleString() },
  rated('Changes/s', 'changes_per_second'),
  rated('Deliveries/s', 'deliveries_per_second'),
  {
    title: 'p99',
    text(processes) {
      const p99 = slowest(processes, 'p99')
      return p99 === null ? '–' : `${roundWords(p99)} ms`
    },
  },
  { title: 'Memory', text: (processes) => bytesWords(total(processes, 'resident_bytes')) },
  {
    title: 'Up for',
    text: (processes) => durationWords(Math.max(...processes.map(({ uptime_ms: ms }) => ms))),
  },
]

export function createProcesses() {
  const body = h('tbody', {})
  const foot = h('tfoot', {})
  const summary = h('p', { class: 'soft' })
  const table = h(
    'table',
    {},
    h(
      'thead',
      {},
      h(
        'tr',
        {},
        ...['Process', ...COLUMNS.map(({ title }) => title)].map((title) => h('th', { scope: 'col' }, title)),
      ),
    ),
    body,
    foot,
  )
  const element = h(
    'section',
    { class: 'panel', 'aria-labelledby': 'processes-title' },
    h('h2', { id: 'processes-title' }, 'Processes'),
    summary,
    // Focusable, so that it can be scrolled by keyboard on narrow screens.
    h('div', { class: 'scroller', tabindex: 0, role: 'region', 'aria-label': 'Table of processes' }, table),
  )

  return {
    element,
    show(stats: Stats) {
      const { processes } = stats
      const gateways = processes.filter(({ roles }) => roles.includes('gateway')).length
      setText(
        summary,
        `${processes.length} running, ${gateways} of them ${gateways === 1 ? 'holds' : 'hold'} connections. ` +
          `p99 is of ${windowWords(stats)}.`,
      )
      const largest = COLUMNS.map(({ amount }) => (amount ? Math.max(1, ...processes.map(amount)) : 1))
      body.replaceChildren(
        ...processes.map((process) =>
          h(
            'tr',
            {},
            h('th', { scope: 'row' }, process.name),
            ...COLUMNS.map(({ text, amount }, index) => {
              const cell = h('td', { class: amount ? 'bar' : '' }, text([process]))
              if (amount) cell.style.setProperty('--part', `${(100 * amount(process)) / largest[index]!}%`)
              return cell
            }),
          ),
        ),
      )
      const sums = COLUMNS.map(({ text }) => h('td', {}, text(processes)))
      // A single process needs no sum.
      foot.replaceChildren(
        ...(processes.length > 1 ? [h('tr', {}, h('th', { scope: 'row' }, 'Together'), ...sums)] : []),
      )
    },
  }
}
