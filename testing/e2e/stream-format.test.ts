// The reader of event streams, against the examples and rules of the HTML standard: what it takes, and
// that it fails where a browser would skip something quietly.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createEventParser } from './stream-format.ts'

/** What came out of these pieces, in order. */
function parsed(...pieces: string[]): string[] {
  const events: string[] = []
  const parser = createEventParser({
    message: (data, id) => void events.push(`${id}|${data}`),
    idAlone: (id) => void events.push(`id ${id}`),
    comment: () => void events.push('comment'),
    retry: (ms) => void events.push(`retry ${ms}`),
  })
  for (const piece of pieces) parser.take(piece)
  return events
}

const WHOLE = '\uFEFF: hello\nretry: 2000\n\nid: a.b\ndata: one\ndata:two\n\nid: c\n\ndata:  three\n\n'
const EVENTS = ['comment', 'retry 2000', 'a.b|one\ntwo', 'id c', 'c| three']

describe('the event stream format', () => {
  test.each(['\n', '\r\n', '\r'])('[W1] lines end with %j', (end) => {
    // A lone carriage return at the end may still become two characters; the next one tells.
    expect(parsed(`${WHOLE.replaceAll('\n', end)}:`)).toEqual(EVENTS)
  })

  test('[W1] pieces may break anywhere', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('\n', '\r\n'),
        fc.array(fc.nat(WHOLE.length + 12), { maxLength: 12 }),
        (end, cuts) => {
          const text = WHOLE.replaceAll('\n', end)
          const places = [0, ...cuts.toSorted((a, b) => a - b), text.length]
          expect(parsed(...places.map((from, n) => text.slice(from, places[n + 1] ?? from)))).toEqual(EVENTS)
        },
      ),
    )
  })

  test('[W1] a block without its blank line is not a message', () => {
    expect(parsed('data: one\n\ndata: two\n')).toEqual(['|one'])
  })

  test.each(['event: x\n', 'data\n', 'retry: 1s\n', 'id: a\0b\n', 'Data: x\n'])(
    '[W1] %j is refused',
    (text) => {
      expect(() => parsed(text)).toThrow('a browser would skip')
    },
  )
})
