// Keeps docs/grpc.md true: its examples are run as they are written, its tables are held against the code.
import { describe, expect, test } from 'bun:test'
import { dirname, join } from 'node:path'
import { status } from '@grpc/grpc-js'
import { type CallsParts, createCalls } from '../../packages/server/src/grpc/calls.ts'
import { STATUS_OF } from '../../packages/server/src/grpc/status.ts'
import { createTally } from '../../packages/server/src/platform/measuring/tally.ts'
import { useServers } from '../clients/clearing.ts'
import { connectGrpc } from '../grpc/client.ts'
import { PROTO_FOLDER } from '../grpc/generated.ts'
import { isCI } from '../services/found.ts'
import { linesOf } from '../services/lines.ts'
import { findGrpcio } from '../services/tools/grpcio.ts'
import { findGrpcurl } from '../services/tools/grpcurl.ts'
import { blocksOf, plain, ROOT, rowsOf, section } from './docs-text.ts'
import { inFolder } from './snippet-program.ts'

const PATH = 'docs/grpc.md'
const ADDRESS = '127.0.0.1:4401'
const { serve } = useServers()
const grpcurl = await findGrpcurl()
const grpcio = await findGrpcio()
const why = (found: { state: string; why?: string }) => (found.state === 'missing' ? ` (${found.why})` : '')

async function example(language: string): Promise<{ text: string; address: string }> {
  const server = await serve({ grpc_port: 0 })
  const [block, ...others] = blocksOf(PATH, language)
  expect(others).toEqual([])
  return { text: block!.text.replaceAll(ADDRESS, server.grpc!), address: server.grpc! }
}

async function outputOf(cmd: string[], cwd: string, env: Record<string, string> = {}): Promise<string> {
  const child = Bun.spawn(cmd, { cwd, env: { ...process.env, ...env }, stdout: 'pipe', stderr: 'pipe' })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  if ((await child.exited) !== 0) throw new Error(err)
  return out
}

describe('the examples of docs/grpc.md', () => {
  test.skipIf(grpcurl.state === 'missing' && !isCI())(`[C5] with grpcurl${why(grpcurl)}`, async () => {
    if (grpcurl.state === 'missing') throw new Error(grpcurl.why)
    const { text } = await example('sh')
    const path = `${dirname(grpcurl.path)}:${process.env.PATH}`
    const out = await outputOf(['sh', '-e', '-c', text], ROOT, { PATH: path })
    expect(out.match(/"STATUS_\w+"|"SERVING"/g)).toEqual([
      '"STATUS_ONLINE"',
      '"STATUS_ONLINE"',
      '"STATUS_OFFLINE"',
      '"SERVING"',
    ])
  })

  test('[C5] in Node', async () => {
    const { text, address } = await example('js')
    await inFolder('example.mjs', text, async (file) => {
      const child = Bun.spawn([Bun.which('node') ?? process.execPath, file], {
        cwd: dirname(file),
        stdout: 'pipe',
        stderr: 'inherit',
      })
      const lines = linesOf(child.stdout)
      expect((await lines.next()).value).toBe('bob is STATUS_OFFLINE')
      const bob = connectGrpc(address, 'dev:bob')
      await bob.call('RecordHeartbeat', { device_id: 'd', activity: 'ACTIVITY_ACTIVE' })
      expect((await lines.next()).value).toBe('bob is STATUS_ONLINE')
      bob.close()
      child.kill()
      await child.exited
    })
  })

  test.skipIf(grpcio.state === 'missing' && !isCI())(`[C5] in Python${why(grpcio)}`, async () => {
    if (grpcio.state === 'missing') throw new Error(grpcio.why)
    const { python, packages } = grpcio
    const { text } = await example('python')
    await inFolder('example.py', text, async (file) => {
      const stubs = dirname(file)
      const env = { PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: '1' }
      // As the document says it.
      const [command] = /grpc_tools\.protoc.*?presence\.proto/s.exec(await Bun.file(join(ROOT, PATH)).text())!
      const flags = command
        .split(/\s+/)
        .slice(1)
        .map((flag) => (flag === 'proto' ? PROTO_FOLDER : flag))
      await outputOf([python, '-m', 'grpc_tools.protoc', ...flags], stubs, env)
      expect(await outputOf([python, file], stubs, env)).toBe('alice STATUS_OFFLINE\nbob STATUS_OFFLINE\n')
    })
  })
})

test('[C5] docs/grpc.md has every call and whom it is for', () => {
  const calls = createCalls({
    gateway: {},
    access: {},
    actions: {},
    tally: createTally(),
  } as unknown as CallsParts)
  const documented = rowsOf(section(PATH, 'Calls')).map(([call, who]) => `${plain(call!)} for ${who}`)
  const audiences = { user: 'user', caller: 'user, server' }
  const declared = Object.entries(calls).map(([name, { who }]) => `${name} for ${audiences[who]}`)
  expect(documented.sort()).toEqual(declared.sort())
})

test('[C5] docs/grpc.md has the status of every code', () => {
  const documented = rowsOf(section(PATH, 'Errors')).map((row) => row.map(plain))
  expect(documented).toEqual(Object.entries(STATUS_OF).map(([code, number]) => [code, status[number]!]))
})
