// Keeps the documents true. What they show is run, as it is written, against a real server; what they
// list is held against the registries in the code, both ways: nothing is missing and nothing is made up.
import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { CLOSE, type ClientFrame, ERRORS, problem, type ServerFrame } from '@greendot/protocol'
import { greendot } from '../../packages/client/src/server.ts'
import * as limits from '../../packages/protocol/src/limits.ts'
import { defaultOf } from '../../packages/server/src/cli/help.ts'
import { loadConfig } from '../../packages/server/src/platform/config/config.ts'
import {
  flagOf,
  SETTING_NAMES,
  SETTINGS,
  type Setting,
  variableOf,
} from '../../packages/server/src/platform/config/settings.ts'
import { POLICY_NAMES } from '../../packages/server/src/presence/core/policy.ts'
import { useServers } from '../clients/clearing.ts'
import { connect } from '../clients/client.ts'
import { startServer } from '../clients/server.ts'
import { registeredRoutes } from '../http/registered-routes.ts'
import { linesOf } from '../services/lines.ts'
import { freePort } from '../services/ports.ts'
import { type Block, blocksOf, plain, ROOT, rowsOf, section } from './docs-text.ts'
import { fromHere } from './snippet-program.ts'

const { serve, onEnd } = useServers()

/** Runs an example as a program of its own; `says` resolves when it prints that line next or later. */
function runScript(text: string) {
  const folder = mkdtempSync(join(tmpdir(), 'greendot-docs-'))
  const file = join(folder, 'example.mjs')
  writeFileSync(file, text)
  const child = Bun.spawn([process.execPath, file], { stdin: 'ignore', stdout: 'pipe', stderr: 'inherit' })
  onEnd(async () => {
    child.kill('SIGKILL')
    await child.exited
    rmSync(folder, { recursive: true })
  })
  const lines = linesOf(child.stdout)
  return {
    async says(line: string): Promise<void> {
      for (let next = await lines.next(); next.value !== line; next = await lines.next()) {
        if (next.done) throw new Error(`the example ended before it said "${line}"`)
      }
    },
  }
}

/** Runs a shell block at the root, as a newcomer would who has Node and npm but no Bun. */
async function runShell(text: string): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'greendot-docs-'))
  onEnd(() => rmSync(folder, { recursive: true }))
  // An error status fails the command, and each answer gets a line of its own.
  writeFileSync(join(folder, '.curlrc'), 'fail\nshow-error\nwrite-out = "\\n"\n')
  const child = Bun.spawn(['sh', '-e', '-c', text], {
    cwd: ROOT,
    env: {
      PATH: `${dirname(Bun.which('npx') ?? '')}:/usr/bin:/bin`,
      HOME: process.env.HOME ?? folder,
      CURL_HOME: folder,
      // What is not installed here must fail, not come from elsewhere.
      npm_config_offline: 'true',
    },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out = '', err] = await Promise.all(
    [child.stdout, child.stderr].map((one) => new Response(one).text()),
  )
  if ((await child.exited) !== 0) throw new Error(`exit code ${child.exitCode}: ${err}\n${out}`)
  return out.split('\n').filter((line) => line !== '')
}

