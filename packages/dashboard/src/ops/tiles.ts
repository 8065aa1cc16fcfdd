// The numbers that matter first, large.
import { h, setAttribute, setText } from '../dom.ts'
import { roundWords } from '../words.ts'
import type { Stats } from './api.ts'

interface Tile {
  name: string
  label: string
  value(stats: Stats): string
  /** What stands below it, smaller. */
  note(stats: Stats): string
  isBad?(stats: Stats): boolean
}

const ms = (value: number | null): string => (value === null ? '–' : `${roundWords(value)} ms`)
const count = (value: number): string => value.toLocaleString()
const total = (
  stats: Stats,
  what: 'changes_per_second' | 'deliveries_per_second' | 'archive_backlog',
): number => stats.processes.reduce((sum, one) => sum + one[what], 0)
const slowest = ({ processes }: Stats): number | null => {
  const known = processes.flatMap(({ propagation_p99_ms: p99 }) => (p99 === null ? [] : [p99]))
  return known.length === 0 ? null : Math.max(...known)
}

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
    note: ({ watched_users: watched }) => `of ${count(watched)} ${watched === 1 ? 'person' : 'people'}`,
  },
  {
    name: 'changes',
    label: 'Changes/s',
    value: (stats) => roundWords(total(stats, 'changes_per_second')),
    note: ({ totals }) => `${count(totals.changes ?? 0)} since the start`,
  },
  {
    name: 'deliveries',
    label: 'Deliveries/s',
    value: (stats) => roundWords(total(stats, 'deliveries_per_second')),
    note: ({ totals }) => `${count(totals.deliveries ?? 0)} since the start`,
  },
  {
    name: 'propagation',
    label: 'Propagation, p99',
    value: (stats) => ms(slowest(stats)),
    note: ({ propagation_ms: { p50, p90 } }) => `p50 ${ms(p50)}, p90 ${ms(p90)}`,
  },
  {
    name: 'slow',
    label: 'Slow readers',
    value: ({ slow_readers }) => count(slow_readers),
    note: ({ slow_readers }) =>
      slow_readers === 0 ? 'nobody holds back' : 'they get less, and end up right',
    isBad: ({ slow_readers }) => slow_readers > 0,
  },
  {
    name: 'backlog',
    label: 'Database queue',
    value: (stats) => count(total(stats, 'archive_backlog')),
    note: () => 'rows to be written',
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
