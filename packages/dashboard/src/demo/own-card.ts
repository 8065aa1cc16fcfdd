// The card of whoever this window is: who that is, and everything they can do about how they are seen.
import type { Answer, AvailabilityChoice, OwnPresence } from '@greendot/client'
import { avatar } from '../avatar.ts'
import { h, setText } from '../dom.ts'
import { createDotMark, ownLookOf } from '../look.ts'
import { deviceWords, lookWords } from '../words.ts'
import { createCustomStatusForm } from './custom-status.ts'
import { createLaptop } from './laptop.ts'
import type { Laptop, Self } from './own-connection.ts'
import { createChoices } from './radio-group.ts'

const GONE: Record<'closed' | 'left', string> = { closed: 'Lid closed', left: 'You said goodbye' }

export interface You {
  element: HTMLElement
  show(me: OwnPresence | null, laptop: Laptop, isLive: boolean): void
  tellTrouble(message: string): void
  refresh(): void
}

export interface YouParts {
  name: string
  self: Self
  /** How others see them, where that can be shown. */
  mirror: HTMLElement | undefined
  /** Something was done just now that others should see. */
  onAct(): void
}

export function createYou({ name, self, mirror, onAct }: YouParts): You {
  const dot = createDotMark()
  const status = h('span', { class: 'you-status' })
  const trouble = h('p', { class: 'trouble', role: 'alert' })
  const laptop = createLaptop((chosen) => {
    onAct()
    if (chosen === 'in_use') self.use()
    else if (chosen === 'idle') self.rest()
    else self.closeLid()
  })

  async function ask(asking: Promise<Answer>): Promise<void> {
    onAct()
    const answer = await asking
    setText(trouble, answer.ok ? '' : answer.message)
    // A choice that was refused is not to look as if it were made.
    if (!answer.ok) showAvailability(self.me())
  }

  const availability = createChoices<AvailabilityChoice>({
    name: 'availability',
    legend: 'Availability',
    choices: (['online', 'away', 'busy', 'invisible'] as const).map((value) => ({
      value,
      label: value === 'online' ? 'Automatic' : lookWords(value),
      picture: createDotMark(value).element,
    })),
    onChoose: (value) => void ask(self.setAvailability(value)),
  })
  availability.element.classList.add('grid-of-two')
  const custom = createCustomStatusForm((said) => void ask(self.setCustomStatus(said)))
  const goodbye = h('button', { type: 'button', class: 'goodbye' }, 'Say goodbye')
  goodbye.addEventListener('click', () => {
    onAct()
    if (self.laptop() === 'left') self.use()
    else void self.leave()
  })

  const showAvailability = (me: OwnPresence | null) => {
    if (me) availability.check(me.availability === 'auto' ? 'online' : me.availability)
  }

  const element = h(
    'section',
    { class: 'panel you', 'aria-labelledby': 'you-name' },
    h(
      'header',
      { class: 'you-head' },
      avatar(name),
      h(
        'div',
        {},
        h('h2', { id: 'you-name' }, `You are ${name}`),
        h('p', { class: 'soft' }, dot.element, ' ', status),
      ),
      goodbye,
    ),
    mirror,
    laptop.element,
    availability.element,
    custom.element,
    trouble,
  )

  return {
    element,
    show(me, kind, isLive) {
      const isGone = kind === 'closed' || kind === 'left'
      laptop.show(kind, me?.availability === 'invisible')
      availability.setDisabled(!isLive || isGone)
      custom.setDisabled(!isLive || isGone)
      setText(goodbye, kind === 'left' ? 'Come back' : 'Say goodbye')
      goodbye.disabled = kind === 'closed' || (!isLive && kind !== 'left')
      showAvailability(me)
      const isHere = me !== null && isLive && !isGone
      dot.show(isHere ? ownLookOf(me) : 'offline')
      const here = isHere ? `${lookWords(ownLookOf(me))}, on ${deviceWords(me.devices)}` : 'Not connected'
      setText(status, isGone ? GONE[kind] : here)
    },
    refresh: custom.refresh,
    tellTrouble: (message) => setText(trouble, message),
  }
}
