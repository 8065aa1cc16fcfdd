// Without dev mode the dashboard asks for a server key, and keeps it until the window is closed.
import { h, setText } from '../dom.ts'

export function createKeyForm(onKey: (key: string) => void) {
  const key = h('input', { name: 'key', type: 'password', autocomplete: 'off', required: true })
  const refusal = h('p', { class: 'trouble', role: 'alert' })
  const onSubmit = (event: Event) => {
    event.preventDefault()
    onKey(key.value.trim())
  }
  const element = h(
    'form',
    { class: 'panel sign-in', onsubmit: onSubmit },
    h('h1', {}, 'Dashboard'),
    h(
      'p',
      { class: 'soft' },
      'This needs a server key, one of the ',
      h('code', {}, 'server_keys'),
      ' of the server. With one, every user is visible. It is forgotten when this window is closed.',
    ),
    h('label', { class: 'field' }, 'Server key', key),
    h('p', { class: 'row' }, h('button', { type: 'submit', class: 'primary' }, 'Open the dashboard')),
    refusal,
  )
  return {
    element,
    refuse(message: string) {
      key.value = ''
      setText(refusal, message)
    },
  }
}
