// One call of the backend to the server: typed by its name, bounded in time, and tried again when that is
// safe and useful. Invariant: whatever happens, a call ends within `timeoutMs`, pauses included.
// Connections are kept open and used again by every runtime's fetch, as long as answers are read to the
// end, which they are.
import { isId } from '@greendot/protocol'
import type { Runtime } from '../platform.ts'
import type { Operations } from './api.ts'
import { GreendotError, refusalIn } from './error.ts'

export interface CallerParts {
  /** Where the server is, without a slash at its end. */
  baseUrl: string
  serverKey: string
  timeoutMs: number
  retriesMax: number
  runtime: Pick<Runtime, 'now' | 'after' | 'random' | 'fetch'>
}

type Name = keyof Operations

export interface Answered<Value> {
  answer: Value
  /** The server could not reach what it needs to know who is live, and answered from its database. */
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

/** Asking, and adding what is there already, change nothing the second time. Other POSTs might. */
const REPEATABLE_POSTS: ReadonlySet<string> = new Set<Name>([
  'POST /api/v1/presence/query',
  'POST /api/v1/users/{user_id}/contacts',
])

/** Nobody answered, too many at once, or something between here and there is down. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([0, 429, 502, 503, 504])
const PAUSE_BASE_MS = 200
const PAUSE_MS_MAX = 5_000
/** Timers of every runtime take a longer time for none at all. */
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

  /** What the server asks for, and some more: those refused together shall not come back together. */
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
  // The server answers each name with its type; that it does is tested against the document.
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
  // A path with dots for a name is another path: whoever erases ".." must not get a surprise.
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
