// Changes as sentences, newest first.
import { h, setText } from '../dom.ts'
import { preciseTime } from '../words.ts'

const LINES_MAX = 30

export interface EventList {
  element: HTMLElement
  /** `isAloud`: also announced by screen readers. Not for simulated users, who change all the time. */
  add(sentence: string, at: number, isAloud: boolean): void
}

export function createEventList(): EventList {
  const list = h('ol', { class: 'story' })
  const voice = h('p', { class: 'unseen', role: 'status' })
  const element = h(
    'section',
    { class: 'panel', 'aria-labelledby': 'events-title' },
    h('h2', { id: 'events-title' }, 'What just happened'),
    // Focusable, so that it can be scrolled by keyboard.
    h(
      'div',
      { class: 'story-place', tabindex: 0, role: 'region', 'aria-label': 'Changes, newest first' },
      list,
    ),
    voice,
  )
  return {
    element,
    add(sentence, at, isAloud) {
      list.prepend(h('li', {}, h('time', {}, preciseTime(at)), h('span', {}, sentence)))
      while (list.childElementCount > LINES_MAX) list.lastElementChild?.remove()
      if (isAloud) setText(voice, sentence)
    },
  }
}
