// The form for the custom status: text, emoji and expiry, or a preset.
import type { CustomStatusInput } from '@greendot/client'
import { now } from '../../clock.ts'
import { h } from '../../dom.ts'
import { DURATIONS, presetsAt } from './presets.ts'

export interface CustomStatusForm {
  element: HTMLElement
  setDisabled(isDisabled: boolean): void
  /** Updates the times in the labels of presets. */
  refresh(): void
}

export function createCustomStatusForm(onSay: (status: CustomStatusInput | null) => void): CustomStatusForm {
  const emoji = h('input', {
    name: 'emoji',
    'aria-label': 'Emoji',
    placeholder: '🙂',
    maxlength: 12,
    autocomplete: 'off',
  })
  const text = h('input', {
    name: 'text',
    'aria-label': 'Your status in words',
    placeholder: 'What are you up to?',
    maxlength: 140,
    autocomplete: 'off',
  })
  const lasting = h(
    'select',
    { name: 'lasting', 'aria-label': 'How long it lasts' },
    ...DURATIONS.map(({ label }, index) => h('option', { value: index }, label)),
  )
  const presets = h('div', { class: 'presets' })

  function refresh(): void {
    // A focused button is not replaced.
    if (presets.contains(document.activeElement)) return
    presets.replaceChildren(...presetsAt(now()).map((_, index) => presetButton(index)))
  }

  function presetButton(index: number): HTMLButtonElement {
    const say = () => {
      const { label: _, ...status } = presetsAt(now())[index]!
      onSay(status)
    }
    return h('button', { type: 'button', class: 'preset', onclick: say }, presetsAt(now())[index]!.label)
  }

  function onSubmit(event: Event): void {
    event.preventDefault()
    const { ms } = DURATIONS[Number(lasting.value)]!
    onSay({
      text: text.value.trim() || null,
      emoji: emoji.value.trim() || null,
      expiresAt: ms === null ? null : now() + ms,
    })
  }

  function onReset(): void {
    onSay(null)
  }

  const fields = h(
    'fieldset',
    { class: 'custom-fields' },
    h('legend', {}, 'Custom status'),
    presets,
    h('div', { class: 'row' }, emoji, text),
    h(
      'div',
      { class: 'row' },
      lasting,
      h('button', { type: 'submit', class: 'primary' }, 'Set'),
      h('button', { type: 'reset' }, 'Clear'),
    ),
  )
  const element = h('form', { class: 'custom', onsubmit: onSubmit, onreset: onReset }, fields)
  refresh()
  return {
    element,
    refresh,
    setDisabled(isDisabled) {
      fields.disabled = isDisabled
    },
  }
}
