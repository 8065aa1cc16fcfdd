// `greendot explain`: asks a running server why a viewer sees a user as they do, and prints the sentences of
// the answer. It needs the address of the server and a server key.
import { isId, type Problem } from '@greendot/protocol'
import type { Explanation } from '../presence/explain/explain.ts'
import { type Command, configFor, EXIT, type ExitCode, misuse, takeOptions, type World } from './command.ts'

const DEV_KEY = 'dev'
const ANSWER_WITHIN_MS = 10_000

export const explain: Command = {
  name: 'explain',
  summary: 'says why a viewer sees a user as they do',
  about: [
    'Asks the server at host and port, with the first of server_keys, or the dev key when there is none.',
    'Without --viewer it explains the unfiltered state, which only the app sees.',
  ],
  options: [
    { name: 'user', sign: '<user_id>', help: 'the user that is seen' },
    { name: 'viewer', sign: '<user_id>', help: 'the user that looks' },
    { name: 'url', sign: '<url>', help: 'another server, as in https://presence.example.com' },
    { name: 'json', sign: null, help: 'prints the whole explanation as JSON' },
  ],
  run,
}

async function run(argv: readonly string[], world: World): Promise<ExitCode> {
  const taken = takeOptions(explain, argv)
  if (!taken.ok) return misuse(taken.problem, world)
  const { values } = taken
  const userId = values.get('user')
  if (userId === undefined)
    return misuse('--user is missing, as in: greendot explain --user bob --viewer alice', world)
  const viewerId = values.get('viewer')
  for (const [name, id] of [['user', userId] as const, ['viewer', viewerId] as const]) {
    if (id !== undefined && !isId(id))
      return misuse(`--${name}: 1 to 128 bytes without white space or commas`, world)
  }
  const config = configFor(explain, taken.rest, world, 'optional')
  if (config === null) return EXIT.usage
  const { host, port, serverKeys } = config
  const base = values.get('url') ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`
  if (!URL.canParse(base)) return misuse(`--url: "${base}" is not a URL`, world)
  const query = new URLSearchParams({ user_id: userId })
  if (viewerId !== undefined) query.set('viewer_id', viewerId)
  const url = `${base.replace(/\/$/, '')}/api/v1/explain?${query}`
  const asked = await ask(url, serverKeys[0] ?? DEV_KEY)
  if (!asked.ok) {
    world.complain(`${base}: ${asked.problem}`)
    return EXIT.failed
  }
  if (values.get('json') === 'on') world.print(JSON.stringify(asked.explanation, null, 2))
  else for (const sentence of asked.explanation.because) world.print(sentence)
  return EXIT.ok
}

type Asked = { ok: true; explanation: Explanation } | { ok: false; problem: string }

async function ask(url: string, key: string): Promise<Asked> {
  try {
    const response = await fetch(url, {
      headers: { authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    })
    if (response.ok) return { ok: true, explanation: (await response.json()) as Explanation }
    const { detail } = (await response.json()) as Problem
    const mend = response.status === 401 ? '; set server_keys to a key of that server' : ''
    return { ok: false, problem: `${detail}${mend}` }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { ok: false, problem: `no answer (${reason}); is a server running there?` }
  }
}
