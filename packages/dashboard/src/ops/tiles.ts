// The most important numbers.
import { h, setAttribute, setText } from '../dom.ts'
import { roundWords } from '../words.ts'
import type { Stats } from './api.ts'
import { slowest, total, windowWords } from './deployment.ts'

interface Tile {
  name: string
  label: string
  value(stats: Stats): string
  /** Below the number. */
  note(stats: Stats): string
  isBad?(stats: Stats): boolean
}

/** A number and its unit stay on one line. */
const ms = (value: number | null): string => (value === null ? '–' : `${roundWords(value)}\u00a0ms`)
const count = (value: number): string => value.toLocaleString()
/** Marks numbers that only the answering process knows. */
const here = ({ processes }: Stats): string => (processes.length > 1 ? ' of this process' : '')

const TILES: readonly Tile[] = [
  {
    name: 'people',
    label: 'People here',
    value: ({ users }) => (users ? count(users.online! + users.away! + users.busy!) : '–'),
    note: ({ users }) =>
      users
        ? `${count(users.online!)} online, ${count(users.away!)} away, ${count(users.busy!)} busy`
        : 'store is away',
  },
  {
    name: 'connections',
    label: 'Connections',
    value: ({ connections }) => count(connections),
    note: ({ streams }) => `and ${count(streams)} ${streams === 1 ? 'stream' : 'streams'}`,
  },
  {
    name: 'watches',
    label: 'Watches',
    value: ({ watches }) => count(watches),
    // A user watched at two gateways counts twice.
    note: ({ watched_users: watched, gateways }) =>
      `of ${count(watched)} ${watched === 1 ? 'person' : 'people'}${gateways.length > 1 ? ', at each gateway' : ''}`,
  },
  {
    name: 'changes',
    label: 'Changes/s',
    value: (stats) => roundWords(total(stats.processes, 'changes_per_second')),
    note: (stats) => `${count(stats.totals.changes ?? 0)} since the start${here(stats)}`,
  },
  {
    name: 'deliveries',
    label: 'Deliveries/s',
    value: (stats) => roundWords(total(stats.processes, 'deliveries_per_second')),
    note: (stats) => `${count(stats.totals.deliveries ?? 0)} since the start${here(stats)}`,
  },
  {
    name: 'propagation',
    label: 'Propagation, p99',
    value: (stats) => ms(slowest(stats.processes, 'p99')),
    note: (stats) => {
      const [p50, p90] = (['p50', 'p90'] as const).map((which) => ms(slowest(stats.processes, which)))
      const whose = stats.processes.length > 1 ? ', of the slowest process' : ''
      return `p50 ${p50}, p90 ${p90}, in ${windowWords(stats)}${whose}`
    },
  },
  {
    name: 'slow',
    label: 'Slow readers',
    value: ({ slow_readers }) => count(slow_readers),
    note: ({ slow_readers }) => (slow_readers === 0 ? 'none' : 'they get fewer frames, and the final state'),
    isBad: ({ slow_readers }) => slow_readers > 0,
  },
  {
    name: 'backlog',
    label: 'Write queue',
    value: (stats) => count(total(stats.processes, 'archive_backlog')),
    note: () => 'rows for the database',
  },
]

export function createTiles() {
  const shown = TILES.map((tile) => {
    const value = h('dd', { class: 'tile-value' }, '–')
    const note = h('dd', { class: 'soft' })
    const element = h('div', { class: 'tile', 'data-tile': tile.name }, h('dt', {}, tile.label), value, note)
    return { tile, value, note, element }
  })
  return {
    element: h('dl', { class: 'tiles' }, ...shown.map(({ element }) => element)),
    show(stats: Stats) {
      for (const { tile, value, note, element } of shown) {
        setText(value, tile.value(stats))
        setText(note, tile.note(stats))
        setAttribute(element, 'data-bad', tile.isBad?.(stats) ?? false)
      }
    },
  }
}
