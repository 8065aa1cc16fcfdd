// The panels of the dashboard. Asks the server every two seconds while the page is visible. Without an answer
// the last numbers stay, and are marked.
import { everyWhileVisible, now, type Timer } from '../clock.ts'
import { h, setAttribute, setText } from '../dom.ts'
import type { Route } from '../route.ts'
import { isDev } from '../window-storage.ts'
import { preciseTime } from '../words.ts'
import type { Api } from './api.ts'
import { createCharts } from './charts.ts'
import { createFeedPanel } from './feed.ts'
import { openFeed } from './feed-stream.ts'
import { createHealth } from './health.ts'
import { createHistoryPanel } from './history.ts'
import { createLookup, type Question } from './lookup.ts'
import { createProcesses } from './processes.ts'
import { createTiles } from './tiles.ts'
import { createWebhookPanel } from './webhooks.ts'

const ASK_EVERY_MS = 2_000

export interface Panels {
  element: HTMLElement
  /** Null while another view is shown. */
  show(route: Route | null): void
  stop(): void
}

export function createPanels(parts: {
  api: Api
  ask(user: string, viewer: string | null): void
  lock(message?: string): void
}): Panels {
  const { api, ask, lock } = parts
  const tiles = createTiles()
  const charts = createCharts()
  const processes = createProcesses()
  const health = createHealth()
  const weeks = createHistoryPanel(api)
  const webhooks = createWebhookPanel(api)
  const feed = createFeedPanel((user) => ask(user, null))
  const lookup = createLookup((question) => {
    // The hash would not change, so ask again.
    if (nameOf(question) === asked) void lookup.ask(api, question, now())
    else ask(question.user, question.viewer)
  })
  const fresh = h('p', { class: 'soft', 'data-fresh': '' })
  const numbers = h('div', { class: 'numbers' }, tiles.element, charts.element, processes.element)
  let running: Timer[] = []
  let hasHistory = false
  let asked = ''

  async function refresh(): Promise<void> {
    const [stats, readiness] = await Promise.all([api.stats(), api.readiness()])
    if (running.length === 0) return
    const isLost = !stats.ok && stats.blame === 'server'
    setAttribute(element, 'data-lost', isLost)
    if (!stats.ok && stats.blame === 'key') return lock(stats.message)
    if (readiness.ok) health.show(readiness.value, stats.ok ? stats.value.processes.length : 1)
    else health.showLost()
    if (!stats.ok) {
      // After a restart the server has a new history.
      hasHistory = false
      return setText(fresh, `${stats.message} These are the last numbers it gave.`)
    }
    if (!hasHistory) {
      const history = await api.history()
      if (history.ok) charts.begin(history.value.samples)
      hasHistory = history.ok
    }
    tiles.show(stats.value)
    charts.add(stats.value, now())
    processes.show(stats.value)
    health.showLag(stats.value)
    feed.showScope(stats.value.processes.length)
    setText(fresh, `As of ${preciseTime(now())}`)
  }

  function pause(): void {
    for (const one of running.splice(0)) one.stop()
  }

  function run(): void {
    if (running.length > 0) return
    const stream = openFeedWhileVisible()
    running = [stream]
    running.push(everyWhileVisible(ASK_EVERY_MS, () => void refresh()))
    running.push(weeks.run())
    running.push(webhooks.run())
  }

  /** Browsers limit connections, so hidden pages close theirs. */
  function openFeedWhileVisible(): Timer {
    let open: { close(): void } | null = null
    const toggle = () => {
      open?.close()
      open = document.hidden
        ? null
        : openFeed(api, { event: (event) => feed.take(event, now()), link: feed.showLink })
    }
    document.addEventListener('visibilitychange', toggle)
    toggle()
    return {
      stop() {
        document.removeEventListener('visibilitychange', toggle)
        open?.close()
      },
    }
  }

  const element = h(
    'div',
    { class: 'dashboard' },
    h(
      'header',
      { class: 'row dashboard-head' },
      h('h1', {}, 'Dashboard'),
      fresh,
      !isDev && h('button', { type: 'button', onclick: () => lock() }, 'Forget the key'),
    ),
    numbers,
    h('div', { class: 'columns' }, lookup.element, feed.element, health.element),
    weeks.element,
    webhooks.element,
  )

  return {
    element,
    stop() {
      pause()
      charts.stop()
    },
    show(route) {
      if (route === null) return pause()
      weeks.look(route.user)
      run()
      if (route.user === null) return
      const question = { user: route.user, viewer: route.viewer }
      if (nameOf(question) === asked) return
      asked = nameOf(question)
      void lookup.ask(api, question, now())
    },
  }
}

const nameOf = ({ user, viewer }: Question): string => `${user} ${viewer}`
