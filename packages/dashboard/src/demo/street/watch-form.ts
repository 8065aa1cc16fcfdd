// Below the street: a form to watch any other user, and the switch for the simulated neighbours.
import { isId } from '@greendot/protocol'
import { h } from '../../dom.ts'
import type { DevParts } from '../dev-parts.ts'

export function createWatchForm(dev: DevParts | null, onWatch: (userId: string) => void): HTMLElement {
  const field: HTMLInputElement = h('input', {
    name: 'user',
    'aria-label': 'User id to watch',
    placeholder: 'Any user id',
    autocomplete: 'off',
    spellcheck: 'false',
    maxlength: 128,
    required: true,
    oninput: () => field.setCustomValidity(''),
  })
  const onSubmit = (event: Event) => {
    event.preventDefault()
    if (isId(field.value)) {
      onWatch(field.value)
      field.value = ''
      return
    }
    field.setCustomValidity('An id has 1 to 128 bytes, no spaces and no commas.')
    field.reportValidity()
  }
  const neighbours =
    dev &&
    h(
      'label',
      { class: 'switch' },
      h('input', {
        type: 'checkbox',
        checked: dev.hasNeighbours,
        onchange: (event) => dev.onNeighbours((event.target as HTMLInputElement).checked),
      }),
      'Simulated neighbours come and go',
    )
  return h(
    'div',
    { class: 'row address' },
    neighbours,
    h('form', { class: 'row', onsubmit: onSubmit }, field, h('button', { type: 'submit' }, 'Watch')),
  )
}
