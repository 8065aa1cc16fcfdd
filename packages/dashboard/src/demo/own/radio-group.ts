// Styled radio buttons. The checked one is what the server has confirmed: a click sends a request, and the
// answer checks the button.
import { type Child, h } from '../../dom.ts'

export interface RadioOption<Value extends string> {
  value: Value
  label: string
  picture?: Child
}

export interface RadioGroup<Value extends string> {
  element: HTMLFieldSetElement
  check(value: Value): void
  setDisabled(isDisabled: boolean): void
}

export function createRadioGroup<Value extends string>(parts: {
  name: string
  legend: string
  choices: readonly RadioOption<Value>[]
  onChoose(value: Value): void
}): RadioGroup<Value> {
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
