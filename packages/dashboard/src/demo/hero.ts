// The head of the demo: what this is, which user this window is, and what to do next.

import { h, setText } from '../dom.ts'
import { hashOf } from '../route.ts'
import type { DevParts } from './dev-parts.ts'
import { GUESTS, isNeighbour, nextGuest } from './users/sample-users.ts'

export interface Hero {
  element: HTMLElement
  count(here: number, all: number): void
}

export function createHero(name: string, dev: DevParts | null): Hero {
  const counted = h('b', { class: 'counted' })
  const names = [...new Set([...GUESTS, name])]
  const picker = h(
    'select',
    { 'aria-label': 'You are' },
    ...names.map((one) => h('option', { selected: one === name }, one)),
  )
  // Arrow keys change the value at every step, so switching the user takes a button.
  const be = h('button', { type: 'submit', hidden: true }, 'Be them')
  picker.addEventListener('change', () => {
    be.hidden = picker.value === name
  })
  const onSubmit = (event: Event) => {
    event.preventDefault()
    dev?.onBe(picker.value)
  }
  const next = nextGuest(isNeighbour(name) ? '' : name)
  const element = h(
    'header',
    { class: 'hero' },
    h(
      'div',
      { class: 'hero-words' },
      h('h1', {}, 'Who is here, right now'),
      h(
        'p',
        { class: 'lead' },
        'Every lit window is a user connected to this server: ',
        counted,
        '.',
        dev && ` Open a second window as ${next}, and watch another light go on.`,
      ),
    ),
    dev &&
      h(
        'div',
        { class: 'hero-doing' },
        h(
          'a',
          {
            class: 'primary big',
            href: hashOf({ as: next, hasNeighbours: dev.hasNeighbours }),
            target: '_blank',
            rel: 'noopener',
          },
          `Open a second window as ${next} ↗`,
        ),
        h(
          'form',
          { class: 'row be', onsubmit: onSubmit },
          h('label', { class: 'row' }, 'You are ', picker),
          be,
        ),
      ),
  )
  return { element, count: (here, all) => setText(counted, `${here} of ${all}`) }
}
