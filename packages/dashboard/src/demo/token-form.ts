// Without dev mode the demo asks for a user token, and connects as its user.
import { h, setText } from '../dom.ts'
import type { SavedToken } from '../window-storage.ts'

export interface TokenForm {
  element: HTMLElement
  refuse(message: string): void
}

export function createTokenForm(onEnter: (given: SavedToken) => void): TokenForm {
  const token = h('input', { name: 'token', type: 'password', autocomplete: 'off', required: true })
  const ids = h('input', { name: 'ids', autocomplete: 'off', spellcheck: 'false', placeholder: 'bob, carol' })
  const refusal = h('p', { class: 'trouble', role: 'alert' })
  const onSubmit = (event: Event) => {
    event.preventDefault()
    setText(refusal, '')
    onEnter({ token: token.value.trim(), watched: ids.value.split(/[\s,]+/).filter((id) => id !== '') })
  }
  const element = h(
    'form',
    { class: 'panel sign-in', onsubmit: onSubmit },
    h('h1', {}, 'Who are you?'),
    h(
      'p',
      { class: 'soft' },
      'This server wants a user token: one that your app signed, or what ',
      h('code', {}, 'greendot token --user alice'),
      ' prints. It stays in this window.',
    ),
    h('label', { class: 'field' }, 'User token', token),
    h('label', { class: 'field' }, 'Ids to watch', ids),
    h('p', { class: 'row' }, h('button', { type: 'submit', class: 'primary' }, 'Connect')),
    refusal,
  )
  return { element, refuse: (message) => setText(refusal, message) }
}
