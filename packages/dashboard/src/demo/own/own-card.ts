// The card of the user of this window: availability, custom status, laptop and leaving.
import type { Answer, Availability, OwnPresence } from '@greendot/client'
import { avatar } from '../../avatar.ts'
import { h, setText } from '../../dom.ts'
import { createDotMark, ownLookOf } from '../../look.ts'
import { deviceWords, lookWords } from '../../words.ts'
import { createCustomStatusForm } from './custom-status.ts'
import { createLaptop } from './laptop.ts'
import type { Laptop, OwnConnection } from './own-connection.ts'
import { createRadioGroup } from './radio-group.ts'

const GONE: Record<'closed' | 'left', string> = { closed: 'Lid closed', left: 'You said goodbye' }

export interface OwnCard {
  element: HTMLElement
  show(me: OwnPresence | null, laptop: Laptop, isLive: boolean): void
  showError(message: string): void
  refresh(): void
}

export interface OwnCardParts {
  name: string
  connection: OwnConnection
  /** What viewers see; only in dev mode. */
  preview: HTMLElement | undefined
  /** The user did something that others will see. */
  onAct(): void
}

export function createOwnCard({ name, connection, preview, onAct }: OwnCardParts): OwnCard {
  const dot = createDotMark()
  const status = h('span', { class: 'you-status' })
  const error = h('p', { class: 'trouble', role: 'alert' })
  const laptop = createLaptop((chosen) => {
    onAct()
    if (chosen === 'in_use') connection.use()
    else if (chosen === 'idle') connection.rest()
    else connection.closeLid()
  })

  async function ask(asking: Promise<Answer>): Promise<void> {
    onAct()
    const answer = await asking
    setText(error, answer.ok ? '' : answer.message)
    // Undo the check mark of a refused choice.
    if (!answer.ok) showAvailability(connection.me())
  }

  const availability = createRadioGroup<Availability>({
    name: 'availability',
    legend: 'Availability',
    choices: (['auto', 'away', 'busy', 'invisible'] as const).map((value) => ({
      value,
      label: value === 'auto' ? 'Automatic' : lookWords(value),
      picture: createDotMark(value === 'auto' ? 'online' : value).element,
    })),
    onChoose: (value) => void ask(connection.setAvailability(value)),
  })
  availability.element.classList.add('grid-of-two')
  const custom = createCustomStatusForm((said) => void ask(connection.setCustomStatus(said)))
  const goodbye = h('button', { type: 'button', class: 'goodbye' }, 'Say goodbye')
  goodbye.addEventListener('click', () => {
    onAct()
    if (connection.laptop() === 'left') connection.use()
    else void connection.leave()
  })

  const showAvailability = (me: OwnPresence | null) => {
    if (me) availability.check(me.availability)
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
    preview,
    laptop.element,
    availability.element,
    custom.element,
    error,
  )

  return {
    element,
    show(me, kind, isLive) {
      const isGone = kind === 'closed' || kind === 'left'
      laptop.show(kind, me?.availability === 'invisible', isLive)
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
    showError: (message) => setText(error, message),
  }
}
