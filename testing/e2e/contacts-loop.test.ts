// Whatever the app's backend does with a list of a hundred thousand contacts, over real HTTP and in one
// call, the server goes on with everything else: its loop never stands still for long. The server is a
// process of its own, so that what the client does is not measured with it.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { resolve } from 'node:path'
import { BODY_BYTES_MAX } from '@greendot/protocol'
import { SERVER_KEY } from './audience.ts'
import { STILL_MS_MAX } from './standstill.ts'
import type { StandstillMessage } from './standstill-server.ts'

const PROGRAM = resolve(import.meta.dir, 'standstill-server.ts')
const CONTACTS = 100_000
const TIMEOUT_MS = 60_000

// As many as fit into one body: short ones, in no order.
const ids = (letter: string) =>
  Array.from({ length: CONTACTS }, (_, n) => `${letter}${((n * 7919) % CONTACTS).toString(36)}`)
const listOf = (userIds: readonly string[]) => JSON.stringify({ user_ids: userIds })
const some = ids('a')
const others = ids('b')

let child: Bun.Subprocess
let url: string
let heard = Promise.withResolvers<StandstillMessage>()

async function next<Key extends string>(key: Key): Promise<Extract<StandstillMessage, Record<Key, unknown>>> {
  const message = await heard.promise
  heard = Promise.withResolvers()
  if (!(key in message)) throw new Error(`the server said ${JSON.stringify(message)}`)
  return message as Extract<StandstillMessage, Record<Key, unknown>>
}

beforeAll(async () => {
  child = Bun.spawn([process.execPath, PROGRAM], {
    stdio: ['ignore', 'inherit', 'inherit'],
    ipc: (message: StandstillMessage) => heard.resolve(message),
  })
  url = (await next('url')).url
})
afterAll(async () => {
  child.disconnect()
  await child.exited
})

interface Step {
  what: string
  token?: string
  method: string
  path: string
  /** As it is sent. */
  body?: string
  status: number
}

const LIST = '/api/v1/users/owner/contacts'

/** One after the other, each on what the one before has left. */
const STEPS: readonly Step[] = [
  { what: 'add', method: 'POST', path: LIST, body: listOf(some), status: 204 },
  { what: 'replace by the same', method: 'PUT', path: LIST, body: listOf(some), status: 204 },
  { what: 'replace by others', method: 'PUT', path: LIST, body: listOf(others), status: 204 },
  { what: 'read', method: 'GET', path: LIST, status: 200 },
  { what: 'export', method: 'GET', path: '/api/v1/users/owner/export', status: 200 },
  {
    what: 'settings that are refused',
    token: 'dev:owner',
    method: 'PUT',
    path: '/api/v1/presence/settings',
    body: JSON.stringify({ deny: some }),
    status: 400,
  },
  {
    what: 'ids that are refused',
    method: 'PUT',
    path: LIST,
    body: listOf([...some, 'not an id']),
    status: 400,
  },
  {
    what: 'a body full of ids',
    method: 'DELETE',
    path: LIST,
    body: listOf(Array(BODY_BYTES_MAX / 4 - 10).fill('a')),
    status: 204,
  },
  { what: 'remove', method: 'DELETE', path: LIST, body: listOf(others), status: 204 },
]

async function perform({ token = SERVER_KEY, method, path, body, status }: Step): Promise<string> {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${token}` },
    ...(body === undefined ? {} : { body }),
  })
  const text = await response.text()
  expect(response.status, text.slice(0, 500)).toBe(status)
  return text
}

async function longestStandstillMs(work: () => Promise<unknown>): Promise<number> {
  child.send('begin')
  await next('begun')
  await work()
  child.send('end')
  return (await next('longestMs')).longestMs
}

test(
  '[W2] [C9] 100,000 contacts in one call never hold up the event loop of a server',
  async () => {
    for (const step of STEPS) {
      let answer = ''
      const stillMs = await longestStandstillMs(async () => {
        answer = await perform(step)
      })
      console.log(`${step.what}: at most ${stillMs.toFixed(1)} ms`)
      if (step.what === 'read') expect(JSON.parse(answer)).toEqual({ user_ids: [...others].sort() })
      expect(stillMs, step.what).toBeLessThanOrEqual(STILL_MS_MAX)
    }
  },
  TIMEOUT_MS,
)
