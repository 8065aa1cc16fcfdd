// Longest standstill of a server's event loop, in milliseconds, while its backend sends 100,000 contacts (20).
import { resolve } from 'node:path'
import { BODY_BYTES_MAX } from '@greendot/protocol'
import type { StandstillMessage } from './standstill-server.ts'

const PROGRAM = resolve(import.meta.dir, 'standstill-server.ts')
const CONTACTS = 100_000
const LIST = '/api/v1/users/owner/contacts'

/** As many as fit into one body: short ones, in no order. */
const ids = (letter: string) =>
  Array.from({ length: CONTACTS }, (_, n) => `${letter}${((n * 7919) % CONTACTS).toString(36)}`)
const listOf = (userIds: readonly string[]) => JSON.stringify({ user_ids: userIds })

/** Each on what the one before has left. */
function steps(): [token: string, method: string, path: string, body?: string][] {
  const [some, others] = [ids('a'), ids('b')]
  return [
    ['dev', 'POST', LIST, listOf(some)],
    ['dev', 'PUT', LIST, listOf(some)],
    ['dev', 'PUT', LIST, listOf(others)],
    ['dev', 'GET', LIST],
    ['dev', 'GET', '/api/v1/users/owner/export'],
    ['dev:owner', 'PUT', '/api/v1/presence/settings', JSON.stringify({ deny: some })],
    ['dev', 'PUT', LIST, listOf([...some, 'not an id'])],
    ['dev', 'DELETE', LIST, listOf(Array(BODY_BYTES_MAX / 4 - 10).fill('a'))],
    ['dev', 'DELETE', LIST, listOf(others)],
  ]
}

export async function measure(): Promise<number> {
  let heard = Promise.withResolvers<StandstillMessage>()
  // A process of its own, so that what the client does is not measured with it.
  const server = Bun.spawn([process.execPath, PROGRAM], {
    stdio: ['ignore', 'inherit', 'inherit'],
    ipc: (message: StandstillMessage) => heard.resolve(message),
  })
  async function next(): Promise<StandstillMessage> {
    const message = await heard.promise
    heard = Promise.withResolvers()
    return message
  }
  const { url } = (await next()) as { url: string }
  let longestMs = 0
  for (const [token, method, path, body] of steps()) {
    server.send('begin')
    await next()
    const headers = { authorization: `Bearer ${token}` }
    await (await fetch(url + path, { method, headers, ...(body === undefined ? {} : { body }) })).text()
    server.send('end')
    longestMs = Math.max(longestMs, ((await next()) as { longestMs: number }).longestMs)
  }
  server.disconnect()
  await server.exited
  return longestMs
}
