// The published backend kit in each supported runtime, as a separate program. A proxy between program and
// server counts connections.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer, connect as dial, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'bun'
import { startServer, type TestServer } from '../../testing/clients/server.ts'
import { SECRET, SERVER_KEY, securedSettings } from '../../testing/http/tokens.ts'
import { findDeno } from '../../testing/services/tools/deno.ts'
import { buildClient } from './build.ts'

const CALLS = 20
const GZIPPED_BYTES_MAX = 4_096

const PROGRAM = `
import { greendot, GreendotError } from '@greendot/client/server'
const backend = greendot({ url: process.env.URL, serverKey: process.env.KEY, jwtSecret: process.env.SECRET })
const token = await backend.token('ada')
const as = { headers: { authorization: 'Bearer ' + token } }
const beat = { ...as, method: 'POST', body: JSON.stringify({ device_id: 'd', activity: 'active' }) }
const isAccepted = (await fetch(process.env.URL + '/api/v1/heartbeat', beat)).ok
for (let call = 0; call < ${CALLS}; call++) await backend.contacts.add('ada', ['friend-' + call])
const contacts = await backend.contacts.list('ada')
const { status } = await backend.presence('ada')
const refusal = await backend.setAvailability('ada', 'busy', { expiresAt: new Date(1) }).catch((error) => error)
await backend.erase('ada')
const { code } = refusal
console.log(JSON.stringify({ isAccepted, contacts: contacts.length, status, code, isOurs: refusal instanceof GreendotError }))
`

const deno = await findDeno()
const RUNTIMES = [
  { name: 'Node', command: ['node'] },
  { name: 'Bun', command: [process.execPath] },
  deno.state === 'found'
    ? { name: 'Deno', command: [deno.path, 'run', '--no-prompt', '--allow-net', '--allow-env'] }
    : { name: `Deno (${deno.why})`, command: null },
]

const folder = mkdtempSync(join(tmpdir(), 'greendot-kit-'))
const built = join(folder, 'node_modules/@greendot/client')
let server: TestServer
let proxy: Server
let connections = 0

beforeAll(async () => {
  server = await startServer(securedSettings)
  const { port } = new URL(server.url)
  proxy = createServer((inside) => {
    connections++
    const outside = dial(Number(port), '127.0.0.1')
    for (const [from, to] of [
      [inside, outside],
      [outside, inside],
    ] as const) {
      from.pipe(to)
      from.on('error', () => to.destroy())
    }
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  await buildClient(built)
  await Bun.write(join(folder, 'main.mjs'), PROGRAM)
  await Bun.write(join(folder, 'package.json'), '{"type":"module"}')
})
afterAll(async () => {
  proxy.close()
  await server.stop()
  rmSync(folder, { recursive: true })
})

describe('the kit', () => {
  for (const { name, command } of RUNTIMES) {
    test.skipIf(command === null)(`[X3] [C6] works in ${name}, and reuses connections`, async () => {
      connections = 0
      const child = Bun.spawn([...command!, join(folder, 'main.mjs')], {
        cwd: folder,
        env: {
          ...process.env,
          DENO_DIR: join(folder, 'deno'),
          URL: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
          KEY: SERVER_KEY,
          SECRET,
        },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const output = JSON.parse(await new Response(child.stdout).text())
      expect(output).toEqual({
        isAccepted: true,
        contacts: CALLS,
        status: 'online',
        code: 'invalid_expiry',
        isOurs: true,
      })
      expect(await child.exited).toBe(0)
      expect(connections).toBeLessThan(4)
    })
  }

  test('[X3] is one file without imports, under 4 KB', async () => {
    const text = await Bun.file(join(built, 'server.js')).text()
    expect(text).not.toMatch(/\bimport\b[^.]|\brequire\(/)
    const gzippedBytes = gzipSync(text, { level: 9 }).length
    console.log(`@greendot/client/server: ${gzippedBytes} bytes gzipped`)
    expect(gzippedBytes).toBeLessThan(GZIPPED_BYTES_MAX)
  })
})
