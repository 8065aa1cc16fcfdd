// How commands talk to a running server: over HTTP with a server key. A refusal is one sentence that says what to mend.
import type { Problem } from '@greendot/protocol'
import type { Config } from '../platform/config/config.ts'
import type { Option } from './command.ts'

const DEV_KEY = 'dev'
const ANSWER_WITHIN_MS = 15_000

/** For every command that asks a server. */
export const URL_OPTION: Option = {
  name: 'url',
  sign: '<url>',
  help: 'another server, as in https://presence.example.com',
}
export const WHICH_SERVER =
  'Asks the server at host and port, with the first of server_keys, or the dev key when there is none.'

export type Asked<Answer> = { ok: true; answer: Answer } | { ok: false; problem: string }

/** The address without a path; null for a text that is none. */
export function serverOf(url: string | undefined, { host, port }: Config): string | null {
  const base = url ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`
  return URL.canParse(base) ? base.replace(/\/$/, '') : null
}

export async function askServer<Answer>(
  server: string,
  { serverKeys }: Pick<Config, 'serverKeys'>,
  method: 'GET' | 'POST' | 'PATCH',
  path: string,
  body?: object,
): Promise<Asked<Answer>> {
  try {
    const response = await fetch(`${server}${path}`, {
      method,
      headers: { authorization: `Bearer ${serverKeys[0] ?? DEV_KEY}` },
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    if (response.ok) return { ok: true, answer: (await response.json()) as Answer }
    const { detail } = (await response.json()) as Problem
    const mend = response.status === 401 ? '; set server_keys to a key of that server' : ''
    return { ok: false, problem: `${server}: ${detail}${mend}` }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { ok: false, problem: `${server}: no answer (${reason}); is a server running there?` }
  }
}