describe('the examples', () => {
  const watching = ['README.md', 'docs/protocol.md'].flatMap((path) => blocksOf(path, 'js'))
  for (const { path, line, text } of watching) {
    test(`[W1] ${path}:${line} prints which users are online`, async () => {
      const { url } = await serve()
      const script = runScript(fromHere(text, { url }))
      await script.says('bob is offline')
      const bob = await connect(url, 'bob')
      await script.says('bob is online')
      bob.send({ type: 'leave' })
      await script.says('bob is offline')
    })
  }

  test('[W9] the client that lasts comes back after a restart', async () => {
    const port = await freePort()
    const first = await startServer({ port })
    const [block] = blocksOf('docs/protocol.md', 'js', section('docs/protocol.md', 'A client that lasts'))
    const script = runScript(fromHere(block!.text, first))
    await script.says('bob is offline')
    await connect(first.url, 'bob')
    await script.says('bob is online')
    await first.stop()
    const second = await serve({ port })
    await connect(second.url, 'bob')
    await script.says('bob is online')
  })

  const shells = [
    'README.md',
    'protocol',
    'foreign-gateways',
    'configuration',
    'operations',
    'privacy',
    'history',
    'webhooks',
  ]
    .map((name) => (name.endsWith('.md') ? name : `docs/${name}.md`))
    .flatMap((path) => blocksOf(path, 'sh'))
    // Installing, starting and testing is what brought us here.
    .filter(({ text }) => !/^npm install && npm (start|test)\n$/.test(text))
  const isCurl = ({ text }: Block) => text.startsWith('curl ')
  /** Others need the id of an earlier answer; the test of their document runs them. */
  const isComplete = ({ text }: Block) => !text.includes('{id}')
  const noCurl = Bun.which('curl') === null

  for (const { path, line, text } of shells.filter(isCurl).filter(isComplete)) {
    test.skipIf(noCurl)(
      `${path}:${line} is answered${noCurl ? ' (there is no curl here)' : ''}`,
      async () => {
        const { url } = await serve({ history_days: path === 'docs/history.md' ? 30 : 0 })
        const answers = await runShell(fromHere(text, { url }))
        expect(answers).not.toBeEmpty()
        if (text.includes('/metrics')) expect(answers[0]).toStartWith('# HELP greendot_')
        else for (const answer of answers) expect(JSON.parse(answer)).toBeObject()
      },
    )
  }

  test('[C6] README.md makes a token that the server takes', async () => {
    const block = shells.find(({ text }) => text.includes('greendot token'))!
    const bin = join(ROOT, 'node_modules/.bin/greendot')
    if (!existsSync(bin)) throw new Error(`${bin} is not there: run npm install`)
    const [token, secret] = await runShell(`${block.text}echo "$GREENDOT_JWT_SECRET"`)
    const { url } = await serve({ dev: false, jwt_secret: secret! })
    const headers = { authorization: `Bearer ${token}` }
    const answer = await fetch(`${url}/api/v1/presence/status`, { method: 'DELETE', headers })
    expect(await answer.json()).toMatchObject({ user_id: 'alice' })
  })

  test('[S7] docs/privacy.md explains', async () => {
    const block = shells.find(({ text }) => text.includes('greendot explain'))!
    const { url } = await serve()
    await connect(url, 'bob')
    const sentences = await runShell(`${block.text.trimEnd()} --url ${url}\n`)
    expect(sentences.at(-1)).toBe('So alice sees bob as online.')
  })

  test('[S4] docs/operations.md makes a whole backup while the server runs', async () => {
    const block = shells.find(({ text }) => text.includes('greendot backup'))!
    const back = shells.find(({ text }) => text.includes('cp backup.db'))!
    const { url, folder } = await serve()
    const alice = await connect(url, 'alice')
    alice.send({ type: 'set_custom_status', text: 'kept', ref: 1 })
    await alice.next('ok')
    const inFolder = (text: string) => text.replaceAll(/(data\/|(?<=[ ])(?=backup\.db))/g, `${folder}/`)
    await runShell(`${inFolder(block.text).trimEnd()} --database-url sqlite://${folder}/greendot.db\n`)
    alice.send({ type: 'set_custom_status', text: 'later', ref: 2 })
    await alice.next('ok', ({ ref }) => ref === 2)
    // A copy of the files, because the server still has its own open.
    const restored = join(folder, 'restored')
    await runShell(
      `mkdir ${restored}\n${inFolder(back.text).replaceAll(`${folder}/greendot`, `${restored}/greendot`)}`,
    )
    const backup = new Database(join(restored, 'greendot.db'), { readonly: true })
    onEnd(() => backup.close())
    expect(backup.query('SELECT user_id, custom_text FROM user_settings').all()).toEqual([
      { user_id: 'alice', custom_text: 'kept' },
    ])
  })

  test('no shell block is left out', () => {
    const others = shells.filter((block) => !isCurl(block)).map(({ path }) => path)
    expect(others).toEqual([
      'README.md',
      'docs/operations.md',
      'docs/operations.md',
      'docs/privacy.md',
      'docs/webhooks.md',
      'docs/webhooks.md',
    ])
    expect(watching.length).toBeGreaterThanOrEqual(2)
  })
})

