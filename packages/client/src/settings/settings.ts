// Reads and changes the settings of the own user over HTTP, because there is no frame for them. Loaded on
// first use; like every module that is loaded later it imports no values of the core.
// Invariant: calls run one after the other, so the answer that comes last is the newest. Each ends within
// `CALL_MS_MAX` of its start with a value, and never rejects.
import type { Settings } from '@greendot/protocol'
import type { Runtime } from '../platform.ts'
import type { DotFailure, SettingsAnswer, SettingsChange } from '../types.ts'

const PATH = '/api/v1/presence/settings'
const CALL_MS_MAX = 30_000
const WAITING_MAX = 100

export interface SettingsParts {
  runtime: Pick<Runtime, 'after' | 'fetch'>
  /** Without a trailing slash. */
  url: string
  token(): Promise<string>
}

/** The call that was made last, while it has no answer. */
interface Last {
  answer: Promise<SettingsAnswer>
  isRead: boolean
  waiting: number
}

const lastCalls = new WeakMap<SettingsParts, Last>()

/** Reads the settings if there is no change. Reads that follow each other share one request. */
export function callSettings(parts: SettingsParts, change?: SettingsChange): Promise<SettingsAnswer> {
  const former = lastCalls.get(parts)
  if (former?.isRead && !change) return former.answer
  const waiting = (former?.waiting ?? 0) + 1
  if (waiting > WAITING_MAX) return Promise.resolve(failed('too many pending requests', 'overloaded'))
  const init = change ? { method: 'PUT', body: JSON.stringify(change) } : {}
  const answer = former ? former.answer.then(() => call(parts, init)) : call(parts, init)
  const last: Last = { answer, isRead: !change, waiting }
  lastCalls.set(parts, last)
  void answer.then(() => lastCalls.get(parts) === last && lastCalls.delete(parts))
  return answer
}

async function call({ runtime, url, token }: SettingsParts, init: RequestInit): Promise<SettingsAnswer> {
  const ending = new AbortController()
  let stop = () => {}
  let failure: DotFailure['code'] = 'unauthorized'
  // The token of the app may hang, which no signal ends.
  const tooLate = new Promise<SettingsAnswer>((resolve) => {
    const timer = runtime.after(CALL_MS_MAX, () => {
      ending.abort()
      resolve(failed('no answer in time'))
    })
    stop = timer.stop
  })
  try {
    return await Promise.race([tooLate, ask()])
  } catch (error) {
    return failed(String(error), failure)
  } finally {
    stop()
  }

  async function ask(): Promise<SettingsAnswer> {
    const headers = { authorization: `Bearer ${await token()}`, 'content-type': 'application/json' }
    failure = 'unavailable'
    const { signal } = ending
    const response = await runtime.fetch(url + PATH, { ...init, headers, signal, cache: 'no-store' })
    if (response.ok) return { ok: true, settings: (await response.json()) as Settings }
    const { code, detail } = await problemIn(response)
    return failed(detail ?? `the server answered ${response.status}`, code)
  }
}

/** A proxy may answer with something else than a problem document. */
const problemIn = (response: Response): Promise<{ code?: DotFailure['code']; detail?: string }> =>
  response.json().catch(() => ({}))

const failed = (message: string, code: DotFailure['code'] = 'unavailable'): SettingsAnswer => ({
  ok: false,
  code,
  message,
})
