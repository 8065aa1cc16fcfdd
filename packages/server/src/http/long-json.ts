// JSON.parse for long texts, in turns: while it runs nothing else does, and a hundred thousand ids take
// it longer than anybody may wait. A scan that knows strings and brackets cuts the text between members;
// JSON.parse itself reads each piece, so what is valid and what it means is never decided here. A list or
// an object that is cut is put together from its pieces; whatever lies within one is not even looked at.
import type { Clock } from '../platform/clock.ts'

/** A millisecond or two, whatever they say: most of it is what lies open when a piece ends. */
const PIECE_CHARS = 8 * 1024

const QUOTE = 34
const COMMA = 44
const OPENING_BRACKET = 91
const BACKSLASH = 92
const CLOSING_BRACKET = 93
const OPENING_BRACE = 123
const CLOSING_BRACE = 125

/** A list or an object whose end the scan has not reached. */
interface Level {
  isList: boolean
  openedAt: number
  /** Where the members begin that are not taken yet. */
  restAt: number
  /** Where the member begins that the scan is in. */
  memberAt: number
  /** What was taken so far; null while the whole level may still lie within one piece. */
  value: unknown[] | Record<string, unknown> | null
  /** Where the member that the scan is in belongs, while that one is put together itself. */
  slot: number | string
  /** Behind a member that was put together itself, up to the next comma; else null. */
  joinedAt: number | null
}

/** The value JSON.parse would return, or the SyntaxError it would throw. */
export async function parseLongJson(
  text: string,
  clock: Pick<Clock, 'nextTurn'>,
  pieceChars = PIECE_CHARS,
): Promise<unknown> {
  const scan = createScan(text, pieceChars)
  while (!scan.goOn()) await clock.nextTurn()
  return scan.result()
}

function createScan(text: string, pieceChars: number) {
  const levels: Level[] = []
  /** So many levels, from the outermost, are put together from pieces; the others lie within one so far. */
  let joined = 0
  let at = 0
  let takenUpTo = 0
  let root: { value: unknown; endedAt: number } | null = null

  /** False when there is more of it. */
  function goOn(): boolean {
    const pauseAt = at + pieceChars
    while (at < text.length) {
      const code = text.charCodeAt(at)
      if (code === QUOTE) {
        at = behindString(text, at)
        continue
      }
      if (code === COMMA) passComma()
      else if (code === OPENING_BRACKET || code === OPENING_BRACE) enter(code === OPENING_BRACKET)
      else if (code === CLOSING_BRACKET || code === CLOSING_BRACE) leave(code === CLOSING_BRACKET)
      else {
        at += 1
        continue
      }
      if (at++ >= pauseAt) return false
    }
    return true
  }

  const isPieceFull = () => at - takenUpTo >= pieceChars

  function passComma(): void {
    const level = levels.at(-1)
    if (level === undefined) throw misplaced(at)
    if (level.joinedAt !== null) {
      mustBeBlank(level.joinedAt, at)
      level.joinedAt = null
      level.restAt = at + 1
    } else if (isPieceFull()) {
      joinAll()
      if (take(level, at) === 0) throw misplaced(at)
      level.restAt = at + 1
    }
    level.memberAt = at + 1
  }

  function enter(isList: boolean): void {
    if (levels.length === 0 && root !== null) throw misplaced(at)
    const rest = { restAt: at + 1, memberAt: at + 1 }
    levels.push({ isList, openedAt: at, ...rest, value: null, slot: '', joinedAt: null })
    if (isPieceFull()) joinAll()
  }

  function leave(isList: boolean): void {
    const level = levels.pop()
    if (level === undefined) throw misplaced(at)
    // It is read with what is around it, and its brackets too.
    if (level.value === null) return
    if (level.isList !== isList) throw misplaced(at)
    const isUntouched = level.restAt === level.openedAt + 1
    if (level.joinedAt !== null) mustBeBlank(level.joinedAt, at)
    else if (take(level, at) === 0 && !isUntouched) throw misplaced(at)
    joined -= 1
    const parent = levels.at(-1)
    if (parent === undefined) {
      root = { value: level.value, endedAt: at + 1 }
    } else {
      put(parent.value!, parent.slot, level.value)
      parent.joinedAt = at + 1
    }
  }

  /** From now on every level that the scan is in is put together. */
  function joinAll(): void {
    for (; joined < levels.length; joined++) {
      const level = levels[joined]!
      const parent = levels[joined - 1]
      if (parent === undefined) mustBeBlank(0, level.openedAt)
      else keepSlot(parent, level.openedAt)
      level.value = level.isList ? [] : {}
    }
    takenUpTo = at
  }

  /** Takes what is before the member whose value begins there, and leaves a place for it. */
  function keepSlot(level: Level, valueAt: number): void {
    if (level.joinedAt !== null) throw misplaced(valueAt)
    take(level, valueAt, 'null')
    // A key may come twice, so of all that were taken the last one need not be that of this member.
    const keyOf = () => Object.keys(JSON.parse(`{${text.slice(level.memberAt, valueAt)}null}`))[0]!
    level.slot = level.isList ? (level.value as unknown[]).length - 1 : keyOf()
  }

  /** Returns how many members that were. */
  function take(level: Level, end: number, placeholder = ''): number {
    const rest = text.slice(level.restAt, end) + placeholder
    takenUpTo = end
    if (level.isList) {
      // The usual case of lists in lists, which may be very many.
      const members: unknown[] = rest === 'null' ? [null] : JSON.parse(`[${rest}]`)
      for (const member of members) (level.value as unknown[]).push(member)
      return members.length
    }
    const members = JSON.parse(`{${rest}}`) as Record<string, unknown>
    const keys = Object.keys(members)
    for (const key of keys) put(level.value!, key, members[key])
    return keys.length
  }

  /** Nothing but white space fits before a value; what that is, JSON.parse knows. */
  function mustBeBlank(start: number, end: number): void {
    JSON.parse(`${text.slice(start, end)}null`)
  }

  function result(): unknown {
    if (levels.length > 0) throw new SyntaxError('the text ends too soon')
    if (root === null) return JSON.parse(text)
    mustBeBlank(root.endedAt, text.length)
    return root.value
  }

  return { goOn, result }
}

/** As JSON.parse does it: such a key is a key like any other, not the prototype. */
function put(target: unknown[] | Record<string, unknown>, key: number | string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true })
  else (target as Record<number | string, unknown>)[key] = value
}

function behindString(text: string, openedAt: number): number {
  for (let at = openedAt + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at + 1
    if (code === BACKSLASH) at += 1
  }
  throw new SyntaxError('a string does not end')
}

const misplaced = (at: number) => new SyntaxError(`a bracket or comma at ${at} is misplaced`)
