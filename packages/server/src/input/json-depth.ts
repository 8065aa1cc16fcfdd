// How deep JSON is nested, before it is parsed. Nothing that is accepted is nested deeper than a few levels, and
// deep text takes the parser and the schemas far longer than flat text of the same length. The scan knows
// strings and brackets only; the parser decides what is valid.
import { JSON_DEPTH_MAX } from '@greendot/protocol'

const QUOTE = 34
const BACKSLASH = 92
/** Brackets and braces differ in this bit only. */
const BRACE_BIT = 32
const OPENING = 123
const CLOSING = 125

export const TOO_DEEP = `nested deeper than ${JSON_DEPTH_MAX} levels`

/** Stops at the first bracket that is too deep. For text that is not JSON either answer is right. */
export function isTooDeep(text: string, depthMax = JSON_DEPTH_MAX): boolean {
  if (text.length <= depthMax) return false
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = closingQuote(text, at)
    else if ((code | BRACE_BIT) === OPENING) {
      if (++depth > depthMax) return true
    } else if ((code | BRACE_BIT) === CLOSING) depth--
  }
  return false
}

/** The end of the text when the string does not end. */
function closingQuote(text: string, openedAt: number): number {
  for (let at = openedAt + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at
    if (code === BACKSLASH) at++
  }
  return text.length
}
