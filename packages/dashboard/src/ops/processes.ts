// Every process of the deployment and what it carries, side by side: an overloaded or idle one stands out.
import { h, setText } from '../dom.ts'
import { bytesWords, durationWords, roundWords } from '../words.ts'
import type { Process } from './api.ts'

interface Column {
  title: string
  text(process: Process): string
  /** How much of it, for a bar behind the number. */
  amount?(process: Process): number
}

const count = (value: number): string => value.toLocaleString()

const COLUMNS: readonly Column[] = [
  { title: 'Roles', text: ({ roles }) => roles.join(', ') },
  { title: 'Connections', text: (one) => count(one.connections), amount: (one) => one.connections },
  { title: 'Streams', text: (one) => count(one.streams), amount: (one) => one.streams },
  { title: 'Watches', text: (one) => count(one.watches), amount: (one) => one.watches },
  { title: 'Watched people', text: (one) => count(one.watched_users), amount: (one) => one.watched_users },
  { title: 'Slow readers', text: (one) => count(one.slow_readers) },
  { title: 'Changes/s', text: (one) => roundWords(one.changes_per_second) },
  { title: 'Deliveries/s', text: (one) => roundWords(one.deliveries_per_second) },
  {
    title: 'p99',
    text: ({ propagation_p99_ms: p99 }) => (p99 === null ? '–' : `${roundWords(p99)} ms`),
  },
  { title: 'Memory', text: (one) => bytesWords(one.resident_bytes) },
  { title: 'Up for', text: (one) => durationWords(one.uptime_ms) },
]

export function createProcesses() {
  const body = h('tbody', {})
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
  )
  const element = h(
    'section',
    { class: 'panel', 'aria-labelledby': 'processes-title' },
    h('h2', { id: 'processes-title' }, 'Processes'),
    summary,
    // Wider than a phone: it scrolls by itself, by keyboard too.
    h('div', { class: 'scroller', tabindex: 0, role: 'region', 'aria-label': 'Table of processes' }, table),
  )

  return {
    element,
    show(processes: readonly Process[]) {
      const gateways = processes.filter(({ roles }) => roles.includes('gateway')).length
      setText(
        summary,
        `${processes.length} running, ${gateways} of them ${gateways === 1 ? 'holds' : 'hold'} connections.`,
      )
      const largest = COLUMNS.map(({ amount }) => (amount ? Math.max(1, ...processes.map(amount)) : 1))
      body.replaceChildren(
        ...processes.map((process) =>
          h(
            'tr',
            {},
            h('th', { scope: 'row' }, process.name),
            ...COLUMNS.map(({ text, amount }, index) => {
              const cell = h('td', { class: amount ? 'bar' : '' }, text(process))
              if (amount) cell.style.setProperty('--part', `${(100 * amount(process)) / largest[index]!}%`)
              return cell
            }),
          ),
        ),
      )
    },
  }
}
