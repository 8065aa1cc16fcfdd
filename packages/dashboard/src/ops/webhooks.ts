// The webhooks on the dashboard: how their deliveries go, and why one was disabled. It can be enabled again, a test event
// can be sent, and what was given up can be sent again.
import { everyWhileVisible, type Timer } from '../clock.ts'
import { h, setText } from '../dom.ts'
import type { Answer, Api, Webhook } from './api.ts'

const ASK_EVERY_MS = 5_000
const COLUMNS = ['Webhook', 'Endpoint', 'State', 'Waiting', 'Failed', '']

export function createWebhookPanel(api: Api) {
  const body = h('tbody', {})
  const said = h('p', { class: 'soft', role: 'status' })
  const heads = COLUMNS.map((title) => h('th', { scope: 'col' }, title))
  const table = h('table', {}, h('thead', {}, h('tr', {}, ...heads)), body)
  const scroller = h(
    'div',
    { class: 'scroller', tabindex: 0, role: 'region', 'aria-label': 'Table of webhooks' },
    table,
  )
  const none = h('p', { class: 'soft' }, 'There are none: greendot webhooks add https://example.com/webhook')
  const element = h(
    'section',
    { class: 'panel', 'aria-labelledby': 'webhooks-title' },
    h('h2', { id: 'webhooks-title' }, 'Webhooks'),
    none,
    scroller,
    said,
  )
  let shown = ''

  async function refresh(): Promise<void> {
    const answer = await api.webhooks()
    // Without an answer the last rows stay; the numbers above say that they are old.
    if (answer.ok) show(answer.value.webhooks)
  }

  function show(webhooks: readonly Webhook[]): void {
    none.hidden = webhooks.length > 0
    scroller.hidden = webhooks.length === 0
    // New rows would take the focus from a button.
    const text = JSON.stringify(webhooks)
    if (text === shown) return
    shown = text
    body.replaceChildren(...webhooks.map(rowOf))
  }

  async function order<Value>(run: Promise<Answer<Value>>, words: (value: Value) => string): Promise<void> {
    const answer = await run
    setText(said, answer.ok ? words(answer.value) : answer.message)
    await refresh()
  }

  const test = (id: string) =>
    order(api.testWebhook(id), ({ delivered, because }) =>
      delivered ? `${id}: the test event was delivered` : `${id}: ${because}`,
    )
  const enable = (id: string) => order(api.enableWebhook(id), () => `${id}: enabled`)
  const replay = (id: string) =>
    order(api.replayWebhook(id), ({ replayed }) => `${id}: ${replayed} sent again`)

  function rowOf(webhook: Webhook): HTMLElement {
    const { id, url, enabled, pending, failed } = webhook
    const button = (name: string, onclick: () => void) =>
      h('button', { type: 'button', 'aria-label': `${name} ${id}`, onclick }, name)
    return h(
      'tr',
      {},
      h('th', { scope: 'row' }, id),
      h('td', {}, url),
      h('td', {}, stateWords(webhook)),
      h('td', {}, pending.toLocaleString()),
      h('td', {}, failed.toLocaleString()),
      h(
        'td',
        { class: 'row' },
        button('Test', () => void test(id)),
        !enabled && button('Enable', () => void enable(id)),
        failed > 0 && button('Replay', () => void replay(id)),
      ),
    )
  }

  show([])
  return {
    element,
    /** Asks until it is stopped. */
    run: (): Timer => everyWhileVisible(ASK_EVERY_MS, () => void refresh()),
  }
}

function stateWords({ enabled, disabled_because, last_failure }: Webhook): string {
  if (!enabled) return `Disabled: ${disabled_because}`
  return last_failure === null ? 'Works' : `Fails: ${last_failure}`
}
