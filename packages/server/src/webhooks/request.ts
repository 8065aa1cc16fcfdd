// One request to an endpoint. Its status decides, redirects are not followed, and no more of the body is read than keeps
// the connection polite. It ends within a time limit, whatever the endpoint does.
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Clock } from '../platform/clock.ts'
import { VERSION } from '../platform/version.ts'
import { type Address, hostOf, type Resolve, resolveTarget } from './addresses.ts'

const TIMEOUT_MS = 10_000
const BODY_READ_BYTES_MAX = 16 * 1024
const BODY_READ_MS = 1_000
const RETRY_AFTER_MS_MAX = 60 * 60 * 1000
const GONE = 410
const MESSAGE_CHARS_MAX = 300

export type Outcome =
  | { ok: true; status: number }
  | {
      ok: false
      /** Null where there was no answer. */
      status: number | null
      because: string
      /** The endpoint wants to be left alone for so long. */
      retryAfterMs: number
      /** The endpoint wants no more requests at all. */
      isGone: boolean
    }

export interface Post {
  url: string
  headers: Readonly<Record<string, string>>
  body: string
}

export type SendPost = (post: Post) => Promise<Outcome>

export interface RequestParts {
  allowsPrivate: boolean
  clock: Clock
  resolve?: Resolve
}

export function createSendPost({ allowsPrivate, clock, resolve }: RequestParts): SendPost {
  async function send({ url, headers, body }: Post, ended: PromiseWithResolvers<Outcome>): Promise<void> {
    const target = new URL(url)
    const resolved = await resolveTarget(hostOf(target), allowsPrivate, resolve)
    if (!resolved.ok) return ended.resolve(failure(resolved.because))
    const options: RequestOptions = {
      method: 'POST',
      agent: false,
      lookup: pinned(resolved.addresses),
      headers: {
        ...headers,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        'user-agent': `greendot/${VERSION}`,
        connection: 'close',
      },
    }
    const request = (target.protocol === 'https:' ? httpsRequest : httpRequest)(target, options)
    request.on('error', (error) => ended.resolve(failure(unreachable(error))))
    request.on('response', (response) => {
      ended.resolve(outcomeOf(response))
      const isOver = () => void request.destroy()
      const timer = clock.after(BODY_READ_MS, isOver)
      let bytes = 0
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > BODY_READ_BYTES_MAX) isOver()
      })
      response.on('close', () => timer.stop())
    })
    request.end(body)
    // A request that is over is not in the way of the next one.
    void ended.promise.then((outcome) => outcome.ok || outcome.status !== null || request.destroy())
  }

  return async (post) => {
    const ended = Promise.withResolvers<Outcome>()
    const timer = clock.after(TIMEOUT_MS, () =>
      ended.resolve(failure(`no answer within ${TIMEOUT_MS / 1000} seconds`)),
    )
    send(post, ended).catch((error: unknown) => ended.resolve(failure(unreachable(error))))
    try {
      return await ended.promise
    } finally {
      timer.stop()
    }
  }
}

/** An endpoint decides a part of the message, for example by its certificate. */
function unreachable(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return `the connection failed: ${message.slice(0, MESSAGE_CHARS_MAX)}`
}

function failure(because: string): Outcome {
  return { ok: false, status: null, because, retryAfterMs: 0, isGone: false }
}

function outcomeOf({ statusCode, headers }: IncomingMessage): Outcome {
  const status = statusCode ?? 0
  if (status >= 200 && status < 300) return { ok: true, status }
  const isRedirect = status >= 300 && status < 400
  const seconds = /^\d{1,9}$/.test(headers['retry-after'] ?? '') ? Number(headers['retry-after']) : 0
  return {
    ok: false,
    status,
    because: `the endpoint answered ${status}${isRedirect ? '; redirects are not followed' : ''}`,
    retryAfterMs: Math.min(seconds * 1000, RETRY_AFTER_MS_MAX),
    isGone: status === GONE,
  }
}

/** Connects to the addresses that were checked, whatever the name server says now. */
function pinned(addresses: readonly Address[]): NonNullable<RequestOptions['lookup']> {
  return (_host, options, answer) => {
    const [first] = addresses
    if (options.all) answer(null, [...addresses])
    else answer(null, first!.address, first!.family)
  }
}
