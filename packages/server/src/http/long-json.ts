// JSON.parse for long texts, in slices: a hundred thousand ids would block the event loop for too long. A scan
// that knows strings and brackets cuts the text between members, and JSON.parse reads each piece, so
// JSON.parse alone decides what is valid and what it means. A list or object that is cut is assembled from
// its pieces; one that fits into a piece is parsed as a whole.
import type { Clock } from '../platform/clock.ts'

/** A piece takes a millisecond or two, whatever it contains. */
const PIECE_CHARS = 8 * 1024

const QUOTE = 34
const COMMA = 44
const OPENING_BRACKET = 91
const BACKSLASH = 92
const CLOSING_BRACKET = 93
const OPENING_BRACE = 123
const CLOSING_BRACE = 125

/** A list or an object that is open at the position of the scan. */
interface Level {
  isList: boolean
  openedAt: number
  /** Start of the members that are not parsed yet. */
  restAt: number
  /** Start of the member at the position of the scan. */
  memberAt: number
  /** What was parsed so far; null while the whole level may still fit into one piece. */
  value: unknown[] | Record<string, unknown> | null
  /** The index or key of the present member, while that member is assembled itself. */
  slot: number | string
  /** The end of an assembled member, until the next comma; otherwise null. */
  assembledEnd: number | null
}

/** The value JSON.parse would return, or the SyntaxError it would throw. */
export async function parseLongJson(
  text: string,
  clock: Pick<Clock, 'nextTurn'>,
  pieceChars = PIECE_CHARS,
): Promise<unknown> {
  const scan = createScan(text, pieceChars)
  while (!scan.scanPiece()) await clock.nextTurn()
  return scan.result()
}

function createScan(text: string, pieceChars: number) {
  const levels: Level[] = []
  /** The number of levels, from the outermost, that are assembled from pieces. */
  let assembled = 0
  let at = 0
  let parsedUpTo = 0
  let root: { value: unknown; endedAt: number } | null = null

  /** Scans one piece. True when the text is finished. */
  function scanPiece(): boolean {
    const pauseAt = at + pieceChars
    while (at < text.length) {
      const code = text.charCodeAt(at)
      if (code === QUOTE) {
        at = endOfString(text, at)
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

  const isPieceFull = () => at - parsedUpTo >= pieceChars

  function passComma(): void {
    const level = levels.at(-1)
    if (level === undefined) throw misplaced(at)
    if (level.assembledEnd !== null) {
      mustBeBlank(level.assembledEnd, at)
      level.assembledEnd = null
      level.restAt = at + 1
    } else if (isPieceFull()) {
      assembleAll()
      if (parseMembers(level, at) === 0) throw misplaced(at)
      level.restAt = at + 1
    }
    level.memberAt = at + 1
  }

  function enter(isList: boolean): void {
    if (levels.length === 0 && root !== null) throw misplaced(at)
    const rest = { restAt: at + 1, memberAt: at + 1 }
    levels.push({ isList, openedAt: at, ...rest, value: null, slot: '', assembledEnd: null })
    if (isPieceFull()) assembleAll()
  }

  function leave(isList: boolean): void {
    const level = levels.pop()
    if (level === undefined) throw misplaced(at)
    // It is parsed together with the text around it, brackets included.
    if (level.value === null) return
    if (level.isList !== isList) throw misplaced(at)
    const isUntouched = level.restAt === level.openedAt + 1
    if (level.assembledEnd !== null) mustBeBlank(level.assembledEnd, at)
    else if (parseMembers(level, at) === 0 && !isUntouched) throw misplaced(at)
    assembled -= 1
    const parent = levels.at(-1)
    if (parent === undefined) {
      root = { value: level.value, endedAt: at + 1 }
    } else {
      put(parent.value!, parent.slot, level.value)
      parent.assembledEnd = at + 1
    }
  }

  /** From now on all open levels are assembled from pieces. */
  function assembleAll(): void {
    for (; assembled < levels.length; assembled++) {
      const level = levels[assembled]!
      const parent = levels[assembled - 1]
      if (parent === undefined) mustBeBlank(0, level.openedAt)
      else keepSlot(parent, level.openedAt)
      level.value = level.isList ? [] : {}
    }
    parsedUpTo = at
  }

  /** Parses what is before the member whose value begins at `valueAt`, with null in its place. */
  function keepSlot(level: Level, valueAt: number): void {
    if (level.assembledEnd !== null) throw misplaced(valueAt)
    parseMembers(level, valueAt, 'null')
    // Keys may repeat, so the last parsed key is not always the key of this member.
    const keyOf = () => Object.keys(JSON.parse(`{${text.slice(level.memberAt, valueAt)}null}`))[0]!
    level.slot = level.isList ? (level.value as unknown[]).length - 1 : keyOf()
  }

  /** Returns the number of members that were parsed. */
  function parseMembers(level: Level, end: number, placeholder = ''): number {
    const rest = text.slice(level.restAt, end) + placeholder
    parsedUpTo = end
    if (level.isList) {
      // A fast path for lists in lists, which may be very many.
      const members: unknown[] = rest === 'null' ? [null] : JSON.parse(`[${rest}]`)
      for (const member of members) (level.value as unknown[]).push(member)
      return members.length
    }
    const members = JSON.parse(`{${rest}}`) as Record<string, unknown>
    const keys = Object.keys(members)
    for (const key of keys) put(level.value!, key, members[key])
    return keys.length
  }

  /** Only white space is valid before a value, and JSON.parse decides what white space is. */
  function mustBeBlank(start: number, end: number): void {
    JSON.parse(`${text.slice(start, end)}null`)
  }

  function result(): unknown {
    if (levels.length > 0) throw new SyntaxError('the text ends too soon')
    if (root === null) return JSON.parse(text)
    mustBeBlank(root.endedAt, text.length)
    return root.value
  }

  return { scanPiece, result }
}

/** Like JSON.parse: `__proto__` is an ordinary key. */
function put(target: unknown[] | Record<string, unknown>, key: number | string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true })
  else (target as Record<number | string, unknown>)[key] = value
}

function endOfString(text: string, openedAt: number): number {
  for (let at = openedAt + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at + 1
    if (code === BACKSLASH) at += 1
  }
  throw new SyntaxError('a string does not end')
}

const misplaced = (at: number) => new SyntaxError(`a bracket or comma at ${at} is misplaced`)
