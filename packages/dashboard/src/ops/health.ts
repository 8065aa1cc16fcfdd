// The readiness checks of the server, with what they mean, and how far consumers of the change log are behind.
import { h, setText } from '../dom.ts'
import type { Readiness, Stats } from './api.ts'
import { createLogLag } from './log-lag.ts'

type Check = keyof Readiness['checks']

const NAMES: Record<Check, string> = {
  store: 'Hot store',
  archive: 'Database',
  gateway: 'Connections',
  accepting: 'New connections',
}
const FINE: Record<Check, string> = {
  store: 'Answers. Presence is live.',
  archive: 'Answers. Last seen and settings are kept.',
  gateway: 'Registered with the store.',
  accepting: 'Accepted.',
}
const WRONG: Record<Check, string> = {
  store: 'Does not answer. Connections stay; reads come from the database and say so.',
  archive:
    'Does not answer. Presence goes on; choices are refused, and last seen is written when it is back.',
  gateway: 'Being registered again after a loss.',
  accepting: 'Sent elsewhere: this process is going away.',
}
const STATES: Record<Readiness['status'], string> = {
  ready: 'All is well',
  degraded: 'Serving, with a part missing',
  not_ready: 'Not ready',
}

export function createHealth() {
  const state = h('p', { class: 'health-state', role: 'status' }, 'Asking …')
  const scope = h('p', { class: 'soft', hidden: true }, 'For the process that answers this page.')
  const rows = (Object.keys(NAMES) as Check[]).map((check) => {
    const words = h('dd', {}, '–')
    const element = h('div', { class: 'check', 'data-check': check }, h('dt', {}, NAMES[check]), words)
    return { check, words, element }
  })
  const lag = createLogLag()
  const element = h(
    'section',
    { class: 'panel health', 'aria-labelledby': 'health-title' },
    h('h2', { id: 'health-title' }, 'Health'),
    state,
    scope,
    h('dl', { class: 'checks' }, ...rows.map((row) => row.element)),
    lag.element,
  )
  return {
    element,
    showLag: (stats: Stats) => lag.show(stats),
    show({ status, checks }: Readiness, processCount: number) {
      element.dataset.health = status
      setText(state, STATES[status])
      scope.hidden = processCount < 2
      for (const { check, words, element: row } of rows) {
        const isFine = checks[check] === 'ok'
        row.dataset.state = isFine ? 'fine' : 'wrong'
        setText(words, isFine ? FINE[check] : WRONG[check])
      }
    },
    /** No answer. */
    showLost() {
      element.dataset.health = 'not_ready'
      setText(state, 'The server does not answer')
      for (const { words, element: row } of rows) {
        delete row.dataset.state
        setText(words, 'Not known.')
      }
    },
  }
}
