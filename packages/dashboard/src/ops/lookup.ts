// Looks up a user as a viewer sees them, with the server's explanation.
import { avatar } from '../avatar.ts'
import { h, setText } from '../dom.ts'
import { createDotMark, lookOf } from '../look.ts'
import { customWords, deviceWords, lookWords, seenWords } from '../words.ts'
import type { Api, Explanation } from './api.ts'

export interface Question {
  user: string
  viewer: string | null
}

export function createLookup(onAsk: (question: Question) => void) {
  const id = { autocomplete: 'off', spellcheck: 'false', maxlength: 128, pattern: '[^\\s,]+' }
  const title = 'An id has no spaces and no commas'
  const user = h('input', { ...id, title, name: 'user', placeholder: 'bob', required: true })
  const viewer = h('input', { ...id, title, name: 'viewer', placeholder: 'alice' })
  const trouble = h('p', { class: 'trouble', role: 'alert' })
  const result = h('div', { class: 'found', role: 'region', 'aria-label': 'What was found' })
  let asked: Question | null = null
  const onSubmit = (event: Event) => {
    event.preventDefault()
    onAsk({ user: user.value, viewer: viewer.value || null })
  }
  const element = h(
    'section',
    { class: 'panel lookup', 'aria-labelledby': 'lookup-title' },
    h('h2', { id: 'lookup-title' }, 'Look up a user'),
    h(
      'form',
      { class: 'lookup-form', onsubmit: onSubmit },
      h('label', { class: 'field' }, 'User', user),
      h('label', { class: 'field' }, 'As seen by', viewer),
      h('button', { type: 'submit', class: 'primary' }, 'Explain'),
    ),
    trouble,
    result,
  )
  result.append(
    h(
      'p',
      { class: 'soft' },
      'Why does a user look offline to a viewer? Ask here. Without a viewer, the answer is the whole truth.',
    ),
  )

  return {
    element,
    async ask(api: Api, question: Question, now: number): Promise<void> {
      user.value = question.user
      viewer.value = question.viewer ?? ''
      asked = question
      const answer = await api.explain(question.user, question.viewer)
      // Another question may have been asked meanwhile.
      if (asked !== question) return
      setText(trouble, answer.ok ? '' : answer.message)
      if (answer.ok) result.replaceChildren(...describe(question, answer.value, now))
    },
  }
}

function describe({ user, viewer }: Question, explained: Explanation, now: number): HTMLElement[] {
  const { answer, because } = explained
  const look = lookOf(answer)
  const seer = viewer === null ? 'The whole truth:' : `${viewer} sees:`
  const about = look === 'offline' ? seenWords(answer, now) : `on ${deviceWords(answer.devices)}`
  return [
    h(
      'div',
      { class: 'face', 'data-look': look },
      h('span', { class: 'face-avatar' }, avatar(user), createDotMark(look).element),
      h(
        'div',
        {},
        h('p', {}, `${seer} ${user} is `, h('b', { class: 'status' }, lookWords(look).toLowerCase())),
        h('p', {}, customWords(answer.custom_status, now)),
        h('p', { class: 'soft' }, about),
      ),
    ),
    h('h3', {}, 'Because'),
    h('ol', { class: 'because' }, ...because.map((sentence) => h('li', {}, sentence))),
    h(
      'details',
      {},
      h('summary', {}, 'As JSON'),
      h('pre', { tabindex: 0 }, JSON.stringify(explained, null, 2)),
    ),
  ]
}
