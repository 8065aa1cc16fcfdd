// The dialog of one user: everything this viewer may see, and links.
import { formatLastSeen, type Presence } from '@greendot/client'
import { avatar } from '../../avatar.ts'
import { h } from '../../dom.ts'
import { createDotMark, isStale, shownLookOf } from '../../look.ts'
import { hashOf } from '../../route.ts'
import { customWords, deviceWords, lookWords } from '../../words.ts'

export interface UserDialog {
  element: HTMLDialogElement
  open(userId: string, person: Presence | null, now: number): void
}

export function createUserDialog(parts: { myId: string; isDev: boolean }): UserDialog {
  const { myId, isDev } = parts
  const element = h('dialog', { class: 'user-dialog', 'aria-labelledby': 'user-dialog-name' })
  // A click on the backdrop closes it.
  element.addEventListener('click', (event) => {
    if (event.target === element) element.close()
  })

  function facts(person: Presence, now: number): HTMLElement {
    const rows = [
      ['Status', lookWords(shownLookOf(person), isStale(person))],
      ['Says', customWords(person.custom_status, now) || 'nothing'],
      ['Devices', deviceWords(person.devices) || 'none'],
      ['Last seen', formatLastSeen(person, { now, locale: 'en' })],
      ['Version', String(person.version)],
    ]
    return h(
      'dl',
      { class: 'facts' },
      ...rows.flatMap(([term, value]) => [h('dt', {}, term), h('dd', {}, value)]),
    )
  }

  return {
    element,
    open(userId, person, now) {
      const isMe = userId === myId
      const why = hashOf({ view: 'dashboard', as: myId, user: userId, viewer: isMe ? null : myId })
      element.replaceChildren(
        h(
          'div',
          { class: 'user-dialog-inside' },
          h(
            'header',
            { class: 'you-head' },
            avatar(userId),
            h(
              'h2',
              { id: 'user-dialog-name' },
              userId,
              ' ',
              createDotMark(person ? shownLookOf(person) : 'offline').element,
            ),
          ),
          person ? facts(person, now) : h('p', { class: 'soft' }, 'Nothing is known yet.'),
          h(
            'p',
            { class: 'row' },
            isDev &&
              !isMe &&
              h(
                'a',
                { class: 'primary', href: hashOf({ as: userId }), target: '_blank', rel: 'noopener' },
                `Open a window as ${userId} ↗`,
              ),
            isDev &&
              h('a', { class: 'button', href: why, onclick: () => element.close() }, 'Why do I see this?'),
            h('button', { type: 'button', onclick: () => element.close() }, 'Close'),
          ),
        ),
      )
      element.showModal()
    },
  }
}
