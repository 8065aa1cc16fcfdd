// Cuts what ejabberd sends into top-level elements and reads the little the load needs of them. It knows
// the way ejabberd writes XML (single quotes, nothing nested in itself), which is all it has to read, and
// costs the load less than a parser. An element may come in any number of chunks.

export interface StanzaReader {
  /** Calls `onStanza` for each element that is complete; keeps the rest until more comes. */
  read(chunk: string, onStanza: (stanza: string) => void): void
}

/** Far above any stanza of the load: more means that the end of an element was not recognised. */
const REST_CHARS_MAX = 1 << 20

export function createStanzaReader(): StanzaReader {
  let rest = ''
  return {
    read(chunk, onStanza) {
      const text = rest === '' ? chunk : rest + chunk
      let at = 0
      while (at < text.length) {
        // Between elements there is only the space that keeps connections alive.
        if (text[at] !== '<') {
          at++
          continue
        }
        const end = endOfElement(text, at)
        if (end === -1) break
        onStanza(text.slice(at, end))
        at = end
      }
      rest = text.slice(at)
      if (rest.length > REST_CHARS_MAX) throw new Error(`an element without an end: ${rest.slice(0, 80)}`)
    },
  }
}

/** Where the element that starts here ends, or -1 if its end has not come. */
function endOfElement(text: string, start: number): number {
  const tagEnd = text.indexOf('>', start)
  if (tagEnd === -1) return -1
  const before = text[tagEnd - 1]
  const second = text[start + 1]
  // `<?xml … ?>`, `</stream:stream>` and `<empty/>` are whole; the stream itself ends with the connection.
  if (before === '/' || second === '?' || second === '/' || text.startsWith('<stream:stream', start)) {
    return tagEnd + 1
  }
  let nameEnd = start + 1
  while (nameEnd < tagEnd && text[nameEnd] !== ' ') nameEnd++
  const closing = `</${text.slice(start + 1, nameEnd)}>`
  const closingAt = text.indexOf(closing, tagEnd + 1)
  return closingAt === -1 ? -1 : closingAt + closing.length
}

export interface PresenceStanza {
  /** The user it is about. */
  user: number
  kind: 'here' | 'gone' | 'refused'
  /** The serial of the change; null where the user only connected. */
  serial: number | null
  /** The answer to the probe that is sent on connect; not a change. */
  isSnapshot: boolean
}

/** A `<presence>` of one of the load's users; null if it is not from one. */
export function readPresence(stanza: string): PresenceStanza | null {
  const user = numberAfter(stanza, " from='user-")
  if (user === null) return null
  const tag = stanza.slice(0, stanza.indexOf('>'))
  const type = / type='(\w+)'/.exec(tag)?.[1]
  return {
    user,
    kind: type === undefined ? 'here' : type === 'unavailable' ? 'gone' : 'refused',
    serial: numberAfter(stanza, '<status>'),
    isSnapshot: stanza.includes('<delay '),
  }
}

function numberAfter(text: string, before: string): number | null {
  const found = text.indexOf(before)
  if (found === -1) return null
  const start = found + before.length
  let value = 0
  let at = start
  for (; at < text.length; at++) {
    const digit = text.charCodeAt(at) - 48
    if (digit < 0 || digit > 9) break
    value = value * 10 + digit
  }
  return at === start ? null : value
}