describe('docs/protocol.md', () => {
  const path = 'docs/protocol.md'
  const firstCells = (heading: string): string[] =>
    rowsOf(section(path, heading)).map(([cell]) => plain(cell!))
  const json = (heading: string) =>
    blocksOf(path, 'json', section(path, heading)).map(({ text }) => JSON.parse(text))
  const clientFrames = () => firstCells('Client to server').map((cell) => JSON.parse(cell) as ClientFrame)

  // The compiler holds these two against the protocol, both ways.
  const clientTypes: Record<ClientFrame['type'], true> = {
    heartbeat: true,
    watch: true,
    watch_contacts: true,
    unwatch: true,
    set_availability: true,
    set_status: true,
    set_custom_status: true,
    leave: true,
  }
  const serverTypes: Record<ServerFrame['type'], true> = {
    welcome: true,
    presence_state: true,
    presence_change: true,
    contacts_removed: true,
    self: true,
    drain: true,
    ok: true,
    error: true,
  }

  test('has every frame, in both directions', () => {
    expect(clientFrames().map(({ type }) => type)).toEqual(Object.keys(clientTypes) as ClientFrame['type'][])
    expect(firstCells('Server to client')).toEqual(Object.keys(serverTypes))
    expect(json('Server to client').map(({ type }) => type)).toEqual(Object.keys(serverTypes))
  })

  test('shows client frames that the server carries out', async () => {
    const { url } = await serve()
    const alice = await connect(url, 'alice')
    for (const [ref, frame] of clientFrames().entries()) {
      alice.send({ ...frame, ref })
      await alice.next('ok', (answer) => answer.ref === ref)
    }
    expect((await alice.closed).code).toBe(CLOSE.left)
    expect(alice.heard.filter(({ frame }) => frame.type === 'error')).toEqual([])
  })

  test('shows server frames and objects as the server sends them', async () => {
    const server = await startServer()
    const alice = await connect(server.url, 'alice')
    alice.send({ type: 'watch', user_ids: ['bob'], ref: 1 })
    await alice.next('ok')
    const backend = greendot({ url: server.url, serverKey: 'dev' })
    await backend.contacts.add('alice', ['dave'])
    alice.send({ type: 'watch_contacts', ref: 2 })
    await alice.next('ok', ({ ref }) => ref === 2)
    await backend.contacts.remove('alice', ['dave'])
    await alice.next('contacts_removed')
    const bob = await connect(server.url, 'bob')
    bob.send({ type: 'set_custom_status', text: 'hello' })
    const changed = await alice.change('bob', (presence) => presence.custom_status !== null)
    alice.send({ type: 'set_availability', status: 'busy' })
    alice.send({ type: 'set_availability', status: 'asleep', ref: 3 })
    await alice.next('self')
    await alice.next('error')
    await server.stop()
    await alice.closed
    for (const example of json('Server to client')) {
      const real = alice.heard.find(({ frame }) => frame.type === example.type)?.frame
      expect({ example, real, alike: isAlike(example, real) }).toMatchObject({ alike: true })
    }
    expect(isAlike(json('The presence object')[0], changed)).toBe(true)
    expect(['user_id', ...firstCells('The presence object')]).toEqual(Object.keys(alice.welcome.self))
  })

  test('shows a problem document as it is', () => {
    const message = 'expires_at lies in the past'
    expect(json('Conventions')).toEqual([problem({ code: 'invalid_expiry', message })])
  })

  test('has every error code and its status, and every close code', () => {
    const codes = rowsOf(section(path, 'Error codes')).map(([code, status]) => `${plain(code!)} ${status}`)
    expect(codes).toEqual(Object.entries(ERRORS).map(([code, { status }]) => `${code} ${status}`))
    expect(firstCells('Close codes').map(Number)).toEqual(Object.values(CLOSE))
  })

  test('has every route and whom it is for', async () => {
    const inCode = (route: string) => plain(route.replace(/\?.*/, '').replace(/\{(\w+)\}/g, ':$1'))
    const documented = rowsOf(section(path, 'HTTP')).map(([route, who]) => `${inCode(route!)} for ${who}`)
    const audiences = { anyone: 'anyone', user: 'user', server: 'server', caller: 'user, server' }
    const inTables = (await registeredRoutes()).map(
      (one) => `${one.method} ${one.path} for ${audiences[one.who]}`,
    )
    // Served beside the tables of routes.
    const files = ['/', '/dashboard', '/client.js', '/element.js', '/worker.js', '/client-worker.js']
    const pages = files.map((path) => `GET ${path} for anyone`)
    const registered = [...pages, 'GET /api/v1/ws for user', ...inTables]
    expect(documented.sort()).toEqual(registered.sort())
  })

  test('has the limits', () => {
    const loaded = load('--dev')
    if (!loaded.ok) throw new Error(loaded.problem)
    const { config } = loaded
    const fixed = {
      'an id': `${limits.ID_BYTES_MAX} bytes`,
      'ids in a query': limits.IDS_PER_QUERY_MAX.toLocaleString('en'),
      'a frame to the server': `${limits.FRAME_BYTES_MAX / 1024} KiB`,
      'an HTTP body': `${limits.BODY_BYTES_MAX / 1024 / 1024} MiB`,
      'nesting of JSON': `${limits.JSON_DEPTH_MAX} levels`,
      'text of a custom status': `${limits.CUSTOM_TEXT_CHARS_MAX} characters`,
      'emoji of a custom status': `${limits.CUSTOM_EMOJI_BYTES_MAX} bytes`,
      'bad frames in a row': `${limits.BAD_FRAMES_MAX}`,
      'entries in a batch of a foreign gateway': limits.FOREIGN_ENTRIES_MAX.toLocaleString('en'),
      'reason of a disconnect': `${limits.REASON_CHARS_MAX} characters`,
    }
    expect(rowsOf(section(path, 'Limits'))).toEqual([
      ...Object.entries(fixed).map(([what, limit]) => [what, limit, '']),
      ['watched users per connection', `${config.watchLimit}`, '`watch_limit`'],
      ['frames per second and connection', `${config.framesPerSecond}`, '`frames_per_second`'],
      ['sessions per user', `${config.sessionsPerUser}`, '`sessions_per_user`'],
      ['reads over HTTP at once and user', `${config.pollBurst}`, '`poll_burst`'],
      ['and then one every', `${config.pollEveryMs.toLocaleString('en')} ms`, '`poll_every_ms`'],
      ['writes over HTTP at once and user', `${config.writeBurst}`, '`write_burst`'],
      ['and then one every', `${config.writeEveryMs} ms`, '`write_every_ms`'],
    ])
  })
})

