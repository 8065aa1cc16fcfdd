// The street: a house for every watched user. Houses are updated, never replaced, so that focus and animations
// survive every change.
import type { Presence } from '@greendot/client'
import { h, setAttribute, setText } from '../../dom.ts'
import { createDotMark, isStale, type Look, lookOf } from '../../look.ts'
import { customWords, deviceWords, lookWords, seenWords } from '../../words.ts'
import { houseFront } from './house-front.ts'

export interface Street {
  element: HTMLElement
  /** Adds a house unless there is one. */
  build(userId: string): void
  show(person: Presence, now: number): void
  /** The house of the own user, by the own view. */
  showMe(me: Presence, look: Look, now: number): void
  /** Updates relative times. */
  refresh(now: number): void
}

interface House {
  element: HTMLLIElement
  show(person: Presence, look: Look, now: number): void
  refresh(now: number): void
}

export interface StreetParts {
  myId: string
  isSimulated(userId: string): boolean
  onOpen(userId: string): void
}

export function createStreet({ myId, isSimulated, onOpen }: StreetParts): Street {
  const element = h('ul', { class: 'street', 'aria-label': 'The street' })
  const houses = new Map<string, House>()

  function build(userId: string): House {
    const found = houses.get(userId)
    if (found) return found
    const house = createHouse(userId, {
      isMe: userId === myId,
      isSimulated: isSimulated(userId),
      onOpen: () => onOpen(userId),
    })
    houses.set(userId, house)
    element.append(house.element)
    return house
  }

  return {
    element,
    build,
    show: (person, now) => build(person.user_id).show(person, lookOf(person), now),
    showMe: (me, look, now) => build(me.user_id).show(me, look, now),
    refresh(now) {
      for (const house of houses.values()) house.refresh(now)
    },
  }
}

interface HouseParts {
  isMe: boolean
  isSimulated: boolean
  onOpen(): void
}

function createHouse(userId: string, { isMe, isSimulated, onOpen }: HouseParts): House {
  const bubble = h('span', { class: 'bubble' })
  const dot = createDotMark()
  const status = h('span', { class: 'status' }, 'Looking …')
  const about = h('span', { class: 'about' })
  const tag = isMe ? 'you' : isSimulated ? 'simulated' : ''
  const button = h(
    'button',
    { type: 'button', class: 'house-button', 'aria-haspopup': 'dialog', onclick: onOpen },
    bubble,
    houseFront(userId),
    h(
      'span',
      { class: 'plate' },
      h('span', { class: 'plate-name' }, dot.element, h('b', {}, userId)),
      status,
      about,
      tag !== '' && h('span', { class: `tag tag-${tag}` }, tag),
    ),
  )
  const element = h(
    'li',
    { class: 'house', 'data-user': userId, 'data-look': 'unknown', 'data-me': isMe },
    button,
  )
  let shown: { person: Presence; look: Look } | null = null

  function refresh(now: number): void {
    if (shown === null) return
    const { person, look } = shown
    const isHere = look !== 'offline'
    setText(bubble, customWords(person.custom_status, now))
    setText(status, lookWords(look, isStale(person)))
    setText(about, isHere ? deviceWords(person.devices) : seenWords(person, now))
  }

  return {
    element,
    refresh,
    show(person, look, now) {
      shown = { person, look }
      element.dataset.look = look
      setAttribute(element, 'data-stale', isStale(person))
      dot.show(look)
      refresh(now)
    },
  }
}
