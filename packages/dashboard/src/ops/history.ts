// The history of the last seven days: of all users, and of the user that is looked up. It exists only where the server
// keeps one and users allow it; otherwise the panel says how to turn it on.
import { everyWhileVisible, now, type Timer } from '../clock.ts'
import { h } from '../dom.ts'
import type { AllHistory, Answer, Api, UserHistory } from './api.ts'
import { allWeek, userWeek, weekBegins } from './week.ts'

const ASK_EVERY_MS = 60_000

export interface HistoryPanel {
  element: HTMLElement
  /** Shows this user too; null for none. */
  look(user: string | null): void
  run(): Timer
}

export function createHistoryPanel(api: Api): HistoryPanel {
  const all = h('div', { class: 'week-part', role: 'group', 'aria-label': 'All users' })
  const one = h('div', { class: 'week-part', role: 'group', 'aria-label': 'One user' })
  let user: string | null = null
  let isOff = false

  async function refresh(): Promise<void> {
    // The setting of a server does not change while it runs.
    if (isOff) return
    const from = weekBegins(now())
    const asked = user
    const [hours, history] = await Promise.all([
      api.hours(from),
      asked === null ? null : api.userHistory(asked, from),
    ])
    // Another user may have been looked up meanwhile.
    if (asked !== user) return
    isOff = !hours.ok && hours.blame === 'question'
    all.replaceChildren(h('h3', {}, 'All users'), ...aboutAll(hours, from))
    one.hidden = isOff
    one.replaceChildren(h('h3', {}, asked ?? 'One user'), ...aboutOne(history, from))
  }

  one.hidden = true
  return {
    element: h(
      'section',
      { class: 'panel history', 'aria-labelledby': 'history-title' },
      h('h2', { id: 'history-title' }, 'The last seven days'),
      h('div', { class: 'weeks' }, all, one),
    ),
    look(next) {
      if (next === user) return
      user = next
      void refresh()
    },
    run() {
      isOff = false
      return everyWhileVisible(ASK_EVERY_MS, () => void refresh())
    },
  }
}

function aboutAll(answer: Answer<AllHistory>, from: number): HTMLElement[] {
  if (!answer.ok) {
    if (answer.blame !== 'question') return [soft(answer.message)]
    return [
      soft('No history is kept. Start the server with'),
      h('pre', { tabindex: 0 }, 'greendot serve --history-days 30'),
      soft('and users, or your backend for them, allow theirs:'),
      h('pre', { tabindex: 0 }, 'PUT /api/v1/presence/settings\n{"history": true}'),
    ]
  }
  if (answer.value.hours.length === 0)
    return [soft('No user who allows a history was here: PUT /api/v1/presence/settings {"history": true}')]
  return [
    allWeek(answer.value, from),
    soft('Users in each hour, of those who allow a history. The stronger the colour, the more users.'),
  ]
}

function aboutOne(answer: Answer<UserHistory> | null, from: number): HTMLElement[] {
  if (answer === null) return [soft('Look up a user to see their week here.')]
  if (!answer.ok) return [soft(answer.message)]
  return [userWeek(answer.value, from), LEGEND()]
}

const LEGEND = (): HTMLElement =>
  h(
    'p',
    { class: 'week-legend soft' },
    ...(['online', 'away', 'busy'] as const).map((status) =>
      h('span', {}, h('span', { class: `week-key key-${status}` }), status),
    ),
  )

const soft = (text: string): HTMLElement => h('p', { class: 'soft' }, text)
