// One HTTP call of the backend kit: typed by its name, limited in time, and retried if that is safe and
// useful. Invariant: a call ends within `timeoutMs`, retries and pauses included.
// Every answer is read to its end, so that fetch reuses the connection.
import { isId } from '@greendot/protocol'
import type { Runtime } from '../platform.ts'
import type { Operations } from './api.ts'
import { GreendotError, refusalIn } from './error.ts'

export interface CallerParts {
  /** Without a trailing slash. */
  baseUrl: string
  serverKey: string
  timeoutMs: number
  retriesMax: number
  runtime: Pick<Runtime, 'now' | 'after' | 'random' | 'fetch'>
}

type Name = keyof Operations

export interface Answered<Value> {
  answer: Value
  /** The hot store was not available, so the answer is from the database. */
  isDegraded: boolean
}

export type Call = <One extends Name>(
  name: One,
  input: Operations[One]['input'],
) => Promise<Answered<Operations[One]['answer']>>

interface Request {
  url: string
  method: string
  body: string | null
  isRepeatable: boolean
}

/** POST requests that have the same effect when repeated. */
const REPEATABLE_POSTS: ReadonlySet<string> = new Set<Name>([
  'POST /api/v1/presence/query',
  'POST /api/v1/users/{user_id}/contacts',
])

/** No answer, rate limited, or a proxy or server that is temporarily down. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([0, 429, 502, 503, 504])
const PAUSE_BASE_MS = 200
const PAUSE_MS_MAX = 5_000
/** Timers run at once when their delay is longer than this. */
const TIMER_MS_MAX = 2 ** 31 - 1

export function createCall({ baseUrl, serverKey, timeoutMs, retriesMax, runtime }: CallerParts): Call {
  const headers = { authorization: `Bearer ${serverKey}`, 'content-type': 'application/json' }

  async function attempt(request: Request, leftMs: number): Promise<Answered<unknown> | GreendotError> {
    const { url, method, body } = request
    const abort = new AbortController()
    const timer = runtime.after(Math.min(leftMs, TIMER_MS_MAX), () => abort.abort())
    try {
      const response = await runtime.fetch(url, { method, headers, body, signal: abort.signal })
      const text = await response.text()
      return response.ok ? answerIn(response, text) : refusalIn(response, text, runtime.now())
    } catch (cause) {
      const detail = abort.signal.aborted
        ? `no answer within ${timeoutMs} ms`
        : `${baseUrl} cannot be reached`
      return new GreendotError({ code: 'unavailable', status: 0, detail }, { cause })
    } finally {
      timer.stop()
    }
  }

  /** What the server asks for, plus a random part, so that refused clients do not return together. */
  function pauseMs({ retryAfterMs }: GreendotError, tries: number): number {
    return (retryAfterMs ?? 0) + runtime.random() * Math.min(PAUSE_MS_MAX, PAUSE_BASE_MS * 2 ** tries)
  }

  async function send(request: Request): Promise<Answered<unknown>> {
    const endsAt = runtime.now() + timeoutMs
    for (let retries = 0; ; retries++) {
      const outcome = await attempt(request, endsAt - runtime.now())
      if (!(outcome instanceof GreendotError)) return outcome
      const isHopeless = !request.isRepeatable || !PASSING_STATUSES.has(outcome.status)
      const waitMs = pauseMs(outcome, retries)
      if (isHopeless || retries >= retriesMax || runtime.now() + waitMs >= endsAt) throw outcome
      await new Promise<void>((resolve) => runtime.after(waitMs, resolve))
    }
  }

  const call = async (name: Name, input: Input) => send(requestOf(baseUrl, name, input))
  // A test checks the answer types against the OpenAPI document.
  return call as Call
}

interface Input {
  path?: Record<string, string>
  query?: Record<string, string | undefined | string[]>
  body?: object
}

function requestOf(baseUrl: string, name: Name, { path = {}, query = {}, body }: Input): Request {
  const [method, template] = name.split(' ') as [string, string]
  const filled = template.replace(/\{(\w+)\}/g, (_, part: string) => segment(path[part]))
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  const search = new URLSearchParams(given.map(([key, value]) => [key, String(value)])).toString()
  return {
    url: `${baseUrl}${filled}${search === '' ? '' : `?${search}`}`,
    method,
    body: body === undefined ? null : JSON.stringify(body),
    isRepeatable: method !== 'POST' || REPEATABLE_POSTS.has(name),
  }
}

function segment(id: string | undefined): string {
  // "." and ".." would change the path: erasing ".." must not call another route.
  if (isId(id) && id !== '.' && id !== '..') return encodeURIComponent(id)
  const detail = 'an id is 1 to 128 bytes without white space or commas, and in a path neither . nor ..'
  throw new GreendotError({ code: 'invalid_id', status: 400, detail })
}

function answerIn({ status, headers }: Response, text: string): Answered<unknown> | GreendotError {
  const isDegraded = headers.get('greendot-degraded') === 'true'
  if (status === 204) return { answer: undefined, isDegraded }
  try {
    return { answer: JSON.parse(text), isDegraded }
  } catch (cause) {
    const detail = 'the answer is not JSON; is this a Greendot server?'
    return new GreendotError({ code: 'internal', status, detail }, { cause })
  }
}
