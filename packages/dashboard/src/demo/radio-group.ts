// Groups of radio buttons in this page's own clothes. What is checked is what the server says, not what was
// clicked: a click asks, and the answer shows.
import { type Child, h } from '../dom.ts'

export interface Choice<Value extends string> {
  value: Value
  label: string
  picture?: Child
}

export interface Choices<Value extends string> {
  element: HTMLFieldSetElement
  check(value: Value): void
  setDisabled(isDisabled: boolean): void
}

export function createChoices<Value extends string>(parts: {
  name: string
  legend: string
  choices: readonly Choice<Value>[]
  onChoose(value: Value): void
}): Choices<Value> {
  const { name, legend, choices, onChoose } = parts
  const inputs = new Map<Value, HTMLInputElement>()
  const element = h('fieldset', { class: 'choices' }, h('legend', {}, legend))
  for (const { value, label, picture } of choices) {
    const input = h('input', { type: 'radio', name, value, onchange: () => onChoose(value) })
    inputs.set(value, input)
    element.append(h('label', { class: 'choice' }, input, picture, h('span', {}, label)))
  }
  return {
    element,
    check(value) {
      const input = inputs.get(value)
      if (input) input.checked = true
      else for (const other of inputs.values()) other.checked = false
    },
    setDisabled(isDisabled) {
      element.disabled = isDisabled
    },
  }
}
