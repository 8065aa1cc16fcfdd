// A server from its ready line to its exit code, and what the doctor says about it. Every test
// spawns the real program on a port of its own and sees it end.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { resultOf, spawnCli } from '../../../../testing/clients/cli.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'greendot-serve-'))
})
afterAll(() => rm(folder, { recursive: true }))

// A test that fails half-way must not leave a server behind.
const spawned = new Set<ReturnType<typeof spawn>>()
afterEach(async () => {
  for (const child of spawned) child.kill('SIGKILL')
  for (const child of spawned) await child.exited
  spawned.clear()
})

function spawn(args: string[]) {
  const child = spawnCli(args, { cwd: folder })
  spawned.add(child)
  return child
}

const run = (args: string[]) => resultOf(spawn(args))

/** A server that is ready, and everything it ever prints on stdout. */
async function serve(...args: string[]) {
  const server = spawn([
    'serve',
    '--dev',
    '--port',
    '0',
    '--database-url',
    'sqlite::memory:',
    '--grpc-port',
    'off',
    ...args,
  ])
  const reader = server.stdout.getReader()
  let out = ''
  while (!out.includes('\n')) {
    const { value, done } = await reader.read()
    if (done) throw new Error(`the server ended: ${await new Response(server.stderr).text()}`)
    out += new TextDecoder().decode(value)
  }
  const [, port] = /^greendot ready http:\/\/127\.0\.0\.1:(\d+)\n$/.exec(out) ?? []
  if (port === undefined) throw new Error(`not a ready line: ${out}`)
  const rest = async () => {
    const { value, done } = await reader.read()
    return done ? '' : new TextDecoder().decode(value)
  }
  return { server, port, rest }
}

/** A connected client, and the way to wait for a frame of some type. */
async function connect(port: string) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/api/v1/ws?token=dev:alice`)
  const seen = new Set<string>()
  const waiting = new Map<string, () => void>()
  socket.onmessage = ({ data }) => {
    const { type } = JSON.parse(String(data)) as { type: string }
    seen.add(type)
    waiting.get(type)?.()
  }
  const frame = (type: string) =>
    new Promise<void>((resolve) => {
      if (seen.has(type)) resolve()
      else waiting.set(type, resolve)
    })
  await frame('welcome')
  return { socket, frame }
}

describe('serve', () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    test(`[C1] prints the ready line and nothing else, and ends well on ${signal}`, async () => {
      const { server, port, rest } = await serve()
      expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200)
      server.kill(signal)
      expect(await server.exited).toBe(0)
      expect(await rest()).toBe('')
    })
  }

  test('[X2] waits for its clients, which are told to go', async () => {
    const { server, port } = await serve('--drain-ms', '600000')
    const { socket, frame } = await connect(port)
    server.kill('SIGTERM')
    await frame('drain')
    socket.close()
    expect(await server.exited).toBe(0)
  })

  test('[X2] a second signal does not wait', async () => {
    const { server, port } = await serve('--drain-ms', '600000')
    const { socket, frame } = await connect(port)
    server.kill('SIGTERM')
    await frame('drain')
    server.kill('SIGINT')
    expect(await server.exited).toBe(1)
    socket.close()
  })

  test('[C1] a port that another greendot has, in one line', async () => {
    const { port } = await serve()
    const { code, out, err } = await run(['serve', '--dev', '--port', port, '--log-level', 'silent'])
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(new RegExp(`^greendot: port ${port} on 127.0.0.1 is taken; [^\\n]+\\n$`))
  })

  test('[S4] a database that cannot be, in one line', async () => {
    await writeFile(join(folder, 'plain-file'), '')
    const { code, out, err } = await run([
      'serve',
      '--dev',
      '--port',
      '0',
      '--database-url',
      'sqlite://plain-file/x.db',
    ])
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(/^greendot: [^\n]*plain-file\/x\.db[^\n]+\n$/)
  })
})

describe('doctor', () => {
  interface Report {
    ok: boolean
    checks: { name: string; state: string; detail: string; mend: string | null }[]
  }

  async function doctor(...args: string[]) {
    const { code, out, err } = await run(['doctor', '--json', ...args])
    const report = JSON.parse(out) as Report
    const states = Object.fromEntries(report.checks.map(({ name, state }) => [name, state]))
    return { code, err, ok: report.ok, states, report }
  }

  test('[C7] all is well', async () => {
    await run(['migrate', '--database-url', 'sqlite://well.db'])
    const { code, err, ok, states } = await doctor(
      '--dev',
      '--port',
      '0',
      '--database-url',
      'sqlite://well.db',
    )
    expect({ code, err, ok }).toEqual({ code: 0, err: '', ok: true })
    expect(states).toMatchObject({ configuration: 'ok', database: 'ok', port: 'ok', clock: 'ok' })
  })

  test('[C7] one line for each check', async () => {
    const { code, out } = await run(['doctor', '--dev', '--port', '0', '--database-url', 'sqlite://plain.db'])
    expect(code).toBe(0)
    expect(out.trimEnd().split('\n')).toHaveLength(6)
    expect(out).toMatch(/^warn {2}database: [^\n]*"greendot migrate"/m)
  })

  test('[C7] a bad configuration fails, and the machine is still looked at', async () => {
    const { code, ok, states, report } = await doctor('--flush-ms', '0')
    expect({ code, ok }).toEqual({ code: 1, ok: false })
    expect(states).toMatchObject({ configuration: 'fail', clock: 'ok' })
    expect(report.checks[0]?.detail).toContain('--flush-ms: "0" is not')
  })

  test('[C7] a database that cannot be fails', async () => {
    await writeFile(join(folder, 'plain-file'), '')
    const { code, states } = await doctor(
      '--dev',
      '--port',
      '0',
      '--database-url',
      'sqlite://plain-file/x.db',
    )
    expect({ code, state: states.database }).toEqual({ code: 1, state: 'fail' })
  })

  test('[C7] a running greendot is fine, another program on its port is not', async () => {
    const { port } = await serve()
    expect(await doctor('--dev', '--port', port)).toMatchObject({ states: { port: 'ok' } })
    const other = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('hello') })
    expect(await doctor('--dev', '--port', String(other.port))).toMatchObject({
      code: 1,
      states: { port: 'fail' },
    })
    const grpc = ['--dev', '--port', '0', '--grpc-port', String(other.port)]
    expect(await doctor(...grpc)).toMatchObject({ code: 1, states: { port: 'ok', grpc_port: 'fail' } })
    await other.stop(true)
  })

  test('[C6] a key set is fetched', async () => {
    const keys = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      routes: { '/keys': () => Response.json({ keys: [{ kty: 'OKP' }] }), '/none': () => Response.json({}) },
      fetch: () => new Response('gone', { status: 404 }),
    })
    const states: Record<string, string | undefined> = {}
    for (const path of ['keys', 'none', 'missing']) {
      const result = await doctor('--port', '0', '--jwks-url', `${keys.url}${path}`)
      states[path] = result.states.jwks_url
    }
    expect(states).toEqual({ keys: 'ok', none: 'fail', missing: 'fail' })
    await keys.stop(true)
  })

  test('[C6] a key set without audience and issuer is warned about', async () => {
    const keySet = ['--port', '0', '--jwks-url', 'http://127.0.0.1:1/keys']
    const { states, report } = await doctor(...keySet)
    expect(states.tokens).toBe('warn')
    expect(report.checks.find(({ name }) => name === 'tokens')?.detail).toContain(
      'jwt_audience and jwt_issuer',
    )
    expect((await doctor(...keySet, '--jwt-issuer', 'https://id.test')).states.tokens).toBeUndefined()
  })
})
