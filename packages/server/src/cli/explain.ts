// `greendot explain`: asks a running server why a viewer sees a user as they do, and prints the sentences of
// the answer. It needs the address of the server and a server key.
import { isId } from '@greendot/protocol'
import type { Explanation } from '../presence/explain/explain.ts'
import { askServer, serverOf, URL_OPTION, WHICH_SERVER } from './ask-server.ts'
import { type Command, configFor, EXIT, type ExitCode, misuse, takeOptions, type World } from './command.ts'

export const explain: Command = {
  name: 'explain',
  summary: 'says why a viewer sees a user as they do',
  about: [WHICH_SERVER, 'Without --viewer it explains the unfiltered state, which only the app sees.'],
  options: [
    { name: 'user', sign: '<user_id>', help: 'the user that is seen' },
    { name: 'viewer', sign: '<user_id>', help: 'the user that looks' },
    URL_OPTION,
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
  const server = serverOf(values.get('url'), config)
  if (server === null) return misuse('--url: this is not a URL, as in https://presence.example.com', world)
  const query = new URLSearchParams({ user_id: userId })
  if (viewerId !== undefined) query.set('viewer_id', viewerId)
  const asked = await askServer<Explanation>(server, config, 'GET', `/api/v1/explain?${query}`)
  if (!asked.ok) {
    world.complain(asked.problem)
    return EXIT.failed
  }
  if (values.get('json') === 'on') world.print(JSON.stringify(asked.answer, null, 2))
  else for (const sentence of asked.answer.because) world.print(sentence)
  return EXIT.ok
}
