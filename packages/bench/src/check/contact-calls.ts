// How long the event loop of a server is blocked while a backend works on 100,000 contacts over HTTP, in one
// call each. The server is a process of its own, so the work of the client is not measured.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BODY_BYTES_MAX } from '@greendot/protocol'
import { RUNTIME_FLAGS } from '../../../server/src/platform/runtime-flags.ts'
import { endProcess } from '../platform/child.ts'
import { within } from '../platform/clock.ts'
import { findGreendot } from '../subject/greendot.ts'
import { type BoundGroup, createLargest, type Value } from './bounds.ts'
import type { LoopAnswer } from './loop-probe.ts'

const PROBE = join(import.meta.dir, 'loop-probe.ts')
const CONTACTS = 100_000
const START_MS_MAX = 30_000
const STEP_MS_MAX = 60_000
const LIST = '/api/v1/users/owner/contacts'

/** Short ids in no order, so that all fit into one body. */
const idsOf = (letter: string): string[] =>
  Array.from({ length: CONTACTS }, (_, n) => `${letter}${((n * 7919) % CONTACTS).toString(36)}`)
const listOf = (userIds: readonly string[]): string => JSON.stringify({ user_ids: userIds })

interface Step {
  what: string
  token?: string
  method: string
  path: string
  body?: string
  status: number
}

function steps(): Step[] {
  const some = idsOf('a')
  const others = idsOf('b')
  const repeated = Array(BODY_BYTES_MAX / 4 - 10).fill('a')
  const settings = { token: 'dev:owner', method: 'PUT', path: '/api/v1/presence/settings' }
  // Each step works on what the one before has left.
  return [
    { what: 'add', method: 'POST', path: LIST, body: listOf(some), status: 204 },
    { what: 'replace by the same', method: 'PUT', path: LIST, body: listOf(some), status: 204 },
    { what: 'replace by others', method: 'PUT', path: LIST, body: listOf(others), status: 204 },
    { what: 'read', method: 'GET', path: LIST, status: 200 },
    { what: 'export', method: 'GET', path: '/api/v1/users/owner/export', status: 200 },
    { what: 'settings that are refused', ...settings, body: JSON.stringify({ deny: some }), status: 400 },
    {
      what: 'ids that are refused',
      method: 'PUT',
      path: LIST,
      body: listOf([...some, 'not an id']),
      status: 400,
    },
    { what: 'a body full of ids', method: 'DELETE', path: LIST, body: listOf(repeated), status: 204 },
    { what: 'remove', method: 'DELETE', path: LIST, body: listOf(others), status: 204 },
  ]
}

async function run(): Promise<Value[]> {
  const folder = mkdtempSync(join(tmpdir(), 'greendot-check-'))
  let answered = Promise.withResolvers<LoopAnswer>()
  const flags = [
    '--dev',
    '--port=0',
    '--grpc-port=off',
    '--log-level=error',
    '--drain-ms=0',
    '--poll-burst=100000',
    '--write-burst=100000',
  ]
  const database = `--database-url=sqlite://${join(folder, 'greendot.db')}`
  const child = Bun.spawn(
    [process.execPath, '--preload', PROBE, findGreendot(), 'serve', ...flags, database],
    {
      cwd: folder,
      // With the flags set the server does not replace itself, which would close the channel to the probe.
      env: { PATH: process.env.PATH ?? '', ...RUNTIME_FLAGS },
      stdio: ['ignore', 'pipe', 'inherit'],
      serialization: 'json',
      ipc: (answer: LoopAnswer) => answered.resolve(answer),
    },
  )
  async function ask(): Promise<LoopAnswer> {
    answered = Promise.withResolvers()
    child.send('next')
    return within(STEP_MS_MAX, 'measuring the event loop of the server', answered.promise)
  }
  try {
    const url = await within(START_MS_MAX, 'starting the server', urlOf(child.stdout))
    const largest = createLargest('contact list over HTTP')
    for (const step of steps()) {
      await ask()
      await perform(url, step)
      const answer = await ask()
      if (answer.state === 'done') largest.add(step.what, answer.longestMs)
    }
    return [largest.value()]
  } finally {
    await endProcess(child, 'SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
}

async function perform(url: string, { token = 'dev', method, path, body, status }: Step): Promise<void> {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(STEP_MS_MAX),
    ...(body === undefined ? {} : { body }),
  })
  const text = await response.text()
  if (response.status !== status)
    throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 200)}`)
}

async function urlOf(stdout: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let printed = ''
  for await (const chunk of stdout) {
    printed += decoder.decode(chunk, { stream: true })
    const url = /^greendot ready (\S+)\n/m.exec(printed)?.[1]
    if (url !== undefined) return url
  }
  throw new Error('the server ended before it was ready')
}

export const contactCalls: BoundGroup = { name: 'http', bounds: ['contact list over HTTP'], run }
