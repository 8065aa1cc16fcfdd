// What just happened, newest first, in sentences.
import { h, setText } from '../dom.ts'
import { preciseTime } from '../words.ts'

const LINES_MAX = 30

export interface Story {
  element: HTMLElement
  /** Aloud also to those who listen instead of looking: not for what goes on all the time. */
  tell(sentence: string, at: number, isAloud: boolean): void
}

export function createStory(): Story {
  const list = h('ol', { class: 'story' })
  const voice = h('p', { class: 'unseen', role: 'status' })
  const element = h(
    'section',
    { class: 'panel', 'aria-labelledby': 'story-title' },
    h('h2', { id: 'story-title' }, 'What just happened'),
    // Longer than it is high: it scrolls by itself, by keyboard too.
    h(
      'div',
      { class: 'story-place', tabindex: 0, role: 'region', 'aria-label': 'Changes, newest first' },
      list,
    ),
    voice,
  )
  return {
    element,
    tell(sentence, at, isAloud) {
      list.prepend(h('li', {}, h('time', {}, preciseTime(at)), h('span', {}, sentence)))
      while (list.childElementCount > LINES_MAX) list.lastElementChild?.remove()
      if (isAloud) setText(voice, sentence)
    },
  }
}
