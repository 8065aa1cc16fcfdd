// The presence object of each target as text, in little memory. Objects differ from those of many other users only in user id,
// last seen and version: these are numbers here (and a name that is kept anyway), beside a form that all such objects
// share. A text that is not made of these parts is kept whole.
import { grown } from '../../platform/typed-arrays.ts'

export interface ObjectTexts {
  has(target: number): boolean
  get(target: number): string
  /** The version in the text. */
  version(target: number): number
  /** False when it says what the text before it said, in another version. */
  put(target: number, text: string): boolean
  forget(target: number): void
  /** How many forms are in use. */
  forms(): number
}

/** What stands around the three values that differ. */
interface Form {
  status: string
  rest: string
  targets: number
}

interface Parts {
  status: string
  lastSeen: number | null
  rest: string
  version: number
}

const STATUS = ',"status":'
const LAST_SEEN = ',"last_seen":'
const CUSTOM_STATUS = ',"custom_status":'
const VERSION = ',"version":'

/** Instead of the number of a form: no text, and a text that is kept whole. */
const NONE = 0
const WHOLE = 1

/** The version of an object is its last field. */
export const versionIn = (text: string): number => Number(text.slice(text.lastIndexOf(':') + 1, -1))
const withoutVersion = (text: string): string => text.replace(/,"version":\d+\}$/, '')

/** Strings in JSON escape their quotes, so a name with its quotes is never inside one. */
function partsOf(text: string): Parts | null {
  const status = text.indexOf(STATUS)
  const lastSeen = text.indexOf(LAST_SEEN, status)
  const custom = text.indexOf(CUSTOM_STATUS, lastSeen)
  const version = text.lastIndexOf(VERSION)
  if (status < 0 || lastSeen < 0 || custom < 0 || version < custom) return null
  const seen = text.slice(lastSeen + LAST_SEEN.length, custom)
  return {
    status: text.slice(status + STATUS.length, lastSeen),
    lastSeen: seen === 'null' ? null : Number(seen),
    rest: text.slice(custom + CUSTOM_STATUS.length, version),
    version: versionIn(text),
  }
}

const textOf = (userId: string, { status, lastSeen, rest, version }: Parts): string =>
  `{"user_id":${JSON.stringify(userId)}${STATUS}${status}${LAST_SEEN}${lastSeen}${CUSTOM_STATUS}${rest}${VERSION}${version}}`

/** `nameOf` is asked for targets that have a text. */
export function createObjectTexts(nameOf: (target: number) => string): ObjectTexts {
  let formOf = new Int32Array(0)
  /** NaN where it is null. */
  let lastSeens = new Float64Array(0)
  let versions = new Float64Array(0)
  const wholes = new Map<number, string>()
  /** By number. 0 and 1 are no forms: NONE and WHOLE. */
  const forms: (Form | undefined)[] = [undefined, undefined]
  const numbers = new Map<string, number>()
  const free: number[] = []

  const keyOf = ({ status, rest }: Pick<Form, 'status' | 'rest'>) => `${status}${LAST_SEEN}${rest}`

  function retain(parts: Parts): number {
    const key = keyOf(parts)
    let number = numbers.get(key)
    if (number === undefined) {
      number = free.pop() ?? forms.length
      numbers.set(key, number)
      // Cut from the key: cut from the text they would keep the whole text of this user in memory.
      const status = key.slice(0, parts.status.length)
      const rest = key.slice(status.length + LAST_SEEN.length)
      forms[number] = { status, rest, targets: 0 }
    }
    forms[number]!.targets++
    return number
  }

  function forget(target: number): void {
    const number = formOf[target] ?? NONE
    if (number === NONE) return
    formOf[target] = NONE
    if (number === WHOLE) wholes.delete(target)
    else if (--forms[number]!.targets === 0) {
      numbers.delete(keyOf(forms[number]!))
      forms[number] = undefined
      free.push(number)
    }
  }

  /** Null where the text is not made of these parts. */
  function split(target: number, text: string): Parts | null {
    const parts = partsOf(text)
    return parts !== null && textOf(nameOf(target), parts) === text ? parts : null
  }

  /** Whether the text that is kept of the target has these parts, whatever its version. */
  function hasParts(target: number, { status, lastSeen, rest }: Parts): boolean {
    const form = forms[formOf[target]!]
    return (
      form?.status === status && form.rest === rest && Object.is(lastSeens[target], lastSeen ?? Number.NaN)
    )
  }

  function keepWhole(target: number, text: string): boolean {
    const before = wholes.get(target)
    forget(target)
    formOf[target] = WHOLE
    versions[target] = versionIn(text)
    wholes.set(target, text)
    return before === undefined || withoutVersion(before) !== withoutVersion(text)
  }

  return {
    has: (target) => (formOf[target] ?? NONE) !== NONE,
    get(target) {
      const number = formOf[target]!
      if (number === WHOLE) return wholes.get(target)!
      const { status, rest } = forms[number]!
      const seen = lastSeens[target]!
      const lastSeen = Number.isNaN(seen) ? null : seen
      return textOf(nameOf(target), { status, lastSeen, rest, version: versions[target]! })
    },
    version: (target) => versions[target]!,
    put(target, text) {
      formOf = grown(formOf, target + 1)
      lastSeens = grown(lastSeens, target + 1)
      versions = grown(versions, target + 1)
      const parts = split(target, text)
      if (parts === null) return keepWhole(target, text)
      versions[target] = parts.version
      if (hasParts(target, parts)) return false
      forget(target)
      formOf[target] = retain(parts)
      lastSeens[target] = parts.lastSeen ?? Number.NaN
      return true
    },
    forget,
    forms: () => numbers.size,
  }
}
