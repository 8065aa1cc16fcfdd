// The published package: its size, importing it without side effects, the example of its README, and its types.
// Runtimes are in runtimes.test.ts.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { startServer, type TestServer } from '../../testing/clients/server.ts'
import { buildClient } from './build.ts'

const ROOT = resolve(import.meta.dir, '../..')
const CORE_BYTES_MAX = 6.75 * 1024

let app: string
let built: string
let server: TestServer

beforeAll(async () => {
  app = mkdtempSync(join(tmpdir(), 'greendot-client-'))
  built = join(app, 'node_modules/@greendot/client')
  mkdirSync(built, { recursive: true })
  await buildClient(built)
  server = await startServer({ offline_delay_ms: 100 })
})

afterAll(async () => {
  await server.stop()
  rmSync(app, { recursive: true, force: true })
})

const read = (file: string) => readFileSync(join(built, file), 'utf8')
/** Without the last line, which names the source map: it reaches no page. */
const codeOf = (file: string) => read(file).replace(/\n\/\/# sourceMappingURL=\S+\n$/, '')
const gzipped = (file: string) => Bun.gzipSync(codeOf(file), { level: 9 }).length

async function run(command: string[], program: string): Promise<string> {
  writeFileSync(join(app, 'program.mjs'), program)
  const child = Bun.spawn([...command, 'program.mjs'], { cwd: app, stdout: 'pipe', stderr: 'pipe' })
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  if ((await child.exited) !== 0) throw new Error(errors)
  return output
}

describe('the package', () => {
  test('[X3] the core is one file under 6.75 KB', () => {
    const sizes = ['index.js', 'last-seen.js', 'in-page.js', 'fallback.js', 'settings.js', 'worker.js'].map(
      (file) => `${file} ${gzipped(file)}`,
    )
    console.log(`client, bytes gzipped: ${sizes.join(', ')}`)
    expect(gzipped('index.js')).toBeLessThan(CORE_BYTES_MAX)
    const imported = Array.from(read('index.js').matchAll(/\bfrom\s*["']([^"']+)|import\(["']([^"']+)/g))
    expect(imported.map((match) => match[1] ?? match[2]).sort()).toEqual([
      './fallback.js',
      './in-page.js',
      './last-seen.js',
      './settings.js',
    ])
  })

  test('[X3] a bundler leaves out the words of last seen if they are not used', async () => {
    const bundled = async (names: string) => {
      const entry = join(app, 'page.js')
      writeFileSync(entry, `import { ${names} } from '@greendot/client'\nconsole.log(${names})`)
      const { outputs } = await Bun.build({ entrypoints: [entry], target: 'browser', minify: true })
      return outputs[0]!.text()
    }
    expect(await bundled('connect')).not.toContain('vor langer Zeit')
    expect(await bundled('formatLastSeen')).toContain('vor langer Zeit')
  })

  test('[X3] no file imports a dependency', () => {
    const manifest = JSON.parse(read('package.json'))
    expect(manifest.dependencies).toBeUndefined()
    const all = readdirSync(built, { recursive: true, encoding: 'utf8' })
    const files = all.filter((file) => /\.(js|d\.ts)$/.test(file))
    expect(files.length).toBeGreaterThan(8)
    for (const file of files) {
      const specifiers = Array.from(
        read(file).matchAll(/\b(?:from|import|require)\s*\(?["']([^"']+)["']/g),
        (match) => match[1]!,
      )
      const foreign = specifiers.filter(
        (specifier) => !/^\.\.?\//.test(specifier) && !/^react($|\/)/.test(specifier),
      )
      expect({ file, foreign }).toEqual({ file, foreign: [] })
    }
  })

  test("[X3] the hooks start with 'use client'", () => {
    expect(read('react.js')).toStartWith("'use client'")
  })

  test('[X3] importing it reads no global', async () => {
    const program = `
      const touched = []
      for (const name of ['window', 'document', 'localStorage', 'WebSocket', 'fetch', 'setTimeout', 'setInterval', 'BroadcastChannel', 'SharedWorker', 'navigator'])
        Object.defineProperty(globalThis, name, { configurable: true, get() { touched.push(name) } })
      await import('@greendot/client')
      console.log(JSON.stringify(touched))`
    expect(JSON.parse(await run(['node'], program))).toEqual([])
  })

  test('[X3] the example of the README runs unchanged', async () => {
    const [, example] = /```js\n(.*?)```/s.exec(read('README.md'))!
    const output = await run(['node'], example!.replace('http://127.0.0.1:4400', server.url))
    expect(output).toContain('the connection is live')
    expect(output).toContain('bob is offline')
    expect(output).toContain('the connection is left')
  })

  test('[X3] a listener that throws does not stop the others, and its error is uncaught', async () => {
    const program = `
      import { connect } from '@greendot/client'
      process.on('uncaughtException', ({ message }) => console.log(message))
      const dot = connect({ url: ${JSON.stringify(server.url)}, token: 'dev:alice' })
      dot.watch('bob', () => { throw new Error('mine') })
      dot.watch('bob', ({ status }) => {
        console.log(status)
        dot.close()
      })`
    expect((await run(['node'], program)).trim().split('\n').sort()).toEqual(['mine', 'offline'])
  })

  test('[X3] its types are complete', async () => {
    const program = `
      import { connect, type Dot, type Person, type Status } from '@greendot/client'
      const dot: Dot = connect({ url: new URL('https://example.org'), token: async () => 'token' })
      const person: Person | undefined = dot.get('bob')
      const status: Status | null | undefined = person?.status
      dot.on('change', (after, before) => console.log(after.last_seen, before?.version, status))
      dot.setAvailability('busy', { expiresAt: new Date() }).then((answer) => answer.ok || answer.code)
      // @ts-expect-error no such availability
      dot.setAvailability('asleep')
      // @ts-expect-error read-only
      if (person) person.status = 'busy'`
    writeFileSync(join(app, 'program.mts'), program)
    const compilerOptions = {
      module: 'nodenext',
      target: 'es2022',
      lib: ['es2022', 'dom', 'dom.iterable'],
      strict: true,
      noEmit: true,
      types: [],
    }
    writeFileSync(join(app, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.mts'] }))
    const tsc = Bun.spawn([join(ROOT, 'node_modules/.bin/tsc'), '-p', app], { stdout: 'pipe' })
    expect(await new Response(tsc.stdout).text()).toBe('')
  })
})
