// The services beside the one for presence, and how the port is chosen and told.
import { afterEach, describe, expect, test } from 'bun:test'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { fromBinary } from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { credentials, Client as GrpcClient } from '@grpc/grpc-js'
import { loadProtoFiles } from '../../packages/server/src/grpc/definitions.ts'
import { runCli, spawnCli } from '../clients/cli.ts'
import { startServer } from '../clients/server.ts'
import { connectGrpc } from './client.ts'
import { buf } from './generated.ts'

test('[C5] reflection describes the service as buf does', async () => {
  const { out } = await buf(
    'build',
    '--exclude-source-info',
    '--as-file-descriptor-set',
    '--output',
    '-#format=binpb',
  )
  const described = fromBinary(FileDescriptorSetSchema, out).file[0]!
  expect(fromBinary(FileDescriptorProtoSchema, loadProtoFiles().presence.descriptor)).toEqual(described)
})

test('[C5] the health is told to those who watch it, and again when the server stops', async () => {
  const { grpc, stop } = await startServer({ grpc_port: 0 })
  const client = new GrpcClient(grpc!, credentials.createInsecure())
  const raw = (bytes: Buffer) => bytes
  const call = client.makeServerStreamRequest('/grpc.health.v1.Health/Watch', raw, raw, Buffer.alloc(0))
  const heard: number[] = []
  let stopped: Promise<void> | null = null
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  // Field 1 is the status: 1 for serving, 2 for not serving.
  call.on('data', (bytes: Buffer) => {
    heard.push(bytes[1]!)
    if (heard.length === 1) stopped = stop()
  })
  call.on('end', resolve)
  call.on('error', () => resolve())
  await ended
  expect(heard).toEqual([1, 2])
  client.close()
  await stopped
})

describe('the port', () => {
  const ends: (() => unknown)[] = []
  afterEach(async () => {
    for (const end of ends.splice(0)) await end()
  })
  const FLAGS = ['serve', '--dev', '--port=0', '--database-url=sqlite::memory:', '--log-level=silent']

  /** Holds the port until the end of the test. */
  async function taken(port: number): Promise<number> {
    const other = createServer()
    ends.push(() => other.close())
    for (let attempt = 0; attempt < 100; attempt++) {
      const { promise, resolve } = Promise.withResolvers<boolean>()
      other.once('error', () => resolve(false))
      other.listen({ host: '127.0.0.1', port }, () => resolve(true))
      if (await promise) return (other.address() as AddressInfo).port
      // A server of another test has it, and will go. One of a developer stays, which is as good.
      await Bun.sleep(20)
    }
    return port
  }

  /** What the server says on stdout until it has said so many lines. */
  async function saidBy(flags: string[], lines: number): Promise<string[]> {
    const child = spawnCli([...FLAGS, ...flags], { cwd: tmpdir() })
    ends.push(async () => {
      child.kill()
      await child.exited
    })
    let said = ''
    for await (const chunk of child.stdout) {
      said += new TextDecoder().decode(chunk)
      if (said.split('\n').length > lines) break
    }
    return said.trim().split('\n')
  }

  test('[C5] 0 picks a free one, which follows the ready line', async () => {
    const [ready, grpc] = await saidBy(['--grpc-port=0'], 2)
    expect(ready).toMatch(/^greendot ready http:/)
    const address = /^greendot grpc ready (127\.0\.0\.1:\d+)$/.exec(grpc!)![1]!
    const client = connectGrpc(address, 'dev')
    ends.push(client.close)
    expect(await client.call('GetPresence', { user_ids: ['a'] })).toHaveProperty('presences')
  })

  test('[C5] the default of dev mode does not stop the start where it is taken', async () => {
    const port = await taken(4401)
    const [, grpc] = await saidBy([], 2)
    expect(grpc).toMatch(/^greendot grpc ready 127\.0\.0\.1:\d+$/)
    expect(grpc).not.toContain(`:${port}`)
  })

  test('[C5] one that is taken stops the start in one line', async () => {
    const port = await taken(0)
    const { code, out, err } = await runCli([...FLAGS, `--grpc-port=${port}`], { cwd: tmpdir() })
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(
      new RegExp(`^greendot: port ${port} on 127.0.0.1 is taken; [^\\n]+--grpc-port[^\\n]+\\n$`),
    )
  })
})
