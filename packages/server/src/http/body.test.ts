// Bodies, short and long: read alike, refused alike. Real requests are in the tests of the routes; here
// is what they cannot send, and where the long way of parsing begins.
import { describe, expect, test } from 'bun:test'
import { BODY_BYTES_MAX } from '@greendot/protocol'
import { z } from 'zod'
import { readBody } from './body.ts'

const schema = z.object({ user_ids: z.array(z.string()) })
const AROUND_LONG = [1, 60_000, 65_536, 65_537, 200_000, BODY_BYTES_MAX - 1, BODY_BYTES_MAX]

const post = (body: BodyInit, headers: Record<string, string> = {}) =>
  new Request('http://localhost/', { method: 'POST', body, headers: { 'content-length': '', ...headers } })

/** With the length that a client announces, and in pieces without one. */
async function readBothWays(text: string | Uint8Array<ArrayBuffer>) {
  const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text
  const announced = post(bytes, { 'content-length': String(bytes.length) })
  const unannounced = new Request('http://localhost/', { method: 'POST', body: new Blob([bytes]).stream() })
  expect(unannounced.headers.get('content-length')).toBeNull()
  const results = [await readBody(announced, schema), await readBody(unannounced, schema)]
  expect(results[1]).toEqual(results[0]!)
  return results[0]!
}

/** A body of so many bytes, or the shortest there is. */
function bodyOf(bytes: number, ids: readonly string[] = ['a', 'é🙂']) {
  const json = JSON.stringify({ user_ids: ids })
  return `${json.slice(0, -1)}${' '.repeat(Math.max(0, bytes - Buffer.byteLength(json)))}}`
}

describe('of any length', () => {
  test.each(AROUND_LONG)('[W2] %d bytes are read', async (bytes) => {
    expect(await readBothWays(bodyOf(bytes))).toEqual({ ok: true, value: { user_ids: ['a', 'é🙂'] } })
    const ids = Array.from({ length: bytes / 12 }, (_, n) => `user-${n}`)
    const full = JSON.stringify({ user_ids: ids })
    if (full.length <= BODY_BYTES_MAX)
      expect(await readBothWays(full)).toEqual({ ok: true, value: { user_ids: ids } })
  })

  test.each(AROUND_LONG)('[W2] %d bytes that are not JSON are refused', async (bytes) => {
    const failure = { code: 'bad_request', message: 'the body is not valid JSON' }
    expect(await readBothWays(`${bodyOf(bytes - 1)}]`)).toEqual({ ok: false, failure } as never)
  })

  test.each(AROUND_LONG.slice(1))('[W2] %d bytes that are not UTF-8 are refused', async (bytes) => {
    const broken = new TextEncoder().encode(bodyOf(bytes))
    broken[bytes - 2] = 0xff
    const failure = { code: 'bad_request', message: 'the body is cut off or not UTF-8' }
    expect(await readBothWays(broken)).toEqual({ ok: false, failure } as never)
  })

  test('[W2] one byte more than a body may have is too large', async () => {
    const { failure } = (await readBothWays(bodyOf(BODY_BYTES_MAX + 1))) as { failure: { code: string } }
    expect(failure.code).toBe('too_large')
  })
})

describe('a Content-Encoding', () => {
  test.each(['gzip', 'deflate', 'br', 'zstd', 'gzip, identity', 'GZIP'])(
    '[W2] of %p is refused',
    async (of) => {
      const request = post(Bun.gzipSync(new TextEncoder().encode(bodyOf(1))), { 'content-encoding': of })
      expect(await readBody(request, schema)).toEqual({
        ok: false,
        failure: {
          code: 'bad_request',
          message: 'a body with a Content-Encoding is not understood; send it uncompressed',
        },
      })
    },
  )

  test.each(['identity', 'Identity'])('[W2] of %p is none', async (of) => {
    expect((await readBody(post(bodyOf(1), { 'content-encoding': of }), schema)).ok).toBe(true)
  })
})
