// `greendot webhooks`: adds, lists, enables, tries and replays webhooks of a running server. The secret of a new one is
// printed once.
import { WEBHOOK_EVENTS } from '@greendot/protocol'
import type { Config } from '../platform/config/config.ts'
import { type Asked, askServer, serverOf, URL_OPTION, WHICH_SERVER } from './ask-server.ts'
import {
  type Command,
  configFor,
  EXIT,
  type ExitCode,
  misuse,
  takeArguments,
  takeOptions,
  type World,
} from './command.ts'

const PATH = '/api/v1/webhooks'
const ACTIONS = ['add', 'list', 'enable', 'test', 'failures', 'replay'] as const
/** More are behind the API, in pages. */
const FAILURES_SHOWN_MAX = 100
type Action = (typeof ACTIONS)[number]

interface Webhook {
  id: string
  url: string
  events: string[]
  enabled: boolean
  disabled_because: string | null
  secret?: string
  pending: number
  failed: number
  last_failure: string | null
}

interface Failure {
  user_id: string
  events: { type: string }[]
  attempts: number
  failed_at: number
  because: string
}

interface Failures {
  failures: Failure[]
  next: string | null
}

export const webhooks: Command = {
  name: 'webhooks',
  summary: 'adds, lists, enables, tries and replays webhooks',
  about: [
    'usage: greendot webhooks add <endpoint> [options]   prints the id and the secret, which is not shown again',
    '       greendot webhooks list                       with what waits and what failed',
    '       greendot webhooks enable <id>                after it was disabled',
    '       greendot webhooks test <id>                  sends a test event now',
    '       greendot webhooks failures <id>              what was given up, the oldest first, and why',
    '       greendot webhooks replay <id>                sends what was given up again',
    '',
    WHICH_SERVER,
    'The options events, users, contacts-of, platforms and viewer are for add.',
  ],
  options: [
    { name: 'events', sign: '<list>', help: `some of ${WEBHOOK_EVENTS.join(', ')} [all]` },
    { name: 'users', sign: '<list>', help: 'only events of these users' },
    { name: 'contacts-of', sign: '<user_id>', help: 'only events of users on the contact list of this user' },
    { name: 'platforms', sign: '<list>', help: 'only events with one of these devices' },
    { name: 'viewer', sign: '<user_id>', help: 'events as this user sees them' },
    URL_OPTION,
    { name: 'json', sign: null, help: 'prints the whole answer as JSON' },
  ],
  run,
}

interface Request {
  method: 'GET' | 'POST' | 'PATCH'
  path: string
  body?: object
  /** The answer in lines, and whether it was good news. */
  say(answer: never): { lines: string[]; isGood?: boolean }
}

async function run(argv: readonly string[], world: World): Promise<ExitCode> {
  const options = takeOptions(webhooks, argv)
  if (!options.ok) return misuse(options.problem, world)
  const taken = takeArguments(options.rest)
  if (!taken.ok) return misuse(taken.problem, world)
  const config = configFor(webhooks, taken.settings, world, 'optional')
  if (config === null) return EXIT.usage
  const [action, ...rest] = taken.arguments
  if (!isAction(action)) return misuse(`say what to do: greendot webhooks ${ACTIONS.join(' | ')}`, world)
  const problem = argumentProblem(action, rest)
  if (problem !== null) return misuse(problem, world)
  const server = serverOf(options.values.get('url'), config)
  if (server === null) return misuse('--url: this is not a URL, as in https://presence.example.com', world)
  return ask(
    requestOf(action, rest[0] ?? '', options.values),
    server,
    config,
    options.values.has('json'),
    world,
  )
}

async function ask(
  { method, path, body, say }: Request,
  server: string,
  config: Config,
  isJson: boolean,
  world: World,
): Promise<ExitCode> {
  const asked: Asked<never> = await askServer(server, config, method, PATH + path, body)
  if (!asked.ok) {
    world.complain(asked.problem)
    return EXIT.failed
  }
  const { lines, isGood = true } = say(asked.answer)
  for (const line of isJson ? [JSON.stringify(asked.answer, null, 2)] : lines) world.print(line)
  return isGood ? EXIT.ok : EXIT.failed
}

