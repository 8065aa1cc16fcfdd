// The live feed, newest first. While it is paused, changes are only counted.
import { h, setAttribute, setText } from '../dom.ts'
import { createDotMark, lookOf } from '../look.ts'
import { customWords, deviceWords, lookWords, preciseTime } from '../words.ts'
import type { FeedEvent } from './feed-stream.ts'

const LINES_MAX = 60

export function createFeedPanel(onPick: (userId: string) => void) {
  let isPaused = false
  let missed = 0
  // Not announced by screen readers, because it never ends.
  const list = h('ol', { class: 'feed' })
  const empty = h('p', { class: 'soft' }, 'Nothing yet. Changes appear here as they happen.')
  const broken = h('p', { class: 'soft' })
  const scope = h('p', { class: 'soft', hidden: true }, 'Of people at the process that answers this page.')
  const pause = h('button', { type: 'button', 'aria-pressed': 'false' }, 'Pause')
  pause.addEventListener('click', () => {
    isPaused = !isPaused
    missed = 0
    pause.setAttribute('aria-pressed', String(isPaused))
    showPause()
  })
  const showPause = () => setText(pause, isPaused ? `Go on${missed > 0 ? ` (${missed} more)` : ''}` : 'Pause')

  function add(line: HTMLLIElement): void {
    empty.hidden = true
    list.prepend(line)
    while (list.childElementCount > LINES_MAX) list.lastElementChild?.remove()
  }

  const element = h(
    'section',
    { class: 'panel feed-panel', 'aria-labelledby': 'feed-title' },
    h('header', { class: 'row' }, h('h2', { id: 'feed-title' }, 'Live feed'), pause),
    scope,
    broken,
    empty,
    h(
      'div',
      { class: 'scroller tall', tabindex: 0, role: 'region', 'aria-label': 'Changes, newest first' },
      list,
    ),
  )

  return {
    element,
    showScope(processCount: number) {
      scope.hidden = processCount < 2
    },
    showLink(isOpen: boolean) {
      setAttribute(element, 'data-live', isOpen)
      setText(broken, isOpen ? '' : 'Interrupted. Changes are missing until it is back.')
    },
    take(event: FeedEvent, now: number) {
      if (isPaused) {
        missed += event.type === 'change' ? 1 : event.count
        return showPause()
      }
      if (event.type === 'left_out') {
        const words = `${event.count.toLocaleString()} more in this second`
        return add(h('li', { class: 'soft' }, words))
      }
      const { presence, at } = event
      const look = lookOf(presence)
      const said = [customWords(presence.custom_status, now), deviceWords(presence.devices)]
      const more = said.filter((part) => part !== '').join(' · ')
      add(
        h(
          'li',
          {},
          h('time', {}, preciseTime(at)),
          createDotMark(look).element,
          h(
            'button',
            { type: 'button', class: 'name', onclick: () => onPick(presence.user_id) },
            presence.user_id,
          ),
          h('span', {}, lookWords(look).toLowerCase()),
          more !== '' && h('span', { class: 'soft' }, more),
        ),
      )
    },
  }
}