/** The same fields of the same kinds, all the way down; null and an empty list go with anything. */
function isAlike(a: unknown, b: unknown): boolean {
  if (a === null || b === null) return true
  if (Array.isArray(a) && Array.isArray(b)) return a.length === 0 || b.length === 0 || isAlike(a[0], b[0])
  if (typeof a !== 'object' || typeof b !== 'object') return typeof a === typeof b
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>]
  const keys = Object.keys(left).sort()
  return (
    Bun.deepEquals(keys, Object.keys(right).sort()) && keys.every((key) => isAlike(left[key], right[key]))
  )
}

function load(flags: string, file: string | null = null) {
  const argv = flags === '' ? [] : flags.split(' ')
  return loadConfig({ argv, env: {}, readFile: () => file })
}

describe('docs/configuration.md', () => {
  const path = 'docs/configuration.md'

  test('[C1] has every setting, its default, its meaning and what it takes', () => {
    const documented = rowsOf(section(path, 'Settings')).map((row) => row.map(plain))
    const settings = SETTING_NAMES.map((name) => [name, SETTINGS[name] as Setting<unknown>] as const)
    expect(documented).toEqual(
      settings.map(([name, setting]) => [name, defaultOf(setting), setting.help, setting.type.expects]),
    )
  })

  test('[C1] has the three spellings, the policies and a file that loads', () => {
    const spelt = rowsOf(section(path, 'Configuration')).map(([, spelling]) => plain(spelling!))
    expect(spelt).toEqual([flagOf(spelt[2]!), variableOf(spelt[2]!), 'heartbeat_ttl_ms'])
    expect(rowsOf(section(path, 'Policies')).map(([name]) => plain(name!))).toEqual([...POLICY_NAMES])
    const [file] = blocksOf(path, 'json')
    expect(load('', file!.text)).toMatchObject({ ok: true })
  })

  test('[C1] [C6] says what is said when the start is refused', () => {
    const refusals = rowsOf(section(path, 'What refuses to start'))
    expect(refusals.length).toBeGreaterThan(10)
    for (const [flags, said] of refusals) {
      const given = flags === 'nothing' ? '' : plain(flags!)
      expect([given, load(given)]).toEqual([given, { ok: false, problem: said! }])
    }
  })
})