const isAction = (text: string | undefined): text is Action => ACTIONS.some((action) => action === text)

function argumentProblem(action: Action, rest: readonly string[]): string | null {
  const wanted = action === 'list' ? 0 : 1
  if (rest.length === wanted) return null
  if (action === 'list') return 'list takes no argument'
  return action === 'add'
    ? 'name one endpoint, as in: greendot webhooks add https://example.com/webhook'
    : `name one webhook, as in: greendot webhooks ${action} wh_…; greendot webhooks list shows them`
}

function requestOf(action: Action, argument: string, values: ReadonlyMap<string, string>): Request {
  const path = `/${encodeURIComponent(argument)}`
  switch (action) {
    case 'add':
      return { method: 'POST', path: '', body: newWebhook(argument, values), say: sayAdded }
    case 'list':
      return { method: 'GET', path: '', say: sayList }
    case 'enable':
      return { method: 'PATCH', path, body: { enabled: true }, say: sayEnabled }
    case 'test':
      return { method: 'POST', path: `${path}/test`, say: sayTest }
    case 'failures':
      return { method: 'GET', path: `${path}/failures?limit=${FAILURES_SHOWN_MAX}`, say: sayFailures }
    case 'replay':
      return { method: 'POST', path: `${path}/replay`, say: sayReplay }
  }
}

function newWebhook(endpoint: string, values: ReadonlyMap<string, string>): object {
  const list = (name: string) => values.get(name)?.split(',')
  return {
    url: endpoint,
    events: list('events') ?? WEBHOOK_EVENTS,
    filter: {
      user_ids: list('users'),
      contacts_of: values.get('contacts-of'),
      platforms: list('platforms'),
      viewer_id: values.get('viewer'),
    },
  }
}

const sayAdded = ({ id, secret }: Webhook) => ({
  lines: [`${id} was added. Its secret, which is not shown again:`, secret ?? ''],
})

const sayList = ({ webhooks: all }: { webhooks: Webhook[] }) => ({
  lines: all.length === 0 ? ['there are no webhooks'] : all.map(lineOf),
})

function lineOf({
  id,
  url,
  events,
  enabled,
  disabled_because,
  pending,
  failed,
  last_failure,
}: Webhook): string {
  const state = enabled ? 'enabled' : `disabled (${disabled_because})`
  const failing = enabled && last_failure !== null ? `, last failure: ${last_failure}` : ''
  return `${id} ${url} ${events.join(',')} ${state}, ${pending} waiting, ${failed} failed${failing}`
}

const sayTest = ({
  delivered,
  status,
  because,
}: {
  delivered: boolean
  status: number
  because: string
}) => ({
  lines: [delivered ? `delivered: the endpoint answered ${status}` : `not delivered: ${because}`],
  isGood: delivered,
})

const sayEnabled = ({ id, failed }: Webhook) => ({
  lines: [`${id} is enabled${failed > 0 ? `; ${failed} failed: greendot webhooks replay ${id}` : ''}`],
})

const sayFailures = ({ failures, next }: Failures) => ({
  lines: [
    ...(failures.length === 0 ? ['nothing was given up'] : failures.map(failureLine)),
    ...(next === null ? [] : ['there are more; the API has them in pages']),
  ],
})

function failureLine({ user_id, events, attempts, failed_at, because }: Failure): string {
  const types = events.map(({ type }) => type).join(',')
  const requests = `${attempts} ${attempts === 1 ? 'request' : 'requests'}`
  return `${new Date(failed_at).toISOString()} ${user_id} ${types} after ${requests}: ${because}`
}

const sayReplay = ({ replayed }: { replayed: number }) => ({
  lines: [`${replayed} ${replayed === 1 ? 'change is' : 'changes are'} sent again`],
})
