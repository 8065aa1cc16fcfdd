// Clients of other makers: grpcurl, which learns the service by reflection, and Python's grpcio, with stubs generated
// from the published .proto. And buf, which checks that .proto.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startServer, type TestServer } from '../clients/server.ts'
import { isCI } from '../services/found.ts'
import { findGrpcio } from '../services/tools/grpcio.ts'
import { findGrpcurl } from '../services/tools/grpcurl.ts'
import { buf, PROTO_FOLDER } from './generated.ts'

const grpcurl = await findGrpcurl()
const grpcio = await findGrpcio()
const why = (found: { state: string; why?: string }) => (found.state === 'missing' ? ` (${found.why})` : '')

let server: TestServer
beforeAll(async () => {
  server = await startServer({ grpc_port: 0 })
})
afterAll(() => server.stop())

async function run(cmd: string[], env: Record<string, string> = {}) {
  const child = Bun.spawn(cmd, {
    env: { ...process.env, ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [code, out, err] = await Promise.all([
    child.exited,
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { code, out, err }
}

describe('the .proto', () => {
  test('[C5] passes the lint of buf and is formatted', async () => {
    expect(await buf('lint')).toMatchObject({ code: 0, said: '' })
    expect(await buf('format', '--diff', '--exit-code')).toMatchObject({ code: 0, said: '' })
  })
})

describe.skipIf(grpcurl.state === 'missing' && !isCI())(`grpcurl${why(grpcurl)}`, () => {
  async function curl(...args: string[]) {
    if (grpcurl.state === 'missing') throw new Error(grpcurl.why)
    const flags = args.filter((arg) => arg.startsWith('-') || arg.startsWith('{') || arg.includes(': '))
    const verbs = args.filter((arg) => !flags.includes(arg))
    return run([grpcurl.path, '-plaintext', ...flags, server.grpc!, ...verbs])
  }
  const SERVICE = 'greendot.v1.PresenceService'
  const USER = ['-H', 'authorization: Bearer dev:dora']

  test('[C5] finds the services and their methods by reflection', async () => {
    expect((await curl('list')).out.trim().split('\n')).toEqual([
      SERVICE,
      'grpc.health.v1.Health',
      'grpc.reflection.v1.ServerReflection',
      'grpc.reflection.v1alpha.ServerReflection',
    ])
    const { out } = await curl('describe', 'greendot.v1.WatchRequest')
    expect(out).toContain('oneof action {')
    expect((await curl('describe', 'greendot.v1.Nothing')).code).not.toBe(0)
  })

  test('[C5] calls a method, and is told why it is refused', async () => {
    const beat = '{"device_id":"d","activity":"ACTIVITY_ACTIVE"}'
    const { out } = await curl(...USER, '-d', beat, `${SERVICE}/RecordHeartbeat`)
    expect(JSON.parse(out)).toMatchObject({ userId: 'dora', self: { presence: { status: 'STATUS_ONLINE' } } })
    const refused = await curl('-d', beat, `${SERVICE}/RecordHeartbeat`)
    expect([refused.code, refused.err]).toEqual([80, expect.stringContaining('Code: Unauthenticated')])
  })

  test('[C5] watches until its input ends', async () => {
    const requests = '{"ref":1,"watch":{"user_ids":["nora"]}}{"ref":2,"unwatch":{"user_ids":["nora"]}}'
    const { code, out } = await curl(...USER, '-d', requests, `${SERVICE}/Watch`)
    expect(code).toBe(0)
    expect(out.replaceAll(/\s/g, '')).toBe(
      '{"snapshot":{"states":[{"userId":"nora","status":"STATUS_OFFLINE"}],"complete":true}}' +
        '{"done":{"ref":"1"}}{"done":{"ref":"2"}}',
    )
  })

  test('[C5] asks for the health', async () => {
    expect(JSON.parse((await curl('grpc.health.v1.Health/Check')).out)).toEqual({ status: 'SERVING' })
    const other = await curl('-d', '{"service":"other"}', 'grpc.health.v1.Health/Check')
    expect(other.err).toContain('NotFound')
  })
})

describe.skipIf(grpcio.state === 'missing' && !isCI())(`Python's grpcio${why(grpcio)}`, () => {
  test('[C5] calls every kind of method, and reads the details of a refusal', async () => {
    if (grpcio.state === 'missing') throw new Error(grpcio.why)
    const program = `${import.meta.dir}/client.py`
    const { out, err } = await run([grpcio.python, program, server.grpc!, PROTO_FOLDER], {
      PYTHONPATH: grpcio.packages,
      PYTHONDONTWRITEBYTECODE: '1',
    })
    if (out === '') throw new Error(err)
    const [snapshot, change, watched, recorded, refusal] = JSON.parse(out)
    expect(snapshot).toMatchObject({ snapshot: { states: [{ user_id: 'alice' }], complete: true } })
    expect(change).toMatchObject({ changes: { changes: [{ user_id: 'alice', status: 'STATUS_ONLINE' }] } })
    expect(watched).toMatchObject([
      { snapshot: { states: [{ user_id: 'alice' }] } },
      { done: { ref: '1' } },
      { refused: { ref: '2', code: 'unknown_type' } },
    ])
    expect(recorded).toMatchObject({ accepted: '1', rejected: '1', rejections: [{ index: '1' }] })
    expect(refusal).toEqual(['INVALID_ARGUMENT', 'invalid_id', 'greendot'])
  })
})
