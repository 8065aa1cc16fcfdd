// The types of values that settings have. A type turns text into a value or refuses it. It does not
// know where the text came from: a flag, the environment or a file.
import type { FlagType } from './flags.ts'

export interface SettingType<T> {
  /** The placeholder of the value in help. */
  readonly placeholder: string
  /** Completes the sentence "… is not …". */
  readonly expects: string
  readonly flag: FlagType
  /** Undefined when the text is not such a value. */
  parse(text: string): T | undefined
}

// A week: longer delays are mistakes, and timers are limited to 24 days.
const DELAY_MS_MAX = 7 * 24 * 3600 * 1000

export function wholeNumber(min: number, max: number, placeholder = '<n>'): SettingType<number> {
  return {
    placeholder,
    expects: `a whole number from ${min} to ${max}`,
    flag: 'text',
    parse(text) {
      if (!/^\d{1,15}$/.test(text)) return undefined
      const value = Number(text)
      return value >= min && value <= max ? value : undefined
    },
  }
}

export function milliseconds(min: number, max: number = DELAY_MS_MAX): SettingType<number> {
  return wholeNumber(min, max, '<ms>')
}

export function oneOf<const T extends string>(choices: readonly T[]): SettingType<T> {
  return {
    placeholder: `<${choices.join('|')}>`,
    expects: `one of ${choices.join(', ')}`,
    flag: 'text',
    parse: (text) => choices.find((choice) => choice === text),
  }
}

/** `base`, or the word `null` for null itself. */
export function orNull<T>(base: SettingType<T>): SettingType<T | null> {
  return {
    ...base,
    placeholder: base.placeholder.replace('>', '|null>'),
    expects: `${base.expects}, or null`,
    parse: (text) => (text === 'null' ? null : base.parse(text)),
  }
}

/** `base`, or the word `off` for null. */
export function orOff<T>(base: SettingType<T>): SettingType<T | null> {
  return {
    ...base,
    placeholder: base.placeholder.replace('>', '|off>'),
    expects: `${base.expects}, or off`,
    parse: (text) => (text === 'off' ? null : base.parse(text)),
  }
}

export const onOff: SettingType<boolean> = {
  placeholder: '',
  expects: 'on or off',
  flag: 'switch',
  parse(text) {
    if (['on', 'true', 'yes', '1'].includes(text)) return true
    if (['off', 'false', 'no', '0'].includes(text)) return false
    return undefined
  },
}

/** Text of a certain form. */
export function matching(pattern: RegExp, placeholder: string, expects: string): SettingType<string> {
  return { placeholder, expects, flag: 'text', parse: (text) => (pattern.test(text) ? text : undefined) }
}

export const webUrl: SettingType<string> = {
  placeholder: '<url>',
  expects: 'an http or https URL',
  flag: 'text',
  parse: (text) => (/^https?:\/\//.test(text) && URL.canParse(text) ? text : undefined),
}

export const ANY_ORIGIN = '*'
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@*]+$/i

/** As browsers write it in the Origin header: in lower case, without the default port. Undefined if it is none. */
function normalOrigin(text: string): string | undefined {
  if (!ORIGIN.test(text)) return undefined
  // Apps in a web view have origins like capacitor://localhost, which URL does not know.
  if (!/^https?:/i.test(text)) return text.toLowerCase()
  return URL.canParse(text) ? new URL(text).origin : undefined
}

/** Comma-separated origins, or one star for any. */
export const origins: SettingType<readonly string[]> = {
  placeholder: '<origin>,…',
  expects: '* or a comma-separated list of origins like https://app.example.org, without paths or wildcards',
  flag: 'text',
  parse(text) {
    if (text.trim() === ANY_ORIGIN) return [ANY_ORIGIN]
    const parts = text.split(',').map((part) => normalOrigin(part.trim()))
    const values = parts.filter((part) => part !== undefined)
    return values.length === parts.length ? [...new Set(values)] : undefined
  },
}

/** Comma-separated, without repeats. Never empty: leave the setting out instead. */
export function listOf<T extends string>(item: SettingType<T>): SettingType<readonly T[]> {
  return {
    placeholder: `${item.placeholder},…`,
    expects: `a comma-separated list, each ${item.expects}`,
    flag: 'text',
    parse(text) {
      const parts = text.split(',').map((part) => item.parse(part.trim()))
      const values = parts.filter((part) => part !== undefined)
      return values.length === parts.length ? [...new Set(values)] : undefined
    },
  }
}
