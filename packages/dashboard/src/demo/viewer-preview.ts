// You, twice: as you see yourself, and as somebody else sees you, through eyes of theirs. How long after
// your click they saw it is measured, not claimed.
import type { OwnPresence, Presence } from '@greendot/client'
import { avatar } from '../avatar.ts'
import { now } from '../clock.ts'
import { h, setText } from '../dom.ts'
import { createDotMark, type Look, lookOf, ownLookOf } from '../look.ts'
import { customWords, deviceWords, durationWords, lookWords, seenWords } from '../words.ts'
import { isHiddenFrom, setHiddenFrom } from './deny-list.ts'
import type { Laptop } from './own-connection.ts'
import { type Eyes, openEyes } from './viewer-stream.ts'

/** Whatever comes later than this came for another reason. */
const CAUSE_MS_MAX = 60_000

export interface Mirror {
  element: HTMLElement
  showMe(me: OwnPresence | null, laptop: Laptop, isLive: boolean): void
  /** What others see next is the doing of this moment. */
  noteAct(): void
  refresh(): void
  stop(): void
}

export interface MirrorParts {
  name: string
  viewers: readonly string[]
}

export function createMirror({ name, viewers }: MirrorParts): Mirror {
  const own = createReflection(name)
  const other = createReflection(name)
  const delay = h('p', { class: 'soft delay', role: 'status' })
  const picker = h(
    'select',
    { 'aria-label': 'Who looks at you' },
    ...viewers.map((id) => h('option', {}, id)),
  )
  const hidden = h('input', { type: 'checkbox' })
  const hiddenLabel = h('span', {})
  let eyes: Eyes | null = null
  let actAt = 0
  let seen: Presence | null = null

  function onSight(presence: Presence): void {
    const agoMs = now() - actAt
    if (seen !== null && actAt > 0 && agoMs < CAUSE_MS_MAX) {
      const words = agoMs < 1_000 ? `${agoMs} ms` : durationWords(agoMs)
      setText(delay, `${picker.value} saw it ${words} after you did it.`)
      actAt = 0
    }
    seen = presence
    refresh()
  }

  function onLost(): void {
    seen = null
    other.lose()
  }

  function refresh(): void {
    if (seen) other.show(seen, lookOf(seen), now(), lookWords(lookOf(seen)))
  }

  function look(): void {
    eyes?.close()
    seen = null
    const viewer = picker.value
    setText(delay, '')
    setText(hiddenLabel, `Hide from ${viewer}`)
    void isHiddenFrom(name, viewer).then((isHidden) => {
      if (picker.value === viewer) hidden.checked = isHidden
    })
    eyes = openEyes({ viewer, target: name, onSight, onLost })
  }

  picker.addEventListener('change', look)
  hidden.addEventListener('change', () => {
    actAt = now()
    void setHiddenFrom(name, picker.value, hidden.checked)
  })
  look()

  const element = h(
    'div',
    { class: 'mirror', role: 'group', 'aria-label': 'How you look' },
    h('div', { class: 'reflection', 'data-eyes': 'own' }, h('h3', {}, 'You see yourself'), own.element),
    h('div', { class: 'reflection', 'data-eyes': 'other' }, h('h3', {}, picker, ' sees you'), other.element),
    h('label', { class: 'switch' }, hidden, hiddenLabel),
    delay,
  )

  return {
    element,
    refresh,
    stop: () => eyes?.close(),
    noteAct() {
      actAt = now()
    },
    showMe(me, laptop, isLive) {
      if (me === null) return
      if (laptop === 'closed') own.show(me, 'offline', now(), 'Lid closed')
      else if (laptop === 'left') own.show(me, 'offline', now(), 'Gone')
      else if (isLive) own.show(me, ownLookOf(me), now(), lookWords(ownLookOf(me)))
      else own.lose()
    },
  }
}

function createReflection(name: string) {
  const dot = createDotMark()
  const words = h('b', { class: 'status' }, '…')
  const about = h('span', { class: 'soft' })
  const custom = h('p', { class: 'said' })
  const element = h(
    'div',
    { class: 'face' },
    h('span', { class: 'face-avatar' }, avatar(name), dot.element),
    h('p', {}, words, about),
    custom,
  )
  return {
    element,
    /** There is no telling. */
    lose() {
      element.dataset.look = 'offline'
      dot.show('offline')
      for (const part of [custom, about]) setText(part, '')
      setText(words, 'Not known')
    },
    show(presence: Presence, look: Look, at: number, said: string) {
      element.dataset.look = look
      dot.show(look)
      setText(words, said)
      setText(custom, customWords(presence.custom_status, at))
      setText(about, look === 'offline' ? seenWords(presence, at) : `on ${deviceWords(presence.devices)}`)
    },
  }
}
