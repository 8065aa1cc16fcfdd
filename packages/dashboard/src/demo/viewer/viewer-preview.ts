// The user of this window twice: the own view, and what a chosen viewer sees. The delay between an action and
// the viewer's update is measured.
import type { OwnPresence, Presence } from '@greendot/client'
import { avatar } from '../../avatar.ts'
import { now } from '../../clock.ts'
import { h, setText } from '../../dom.ts'
import { createDotMark, type Look, lookOf, ownLookOf } from '../../look.ts'
import { customWords, deviceWords, durationWords, lookWords, seenWords } from '../../words.ts'
import type { Laptop } from '../own/own-connection.ts'
import { isHiddenFrom, setHiddenFrom } from './deny-list.ts'
import { openViewerStream, type ViewerStream } from './viewer-stream.ts'

/** A later update has another cause. */
const CAUSE_MS_MAX = 60_000

export interface ViewerPreview {
  element: HTMLElement
  showMe(me: OwnPresence | null, laptop: Laptop, isLive: boolean): void
  /** The next update of the viewer is caused by this action. */
  noteAct(): void
  refresh(): void
  stop(): void
}

export interface ViewerPreviewParts {
  name: string
  viewers: readonly string[]
}

export function createViewerPreview({ name, viewers }: ViewerPreviewParts): ViewerPreview {
  const own = createSide(name)
  const other = createSide(name)
  const delay = h('p', { class: 'soft delay', role: 'status' })
  const picker = h(
    'select',
    { 'aria-label': 'Who looks at you' },
    ...viewers.map((id) => h('option', {}, id)),
  )
  const hidden = h('input', { type: 'checkbox' })
  const hiddenLabel = h('span', {})
  let stream: ViewerStream | null = null
  let actAt = 0
  let seen: Presence | null = null

  function onPresence(presence: Presence): void {
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
    other.showUnknown()
  }

  function refresh(): void {
    if (seen) other.show(seen, lookOf(seen), now(), lookWords(lookOf(seen)))
  }

  function open(): void {
    stream?.close()
    seen = null
    const viewer = picker.value
    setText(delay, '')
    setText(hiddenLabel, `Hide from ${viewer}`)
    void isHiddenFrom(name, viewer).then((isHidden) => {
      if (picker.value === viewer) hidden.checked = isHidden
    })
    stream = openViewerStream({ viewer, target: name, onPresence, onLost })
  }

  picker.addEventListener('change', open)
  hidden.addEventListener('change', () => {
    actAt = now()
    void setHiddenFrom(name, picker.value, hidden.checked)
  })
  open()

  const element = h(
    'div',
    { class: 'preview', role: 'group', 'aria-label': 'How you look' },
    h('div', { class: 'preview-side', 'data-eyes': 'own' }, h('h3', {}, 'You see yourself'), own.element),
    h(
      'div',
      { class: 'preview-side', 'data-eyes': 'other' },
      h('h3', {}, picker, ' sees you'),
      other.element,
    ),
    h('label', { class: 'switch' }, hidden, hiddenLabel),
    delay,
  )

  return {
    element,
    refresh,
    stop: () => stream?.close(),
    noteAct() {
      actAt = now()
    },
    showMe(me, laptop, isLive) {
      if (me === null) return
      if (laptop === 'closed') own.show(me, 'offline', now(), 'Lid closed')
      else if (laptop === 'left') own.show(me, 'offline', now(), 'Gone')
      else if (isLive) own.show(me, ownLookOf(me), now(), lookWords(ownLookOf(me)))
      else own.showUnknown()
    },
  }
}

function createSide(name: string) {
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
    /** The presence is unknown. */
    showUnknown() {
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
