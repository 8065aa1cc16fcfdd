// `greendot explain` against a real server, as an operator would type it.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { runCli } from '../../../../testing/clients/cli.ts'
import { startServer, type TestServer } from '../../../../testing/clients/server.ts'

const KEY = 'a-server-key-of-the-tests'

let server: TestServer
beforeAll(async () => {
  server = await startServer({ dev: false, jwt_secret: 'x'.repeat(32), server_keys: KEY })
  const put = (path: string, body: object) =>
    fetch(`${server.url}/api/v1/users/bob/${path}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${KEY}` },
      body: JSON.stringify(body),
    })
  await put('status', { text: 'there is something to hide' })
  await put('settings', { status_visibility: 'contacts' })
})
afterAll(() => server.stop())

const run = (args: string[], env: Record<string, string> = { GREENDOT_SERVER_KEYS: KEY }) =>
  runCli(['explain', ...args], { cwd: server.folder, env })

const port = () => new URL(server.url).port

describe('greendot explain', () => {
  test('[S7] prints why, in sentences', async () => {
    const { code, out, err } = await run(['--user', 'bob', '--viewer', 'alice', '--port', port()])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toContain("alice is not in bob's contact list")
    expect(out.trimEnd().split('\n').length).toBeGreaterThan(1)
  })

  test('[S7] prints the whole explanation as JSON', async () => {
    const { out } = await run(['--user', 'bob', '--viewer', 'alice', '--url', `${server.url}/`, '--json'])
    const { answer, details } = JSON.parse(out)
    expect(answer).toMatchObject({ user_id: 'bob', status: 'offline', version: 0 })
    expect(details.rulings.status).toEqual({ visible: false, rule: 'not_a_contact' })
  })

  test('[S7] says what to do when it cannot ask', async () => {
    const stranger = await run(['--user', 'bob', '--url', server.url], {})
    expect({ ...stranger, out: '' }).toMatchObject({ code: 1, out: '' })
    expect(stranger.err).toContain('set server_keys')
    const unreachable = await run(['--user', 'bob', '--url', 'http://127.0.0.1:9'])
    expect(unreachable.code).toBe(1)
    expect(unreachable.err).toContain('is a server running there?')
  })

  for (const args of [
    [],
    ['--user', 'a b'],
    ['--user', 'bob', '--viewer', 'a,b'],
    ['--user', 'bob', '--url', 'x'],
  ]) {
    test(`[S7] refuses "${args.join(' ')}" with one line`, async () => {
      const { code, out, err } = await run(args)
      expect({ code, out }).toEqual({ code: 2, out: '' })
      expect(err).toMatch(/^greendot: [^\n]+\n$/)
    })
  }
})
