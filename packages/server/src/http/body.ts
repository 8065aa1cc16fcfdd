// Reads a request body as JSON. It never buffers more than the limit, and parses long bodies in slices, so
// that other requests do not wait. A body that is nested too deep is refused before it is parsed.
import { BODY_BYTES_MAX, type Failure } from '@greendot/protocol'
import type { z } from 'zod'
import { isTooDeep, TOO_DEEP } from '../input/json-depth.ts'
import { type Parsed, parse } from '../input/schemas.ts'
import { type Clock, systemClock } from '../platform/clock.ts'
import { parseLongJson } from './long-json.ts'

/** Parsing up to this length takes a millisecond or two. Nearly all bodies are far shorter. */
const SHORT_CHARS_MAX = 64 * 1024

const TOO_LARGE: Failure = { code: 'too_large', message: `a body has at most ${BODY_BYTES_MAX} bytes` }
// A client that disconnects in the middle of a body is not a server error.
const UNREADABLE: Failure = { code: 'bad_request', message: 'the body is cut off or not UTF-8' }
const ENCODED: Failure = {
  code: 'bad_request',
  message: 'a body with a Content-Encoding is not understood; send it uncompressed',
}

const DEEP: Failure = { code: 'bad_request', message: `the body is ${TOO_DEEP}` }

const IDENTITY = 'identity'
// Strict: replacement characters would turn different invalid ids into one valid id.
const STRICT = { fatal: true } as const
const utf8 = new TextDecoder('utf-8', STRICT)

export async function readBody<T>(
  request: Request,
  schema: z.ZodType<T>,
  clock: Pick<Clock, 'nextTurn'> = systemClock,
): Promise<Parsed<T>> {
  if ((request.headers.get('content-encoding') ?? IDENTITY).toLowerCase() !== IDENTITY)
    return { ok: false, failure: ENCODED }
  const length = request.headers.get('content-length')
  if (Number(length ?? 0) > BODY_BYTES_MAX) return { ok: false, failure: TOO_LARGE }
  let text: string | null
  try {
    // The runtime enforces Content-Length, so the body can be read at once, which is far cheaper than a stream.
    text = length === null ? await readText(request) : utf8.decode(await request.arrayBuffer())
  } catch {
    return { ok: false, failure: UNREADABLE }
  }
  if (text === null) return { ok: false, failure: TOO_LARGE }
  if (isTooDeep(text)) return { ok: false, failure: DEEP }
  let value: unknown
  try {
    value = text.length <= SHORT_CHARS_MAX ? JSON.parse(text) : await parseLongJson(text, clock)
  } catch {
    return { ok: false, failure: { code: 'bad_request', message: 'the body is not valid JSON' } }
  }
  return parse(schema, value)
}

/** Null when the body is too long. Reading stops at the limit. */
async function readText(request: Request): Promise<string | null> {
  if (request.body === null) return ''
  const decoder = new TextDecoder('utf-8', STRICT)
  let size = 0
  let text = ''
  for await (const chunk of request.body) {
    size += chunk.byteLength
    if (size > BODY_BYTES_MAX) return null
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}
