// The registry of error codes, checked both ways: every code in the source of the server is registered, and
// every registered code is used.
import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { CLOSE, ERRORS, type ErrorCode, problem } from './errors.ts'

const SERVER = resolve(import.meta.dir, '../../server/src')

/** The documented codes; codes are added, never renamed or dropped. */
const PROMISED: [ErrorCode, number][] = [
  ['bad_frame', 400],
  ['bad_request', 400],
  ['unknown_type', 400],
  ['invalid_status', 400],
  ['invalid_id', 400],
  ['invalid_expiry', 400],
  ['text_too_long', 400],
  ['too_many_ids', 400],
  ['watch_limit', 400],
  ['unauthorized', 401],
  ['token_expired', 401],
  ['forbidden', 403],
  ['not_found', 404],
  ['too_large', 413],
  ['rate_limited', 429],
  ['overloaded', 503],
  ['unavailable', 503],
  ['internal', 500],
]

function sources(): string[] {
  return readdirSync(SERVER, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .map((path) => readFileSync(join(SERVER, path), 'utf8'))
}

/** Codes in the source: `code: 'x'`, `said('x', …)`, `say('x', …)`, and in comparisons. */
function usedCodes(): Set<string> {
  // What `typeof` gives is no code.
  const pattern = /(?<!typeof [a-z.]*)\b(?:code: |code === |said\(|say\()'([a-z_]+)'/g
  return new Set(sources().flatMap((text) => Array.from(text.matchAll(pattern), (match) => match[1]!)))
}

describe('the error registry', () => {
  test('every code that the server uses is registered', () => {
    const used = usedCodes()
    // Finding none would mean that the pattern does not fit the source.
    expect(used.size).toBeGreaterThan(10)
    expect([...used].filter((code) => !Object.hasOwn(ERRORS, code))).toEqual([])
  })

  test('every registered code is used', () => {
    const used = usedCodes()
    expect(Object.keys(ERRORS).filter((code) => !used.has(code))).toEqual([])
  })

  test.each(PROMISED)('%s keeps its name and answers %d', (code, status) => {
    expect(ERRORS[code].status).toBe(status as (typeof ERRORS)[ErrorCode]['status'])
  })

  test('a problem document has the fields of RFC 9457 and the code, and nothing else', () => {
    for (const code of Object.keys(ERRORS) as ErrorCode[]) {
      const { status, title } = ERRORS[code]
      const type = `urn:greendot:error:${code}`
      expect(problem({ code, message: 'why' })).toEqual({ type, title, status, code, detail: 'why' })
      expect(URL.canParse(type)).toBe(true)
      expect(status).toBeWithin(400, 600)
    }
  })

  test('titles are unique', () => {
    const titles = Object.values(ERRORS).map(({ title }) => title)
    expect(new Set(titles).size).toBe(titles.length)
  })

  test('close codes are the documented ones', () => {
    expect(Object.values(CLOSE).sort()).toEqual([1000, 1001, 1009, 4400, 4401, 4403, 4408, 4429])
  })
})
