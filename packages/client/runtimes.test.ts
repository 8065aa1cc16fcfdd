// The published client in each supported runtime, as a separate program: it connects to a real server, watches,
// gets a change, leaves and exits by itself. The backend kit is in server-runtimes.test.ts.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectBare } from '../../testing/clients/client.ts'
import { startServer, type TestServer } from '../../testing/clients/server.ts'
import { findDeno } from '../../testing/services/tools/deno.ts'
import { buildClient } from './build.ts'

const deno = await findDeno()
const DENO = deno.state === 'found' ? [deno.path, 'run', '--no-prompt', '--allow-net'] : null
const WITHOUT = ['node', '--no-warnings', '--no-experimental-websocket']

/** Node has a WebSocket from version 22 on, and before that behind a flag. */
const RUNTIMES: { name: string; command: string[] | null; transport: 'auto' | 'websocket' }[] = [
  { name: 'Node', command: ['node'], transport: 'auto' },
  {
    name: 'Node with --experimental-websocket',
    command: ['node', '--no-warnings', '--experimental-websocket'],
    transport: 'websocket',
  },
  { name: 'Node without a WebSocket', command: WITHOUT, transport: 'auto' },
  { name: 'Bun', command: [process.execPath], transport: 'websocket' },
  {
    name: deno.state === 'found' ? 'Deno' : `Deno (${deno.why})`,
    command: DENO,
    transport: 'websocket',
  },
]

let app: string
let server: TestServer

beforeAll(async () => {
  app = mkdtempSync(join(tmpdir(), 'greendot-runtimes-'))
  await buildClient(join(app, 'node_modules/@greendot/client'))
  await Bun.write(join(app, 'package.json'), '{"type":"module"}')
  // Bob sends no heartbeats, and a program may take long to start.
  server = await startServer({ offline_delay_ms: 100, heartbeat_ttl_ms: 600_000 })
})
afterAll(async () => {
  await server.stop()
  rmSync(app, { recursive: true, force: true })
})

async function run(command: readonly string[], program: string): Promise<string[]> {
  await Bun.write(join(app, 'program.mjs'), program)
  const child = Bun.spawn([...command, 'program.mjs'], {
    cwd: app,
    env: { ...process.env, DENO_DIR: join(app, 'deno') },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  if ((await child.exited) !== 0) throw new Error(errors)
  return output.trim().split('\n')
}

const watching = (transport: string) => `
  import { connect } from '@greendot/client'
  const dot = connect({ url: '${server.url}', token: 'dev:alice', deviceId: 'program', transport: '${transport}' })
  dot.watch('bob', ({ status, stale }) => {
    if (stale) return
    console.log(status)
    if (status === 'offline') dot.setCustomStatus({ text: 'I see' })
    else dot.setCustomStatus(null).then(() => dot.leave()).then(() => dot.close())
  })`

describe('the client', () => {
  for (const { name, command, transport } of RUNTIMES) {
    test.skipIf(command === null)(`[X3] in ${name} connects, watches, gets a change and exits`, async () => {
      const bob = await connectBare(server.url, 'bob')
      bob.send({ type: 'watch', user_ids: ['alice'] })
      bob.send({ type: 'set_availability', status: 'invisible', ref: 'hidden' })
      await bob.next('ok', ({ ref }) => ref === 'hidden')
      const running = run(command!, watching(transport))
      // Bob becomes visible once alice has said that she watches.
      const sawOffline = bob.sees('alice', (alice) => alice.custom_status?.text === 'I see')
      await Promise.race([sawOffline, running])
      bob.send({ type: 'set_availability', status: 'online' })
      expect(await running).toEqual(['offline', 'online'])
      await bob.sees('alice', ({ status, version }) => status === 'offline' && version > 0)
      bob.send({ type: 'leave' })
      await bob.closed
    })
  }

  test('[X3] with transport: websocket throws in a runtime without one', async () => {
    const program = `
      import { connect } from '@greendot/client'
      try {
        connect({ url: '${server.url}', token: 'dev:alice', transport: 'websocket' })
      } catch ({ message }) {
        console.log(message)
      }`
    expect(await run(WITHOUT, program)).toEqual([expect.stringContaining('no WebSocket in this runtime')])
  })
})
