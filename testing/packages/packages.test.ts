// The packages as an app gets them: packed, installed with npm outside of this repository, and used with Node alone.
// Next.js takes longer and has a command of its own: npm run test:next.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Subprocess } from 'bun'
import { COMMANDS } from '../../packages/server/src/cli/commands.ts'
import { isSkipped, reason, useWindows } from '../browser/page-windows.ts'
import { connect } from '../clients/client.ts'
import { connectGrpc } from '../grpc/client.ts'
import { WAIT_MS, within } from '../services/within.ts'
import { missingRegistry, openWorkshop, type Workshop } from './workshop.ts'

const ROOT = resolve(import.meta.dir, '../..')
const PROTO = 'packages/protocol/proto/greendot/v1/presence.proto'
const APP = join(import.meta.dir, 'app')
const TSC = join(ROOT, 'node_modules/.bin/tsc')
const VITE = 'vite@8.3.4'
/** The one of this repository, and the oldest that is supported. */
const REACTS = {
  18: ['react@18.3.1', 'react-dom@18.3.1', '@types/react@18.3.28', '@types/react-dom@18.3.7'],
  19: ['react@19.3.1', 'react-dom@19.3.1', '@types/react@19.3.0', '@types/react-dom@19.3.0'],
}
const NODE_TYPES = '@types/node@20.19.33'
/** For npm, which may have to download a runtime of 40 MB. */
const INSTALL_MS_MAX = 240_000

const missing = await missingRegistry(VITE)
const note = missing === null ? '' : ` (skipped: ${missing})`

