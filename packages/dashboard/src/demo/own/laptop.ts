// The laptop of this window: in use, idle, or closed. The text below says what others see.

import { h, s, setText } from '../../dom.ts'
import type { Laptop } from './own-connection.ts'
import { createRadioGroup } from './radio-group.ts'

const MEANINGS: Record<Laptop, string> = {
  in_use: 'You are here, and all who may see it do.',
  idle: 'No key, no mouse: others see you away.',
  closed: 'No goodbye was said. After a short grace, others see you offline.',
  left: 'You said goodbye: others saw you go at once.',
}
const NOT_CONNECTED = 'No connection: after a short grace, others see you offline.'

export interface LaptopControl {
  element: HTMLElement
  show(laptop: Laptop, isInvisible: boolean, isLive: boolean): void
}

export function createLaptop(onChoose: (laptop: 'in_use' | 'idle' | 'closed') => void): LaptopControl {
  const drawing = s(
    'svg',
    { class: 'laptop', viewBox: '0 0 72 48', 'aria-hidden': 'true' },
    s(
      'g',
      { class: 'lid' },
      s('rect', { class: 'lid-case', x: 13, y: 4, width: 46, height: 33, rx: 3 }),
      s('rect', { class: 'lid-screen', x: 16, y: 7, width: 40, height: 27, rx: 1.5 }),
      s('circle', { class: 'lid-dot', cx: 36, cy: 20.5, r: 5 }),
    ),
    s('path', { class: 'base', d: 'M4 38H68L65 43.5A3 3 0 0 1 62.4 45H9.6A3 3 0 0 1 7 43.5Z' }),
  )
  const choices = createRadioGroup({
    name: 'laptop',
    legend: 'Your laptop',
    choices: [
      { value: 'in_use', label: 'In use' },
      { value: 'idle', label: 'Idle' },
      { value: 'closed', label: 'Lid closed' },
    ],
    onChoose,
  })
  choices.element.classList.add('segments')
  const meaning = h('p', { class: 'soft meaning' })
  const element = h('div', { class: 'laptop-control' }, drawing, h('div', {}, choices.element, meaning))
  return {
    element,
    show(laptop, isInvisible, isLive) {
      element.dataset.laptop = laptop
      choices.check(laptop as 'in_use')
      const isCut = !isLive && (laptop === 'in_use' || laptop === 'idle')
      const shown = isCut ? NOT_CONNECTED : MEANINGS[laptop]
      setText(meaning, isInvisible ? 'Whatever it does, others see you offline.' : shown)
    },
  }
}
