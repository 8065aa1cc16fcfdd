// The kinds of values a setting can have. A kind turns text into a value or says no; where the text
// came from (a flag, the environment, a file) is not its business.

export interface Kind<T> {
  /** Stands for the value in help. */
  readonly sign: string
  /** Completes the sentence "… is not …". */
  readonly expects: string
  /** What a flag without a value means; null where a value is needed. */
  readonly bare: string | null
  /** Undefined when the text is not such a value. */
  parse(text: string): T | undefined
}

// A week: longer delays are mistakes, and timers hold no more than 24 days.
const DELAY_MS_MAX = 7 * 24 * 3600 * 1000

export function wholeNumber(min: number, max: number, sign = '<n>'): Kind<number> {
  return {
    sign,
    expects: `a whole number from ${min} to ${max}`,
    bare: null,
    parse(text) {
      if (!/^\d{1,15}$/.test(text)) return undefined
      const value = Number(text)
      return value >= min && value <= max ? value : undefined
    },
  }
}

export function milliseconds(min: number, max: number = DELAY_MS_MAX): Kind<number> {
  return wholeNumber(min, max, '<ms>')
}

export function oneOf<const T extends string>(choices: readonly T[]): Kind<T> {
  return {
    sign: `<${choices.join('|')}>`,
    expects: `one of ${choices.join(', ')}`,
    bare: null,
    parse: (text) => choices.find((choice) => choice === text),
  }
}

/** `base`, or the word `null` for null itself. */
export function orNull<T>(base: Kind<T>): Kind<T | null> {
  return {
    ...base,
    sign: base.sign.replace('>', '|null>'),
    expects: `${base.expects}, or null`,
    parse: (text) => (text === 'null' ? null : base.parse(text)),
  }
}

export const onOff: Kind<boolean> = {
  sign: '',
  expects: 'on or off',
  bare: 'on',
  parse(text) {
    if (['on', 'true', 'yes', '1'].includes(text)) return true
    if (['off', 'false', 'no', '0'].includes(text)) return false
    return undefined
  },
}

/** Text of a certain form. */
export function matching(pattern: RegExp, sign: string, expects: string): Kind<string> {
  return { sign, expects, bare: null, parse: (text) => (pattern.test(text) ? text : undefined) }
}

export const webUrl: Kind<string> = {
  sign: '<url>',
  expects: 'an http or https URL',
  bare: null,
  parse: (text) => (/^https?:\/\//.test(text) && URL.canParse(text) ? text : undefined),
}

/** Comma-separated, each once; never empty, because an absent setting already says so. */
export function listOf<T extends string>(item: Kind<T>): Kind<readonly T[]> {
  return {
    sign: `${item.sign},…`,
    expects: `a comma-separated list, each ${item.expects}`,
    bare: null,
    parse(text) {
      const parts = text.split(',').map((part) => item.parse(part.trim()))
      const values = parts.filter((part) => part !== undefined)
      return values.length === parts.length ? [...new Set(values)] : undefined
    },
  }
}