describe.skipIf(missing !== null)(`the packed packages${note}`, () => {
  let workshop: Workshop
  /** Where greendot is installed, without any install script. */
  let home: string
  let tools: string
  const apps: Record<string, string> = {}
  let server: { url: string; grpc: string; process: Subprocess }

  beforeAll(async () => {
    workshop = await openWorkshop()
    const { client, protocol, greendot } = workshop.tarballs
    const installing = [
      workshop.install('server', [greendot], { flags: ['--ignore-scripts'] }).then((folder) => {
        home = folder
      }),
      workshop.install('tools', [VITE]).then((folder) => {
        tools = folder
      }),
      ...Object.entries(REACTS).map(async ([version, packages]) => {
        const all = [client, protocol, NODE_TYPES, ...packages]
        apps[version] = await workshop.install(`react-${version}`, all, { fixtures: APP })
      }),
    ]
    await Promise.all(installing)
    server = await serve('npx', '--no-install', 'greendot')
  }, INSTALL_MS_MAX)

  afterAll(async () => {
    // Its process group: npx, the shell of npx, the command and the program.
    if (server) process.kill(-server.process.pid, 'SIGKILL')
    workshop?.remove()
  })

  const commandLine = (...args: string[]) => ['node', join(home, 'node_modules/.bin/greendot'), ...args]

  /** Starts a server in a process group of its own, and resolves when it says that it is ready. */
  async function serve(...command: string[]) {
    const flags = [
      'serve',
      '--dev',
      '--port=0',
      '--grpc-port=0',
      '--database-url=sqlite::memory:',
      '--log-level=error',
      '--offline-delay-ms=100',
    ]
    const child = Bun.spawn([...command, ...flags], {
      cwd: home,
      env: workshop.env,
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    })
    const { url, grpc } = await within(WAIT_MS, 'the start of greendot', readyAddresses(child.stdout))
    return { url, grpc, process: child }
  }

  const versions = Object.keys(REACTS)
  const compile = (app: string, name: string, compilerOptions: object, files: string[]) => {
    const common = {
      target: 'es2022',
      lib: ['es2022', 'dom', 'dom.iterable'],
      strict: true,
      jsx: 'react-jsx',
    }
    const project = join(app, `tsconfig.${name}.json`)
    writeFileSync(project, JSON.stringify({ compilerOptions: { ...common, ...compilerOptions }, files }))
    return workshop.run(app, TSC, '-p', project)
  }

  test('[X9] hold scripts, types, source maps, a README and the licence, and no sources', () => {
    const places = [
      join(apps[19]!, 'node_modules/@greendot/client'),
      join(apps[19]!, 'node_modules/@greendot/protocol'),
      join(home, 'node_modules/greendot'),
    ]
    for (const place of places) {
      const files = readdirSync(place, { recursive: true, encoding: 'utf8' })
      expect(files).toEqual(expect.arrayContaining(['README.md', 'LICENSE', 'package.json']))
      expect(files.filter((file) => /(?<!\.d)\.[mc]?tsx?$|\.test\./.test(file))).toEqual([])
      const scripts = files.filter((file) => file.endsWith('.js'))
      expect(scripts.length).toBeGreaterThan(0)
      for (const script of scripts) {
        expect(readFileSync(join(place, script), 'utf8')).toContain(`//# sourceMappingURL=`)
        const map = JSON.parse(readFileSync(join(place, `${script}.map`), 'utf8'))
        expect(map.sourcesContent).toHaveLength(map.sources.length)
        expect(map.sources.filter((source: string) => /^(\/|\.\.)/.test(source))).toEqual([])
      }
      const {
        engines,
        repository,
        files: listed,
      } = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8'))
      expect([engines.node, repository.type, listed.length > 0]).toEqual(['>=20', 'git', true])
    }
  })

  test('[C5, X9] hold the .proto, and serve gRPC by it', async () => {
    const published = join(apps[19]!, 'node_modules/@greendot/protocol/proto/greendot/v1/presence.proto')
    expect(readFileSync(published, 'utf8')).toBe(readFileSync(join(ROOT, PROTO), 'utf8'))
    const backend = connectGrpc(server.grpc, 'dev')
    expect(await backend.call('GetPresence', { user_ids: ['alice'] })).toHaveProperty('presences')
    backend.close()
  })

  test.each(versions)(
    '[X3, X9] have types for React %s under nodenext, by import and require, and run',
    async (version) => {
      const app = apps[version]!
      const files = ['program', 'render'].flatMap((name) => {
        const copies = [`${name}.mts`, `${name}.cts`]
        for (const copy of copies) cpSync(join(app, `${name}.ts`), join(app, copy))
        return copies
      })
      expect(await compile(app, 'nodenext', { module: 'nodenext', types: ['node'] }, files)).toBe('')

      const bob = await connect(server.url, 'bob')
      const env = { ...workshop.env, SERVER: server.url }
      for (const kind of ['mjs', 'cjs']) {
        expect(await workshop.run(app, 'node', `render.${kind}`)).toBe('<p>bob is <!-- -->unknown</p>\n')
        const child = Bun.spawn(['node', `program.${kind}`], {
          cwd: app,
          env,
          stdio: ['ignore', 'pipe', 'inherit'],
        })
        expect(await new Response(child.stdout).text()).toBe('bob is online\n')
        expect(await child.exited).toBe(0)
      }
      expect(readFileSync(join(app, 'program.cjs'), 'utf8')).toContain('require("@greendot/client")')
      bob.send({ type: 'leave' })
      await bob.closed
    },
  )

  test.each(versions)('[X3, X9] have types for React %s under bundler', async (version) => {
    const options = { module: 'esnext', moduleResolution: 'bundler', noEmit: true, types: ['node'] }
    expect(await compile(apps[version]!, 'bundler', options, ['page.tsx', 'render.ts', 'program.ts'])).toBe(
      '',
    )
  })

  describe.skipIf(isSkipped)(`in a browser${reason}`, () => {
    const windows = useWindows()

    test.each(versions)('[X3, X9] show a green dot in a Vite app with React %s', async (version) => {
      const app = apps[version]!
      await workshop.run(app, 'node', join(tools, 'node_modules/vite/bin/vite.js'), 'build')
      const asked: string[] = []
      const site = Bun.serve({
        hostname: '127.0.0.1',
        port: 0,
        async fetch(request) {
          const { pathname } = new URL(request.url)
          asked.push(pathname)
          const file = Bun.file(join(app, 'dist', pathname === '/' ? 'index.html' : pathname))
          return (await file.exists()) ? new Response(file) : new Response(null, { status: 404 })
        },
      })
      windows.onEnd(() => site.stop(true))
      const open = (name: string) => windows.open(`${site.url}?as=${name}&server=${server.url}`)
      const alice = await open('alice')
      await alice.getByText(`React ${version}`).waitFor()
      await alice.getByText('bob is offline').waitFor()
      const bob = await open('bob')
      await alice.getByText('bob is online').waitFor()
      await alice.locator('green-dot [part~=online]').waitFor()
      expect(asked).toContainEqual(expect.stringMatching(/\/worker-[^/]+\.js$/))
      await bob.close()
      await alice.getByText('bob is offline').waitFor()
    })
  })

  test('[X9] the README of greendot names the command that was started, and commands that exist', () => {
    const readme = readFileSync(join(home, 'node_modules/greendot/README.md'), 'utf8')
    expect(readme).toContain('npx greendot serve --dev')
    const named = Array.from(readme.matchAll(/^\| `greendot (\w+)/gm), ([, name]) => name)
    const known = [...COMMANDS.map(({ name }) => name), 'help']
    expect(named.length).toBeGreaterThan(5)
    expect(named.filter((name) => !known.includes(name!))).toEqual([])
  })

  test('[X9] the command passes signals, exit codes and messages on', async () => {
    const running = await serve(...commandLine())
    running.process.kill('SIGTERM')
    expect(await running.process.exited).toBe(0)

    const killed = await serve(...commandLine())
    killed.process.kill('SIGKILL')
    // The program ends with the command, and frees its port.
    await within(WAIT_MS, 'the end of the program', untilRefused(killed.url))

    const capacity = Bun.spawnSync(commandLine('capacity'), { cwd: home, env: workshop.env })
    expect([capacity.exitCode, capacity.stderr.toString()]).toEqual([
      2,
      expect.stringContaining('is in @greendot/bench, which is not installed here'),
    ])
  })

  test('[X9] the command finds the runtime where install scripts ran, and says what to do without one', () => {
    const { version } = JSON.parse(readFileSync(join(home, 'node_modules/greendot/package.json'), 'utf8'))
    const say = () => {
      const { exitCode, stdout, stderr } = Bun.spawnSync(commandLine('--version'), {
        cwd: home,
        env: workshop.env,
      })
      return [exitCode, stdout.toString().trim(), stderr.toString()]
    }
    const modules = join(home, 'node_modules')
    // The server above was started without install scripts. Now they run.
    const scripts = Bun.spawnSync(['node', 'install.js'], { cwd: join(modules, 'bun'), env: workshop.env })
    expect(scripts.exitCode).toBe(0)
    expect(say()).toEqual([0, version, ''])
    renameSync(join(modules, 'bun'), join(home, 'bun'))
    expect(say()).toEqual([1, '', expect.stringContaining('npm install --include=optional')])
  })
})

async function readyAddresses(stdout: ReadableStream<Uint8Array>): Promise<{ url: string; grpc: string }> {
  let said = ''
  for await (const chunk of stdout) {
    said += new TextDecoder().decode(chunk)
    const [, url, grpc] = /greendot ready (\S+)\ngreendot grpc ready (\S+)\n/.exec(said) ?? []
    if (url !== undefined && grpc !== undefined) return { url, grpc }
  }
  throw new Error(`it ended before it was ready: ${said}`)
}

async function untilRefused(url: string): Promise<void> {
  for (;;) {
    try {
      await fetch(`${url}/healthz`)
    } catch {
      return
    }
  }
}
