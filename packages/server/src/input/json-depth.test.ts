// The scan against the depth of the parsed value, and where it stops.
import { describe, expect, spyOn, test } from 'bun:test'
import { JSON_DEPTH_MAX } from '@greendot/protocol'
import fc from 'fast-check'
import { z } from 'zod'
import { decodeFrame } from '../gateway/sessions/frames.ts'
import { readBody } from '../http/body.ts'
import { isTooDeep } from './json-depth.ts'

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}

/** The smallest limit that the text keeps to. */
function scannedDepth(text: string): number {
  let depth = 0
  while (isTooDeep(text, depth)) depth++
  return depth
}

const lists = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
const objects = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`

describe('the depth of JSON', () => {
  // Keys and texts with brackets, quotes and backslashes.
  const tricky = fc.string({ unit: fc.constantFrom('"', '\\', '[', ']', '{', '}', 'a', 'é', '🙂', '\n') })
  const json = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 8, withCrossShrink: true },
      tricky,
      fc.constantFrom(null, true, 1.5e300),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(tricky, tie('value'), { maxKeys: 4 }),
    ),
  })).value

  test('[C6] is the depth of the value, whatever its strings and white space hold', () => {
    fc.assert(
      fc.property(json, fc.constantFrom(undefined, 1, '\t'), (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        // A text as short as the limit is not scanned.
        const depth = depthOf(JSON.parse(text))
        if (depth > 0) expect(scannedDepth(text)).toBe(depth)
        else expect(isTooDeep(text)).toBe(false)
      }),
      { numRuns: 500 },
    )
  })

  test('[C6] never throws on text that is not JSON, and the end of a text ends its strings', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void isTooDeep(text, 0)))
    for (const text of ['"', '"\\', '["\\"', ']]]]', `"${'['.repeat(100)}`])
      expect(isTooDeep(text)).toBe(false)
  })
})

describe('JSON that is nested too deep', () => {
  const body = z.object({ text: z.unknown() })
  const read = (text: string) =>
    readBody(new Request('http://localhost/', { method: 'POST', body: text }), body)

  test.each([JSON_DEPTH_MAX + 1, 1_000, 400_000])(
    '[C6] %d levels in a body are refused unparsed',
    async (levels) => {
      const parse = spyOn(JSON, 'parse')
      try {
        for (const text of [lists(levels), objects(Math.min(levels, 150_000)), `{"text":${lists(levels)}}`])
          expect(await read(text)).toMatchObject({ ok: false, failure: { code: 'bad_request' } })
        expect(parse).not.toHaveBeenCalled()
      } finally {
        parse.mockRestore()
      }
    },
  )

  test('[C6] a frame is refused unparsed as well', () => {
    const parse = spyOn(JSON, 'parse')
    try {
      for (const levels of [JSON_DEPTH_MAX, 1_000, 30_000])
        expect(decodeFrame(`{"type":"watch","user_ids":${lists(levels)}}`)).toMatchObject({
          ok: false,
          failure: { code: 'bad_frame' },
        })
      expect(parse).not.toHaveBeenCalled()
    } finally {
      parse.mockRestore()
    }
  })

  test('[C6] as deep as it may be is read', async () => {
    expect(await read(`{"text":${lists(JSON_DEPTH_MAX - 1)}}`)).toMatchObject({ ok: true })
    expect(await read(`{"text":"${'['.repeat(200_000)}"}`)).toMatchObject({ ok: true })
    expect(decodeFrame(`{"type":"x","y":${objects(JSON_DEPTH_MAX - 1)}}`).ok).toBe(true)
  })
})
