// How far the consumers of the change log are behind, in the whole deployment. Where nothing consumes the log, nothing is
// shown.
import { h } from '../dom.ts'
import type { Stats } from './api.ts'

type Lag = Stats['log_lag'][string]

/** A shard of the log keeps twice as many. */
const FINE_MAX = 10_000

const NAMES: Readonly<Record<string, string>> = {
  history: 'History',
  kafka: 'Relay to Kafka',
  webhooks: 'Webhooks',
}

function wordsOf(lag: Lag): string {
  if (lag === null) return 'Not known: the log does not answer.'
  if (lag === 0) return 'Up to date.'
  const behind = `${lag.toLocaleString()} ${lag === 1 ? 'change' : 'changes'} behind.`
  return lag > FINE_MAX ? `${behind} What the log no longer keeps is lost to it.` : behind
}

export function createLogLag() {
  const list = h('dl', { class: 'checks' })
  const element = h(
    'div',
    { class: 'log-lag', hidden: true },
    h('h3', { id: 'log-lag-title' }, 'Change log'),
    h('p', { class: 'soft' }, 'For the whole deployment.'),
    list,
  )
  return {
    element,
    show({ log_lag: lags }: Pick<Stats, 'log_lag'>) {
      const consumers = Object.entries(lags).sort(([one], [other]) => one.localeCompare(other))
      element.hidden = consumers.length === 0
      list.replaceChildren(
        ...consumers.map(([consumer, lag]) => {
          const state = lag !== null && lag <= FINE_MAX ? 'fine' : 'wrong'
          const attributes = { class: 'check', 'data-consumer': consumer, 'data-state': state }
          return h('div', attributes, h('dt', {}, NAMES[consumer] ?? consumer), h('dd', {}, wordsOf(lag)))
        }),
      )
    },
  }
}
