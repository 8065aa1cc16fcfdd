// Server-sent events in pieces of any size.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createEventReader } from './sse.ts'

function read(pieces: readonly string[]): string[] {
  const received: string[] = []
  const reader = createEventReader((data) => received.push(data))
  for (const piece of pieces) reader.take(piece)
  return received
}

describe('reading server-sent events', () => {
  test('[D8] returns data, and skips ids, comments and other fields', () => {
    const text =
      'retry: 2000\n\n:\n\ndata: {"a":1}\n\nid: x\n\nid: y\ndata:one\ndata: two\n\nevent: z\ndata\n\n'
    expect(read([text])).toEqual(['{"a":1}', 'one\ntwo'])
  })

  test('[D8] the result depends neither on the pieces nor on the kind of line breaks', () => {
    const block = fc.record({
      data: fc.array(fc.string({ maxLength: 9 }), { minLength: 1, maxLength: 3 }),
      hasId: fc.boolean(),
    })
    const lineBreak = fc.constantFrom('\n', '\r', '\r\n')
    const cuts = fc.array(fc.nat({ max: 200 }), { maxLength: 12 })
    fc.assert(
      fc.property(fc.array(block, { maxLength: 5 }), lineBreak, cuts, (blocks, end, places) => {
        const clean = blocks.map(({ data, hasId }) => ({
          hasId,
          data: data.map((line) => line.replace(/[\r\n]/g, '')),
        }))
        const text = clean
          .map(
            ({ data, hasId }) =>
              `${hasId ? `id: 1${end}` : ''}${data.map((line) => `data: ${line}${end}`).join('')}${end}`,
          )
          .join('')
        const sorted = [
          0,
          ...places.filter((place) => place < text.length).sort((a, b) => a - b),
          text.length,
        ]
        const pieces = sorted.slice(1).map((to, index) => text.slice(sorted[index], to))
        // A carriage return at the very end may be half of a line break; the next piece decides.
        expect(read([...pieces, ':'])).toEqual(clean.map(({ data }) => data.join('\n')))
      }),
    )
  })
})
