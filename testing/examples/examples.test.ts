// The examples that are programs, run as their READMEs say, against a real server. Those for browsers are in
// examples-browser.test.ts.
import { describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { greendot } from '../../packages/client/src/server.ts'
import { useServers } from '../clients/clearing.ts'
import { connect } from '../clients/client.ts'
import type { SettingsInput, TestServer } from '../clients/server.ts'
import { blocksOf, ROOT } from '../docs/docs-text.ts'
import { SECRET, SERVER_KEY, securedSettings } from '../http/tokens.ts'
import {
  commandOf,
  EXAMPLES,
  type ExampleOptions,
  type RunningExample,
  shellLines,
  startExample,
} from './example.ts'

const { serve, onEnd } = useServers()

async function run(name: string, server: TestServer, options?: ExampleOptions): Promise<RunningExample> {
  const example = await startExample(name, server.url, options)
  onEnd(example.stop)
  return example
}

test('[X3] every example has a README whose command starts a file of it, and is listed', () => {
  const overview = shellLines('examples/README.md')
  for (const name of EXAMPLES) {
    expect(overview).toContain(commandOf(name))
    expect(commandOf(name)).toStartWith(`npx bun examples/${name}/`)
    expect(existsSync(join(ROOT, commandOf(name).replace('npx bun ', '')))).toBe(true)
  }
  expect(overview.filter((line) => line.startsWith('npx'))).toHaveLength(EXAMPLES.length)
})

const SNIPPETS = blocksOf('examples/README.md', 'ts')
test.each(SNIPPETS.map(({ text }) => [text]))('[X3] examples/README.md: %s', async (text) => {
  const { url } = await serve()
  const known = { url, serverKey: 'dev', jwtSecret: undefined, token: 'dev:doorman' }
  const script = [
    "import { connect } from '@greendot/client'",
    "import { greendot } from '@greendot/client/server'",
    `const { ${Object.keys(known)} } = ${JSON.stringify(known)}`,
    // In a block of its own, because a snippet may use such names too.
    `{ ${text} }`,
    'process.exit(0)',
  ]
  const child = Bun.spawn([process.execPath, '-e', script.join('\n')], { cwd: ROOT, stdout: 'inherit' })
  expect(await child.exited).toBe(0)
})

const NODE = Bun.which('node')
const noNode = NODE === null ? ' (Node is not installed here)' : ''

describe('the bot', () => {
  test('[X3] is online, says what it is for, knows which users are here and says goodbye', async () => {
    const server = await serve({ offline_delay_ms: 60_000 })
    const alice = await connect(server.url, 'alice')
    alice.send({ type: 'watch', user_ids: ['doorman'] })
    const bot = await run('bot', server)
    const seen = await alice.change('doorman', ({ custom_status }) => custom_status !== null)
    expect(seen).toMatchObject({
      status: 'online',
      devices: ['bot'],
      custom_status: { text: 'Ask me who is here', emoji: '🤖' },
    })
    await bot.says('doorman is online')
    bot.type('good morning')
    await bot.says('Ask me: who is here?')
    bot.type('Who is here?')
    await bot.says('Here: alice (online).')

    const bob = await connect(server.url, 'bob')
    await bot.says('bob is online now')
    bob.send({ type: 'set_custom_status', text: 'In a meeting', emoji: '📅' })
    bob.send({ type: 'set_availability', status: 'busy' })
    await bot.says('bob is busy now')
    bob.send({ type: 'leave' })
    await bot.says('bob is offline now')
    alice.send({ type: 'set_custom_status', text: 'In a meeting', emoji: '📅', ref: 1 })
    alice.send({ type: 'set_availability', status: 'busy', ref: 2 })
    await bot.says('alice is busy now')
    bot.type('who is online')
    await bot.says('Here: alice (busy In a meeting 📅).')

    expect(await bot.interrupt()).toBe(0)
    await alice.change('doorman', ({ status }) => status === 'offline')
  })

  test.skipIf(NODE === null)(`[X3] runs in Node too${noNode}`, async () => {
    const server = await serve()
    const bot = await run('bot', server, { runtime: NODE! })
    await bot.says('doorman is online')
    bot.type('who is here')
    await bot.says('Nobody is here.')
    await connect(server.url, 'carol')
    await bot.says('carol is online now')
    expect(await bot.interrupt()).toBe(0)
  })
})

describe('the receiver of webhooks', () => {
  test('[X5] prints what its webhook brings, and takes it away when it ends', async () => {
    const server = await serve({ offline_delay_ms: 0 })
    const receiver = await run('webhook-receiver', server)
    const id = (await receiver.says(/^receiving as /)).replace('receiving as ', '')
    const headers = { authorization: 'Bearer dev' }
    const tried = await fetch(`${server.url}/api/v1/webhooks/${id}/test`, { method: 'POST', headers })
    expect(await tried.json()).toMatchObject({ delivered: true })
    await receiver.says('this is a test')
    const carol = await connect(server.url, 'carol')
    await receiver.says('carol: user.online, offline -> online')
    carol.send({ type: 'leave' })
    await receiver.says('carol: user.offline, online -> offline')
    expect(await receiver.interrupt()).toBe(0)
    const left = await fetch(`${server.url}/api/v1/webhooks`, { headers })
    expect(await left.json()).toEqual({ webhooks: [] })
  })
})

describe('the backend', () => {
  const keys = { GREENDOT_SERVER_KEY: SERVER_KEY, GREENDOT_JWT_SECRET: SECRET }
  const titled = '[X3] [W2] [C6] mints tokens and keeps contacts'
  test(`${titled}, as its README says`, () => keepsContacts({}, 'dev'))
  test.skipIf(NODE === null)(`${titled}, in Node with keys${noNode}`, () =>
    keepsContacts(securedSettings, SERVER_KEY, { env: keys, runtime: NODE! }),
  )

  async function keepsContacts(settings: SettingsInput, serverKey: string, options?: ExampleOptions) {
    const server = await serve({ ...settings, default_visibility: 'contacts' })
    const app = await run('node-backend', server, options)
    const url = (await app.says(/^app ready /)).replace('app ready ', '')
    const backend = greendot({ url: server.url, serverKey })
    expect(await backend.contacts.list('alice')).toEqual(['bob', 'carol'])
    expect(await backend.contacts.list('carol')).toEqual(['alice'])

    const login = (name: string) => fetch(`${url}/login?name=${name}`, { method: 'POST' })
    expect((await login('mallory')).status).toBe(403)
    expect((await fetch(`${url}/token`)).status).toBe(401)
    const cookieOf = async (name: string) => {
      const answer = await login(name)
      return { cookie: answer.headers.get('set-cookie')!.split(';')[0]! }
    }
    const [alice, bob] = await Promise.all([cookieOf('alice'), cookieOf('bob')])
    const tokenOf = async (headers: HeadersInit) =>
      ((await (await fetch(`${url}/token`, { headers })).json()) as { token: string }).token
    const bobs = await connect(server.url, '', { token: await tokenOf(bob) })
    expect(bobs.welcome.user_id).toBe('bob')

    const friendsOf = async (headers: HeadersInit) => (await fetch(`${url}/friends`, { headers })).json()
    expect(await friendsOf(alice)).toMatchObject([
      { name: 'bob', status: 'online' },
      { name: 'carol', status: 'offline', last_seen: null },
    ])
    expect(await backend.presence('bob', { viewerId: 'carol' })).toMatchObject({ status: 'offline' })
    const added = await fetch(`${url}/friends?name=carol`, { method: 'POST', headers: bob })
    expect(added.status).toBe(201)
    expect(await backend.presence('bob', { viewerId: 'carol' })).toMatchObject({ status: 'online' })
    expect(await backend.contacts.list('carol')).toEqual(['alice', 'bob'])
    await backend.settings.change('bob', { deny: ['alice'] })
    expect(await friendsOf(alice)).toMatchObject([{ name: 'bob', status: 'offline', last_seen: null }, {}])
  }

  test('[X3] the commands of its README answer', async () => {
    const app = await run('node-backend', await serve())
    const { host } = new URL((await app.says(/^app ready /)).replace('app ready ', ''))
    const folder = mkdtempSync(join(tmpdir(), 'greendot-readme-'))
    onEnd(() => rmSync(folder, { recursive: true }))
    const curls = shellLines('examples/node-backend/README.md').filter((line) => line.startsWith('curl'))
    const text = curls.join('\n').replaceAll('127.0.0.1:4402', host).replaceAll('curl', 'curl --fail')
    const shell = Bun.spawn(['sh', '-e', '-c', text], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
    const [name, token, friends] = (await new Response(shell.stdout).text()).trim().split('\n')
    expect(await shell.exited).toBe(0)
    expect(JSON.parse(name!)).toEqual({ name: 'alice' })
    expect(JSON.parse(token!)).toEqual({ token: 'dev:alice' })
    expect(JSON.parse(friends!)).toMatchObject([{ name: 'bob' }, { name: 'carol' }])
  })
})
