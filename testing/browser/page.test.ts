// How the page and the client for browsers are served: from source and by the executable alike, under a
// policy that lets nothing else run, and with tags by which caches know what is still good.
import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { RUNTIME_FLAGS } from '../../packages/server/src/platform/runtime-flags.ts'
import { connect } from '../clients/client.ts'
import { startServer, type TestServer } from '../clients/server.ts'
import { connectGrpc } from '../grpc/client.ts'
import { isSkipped, reason, useWindows } from './page-windows.ts'

const ROOT = resolve(import.meta.dir, '../..')
const SCRIPTS = ['/client.js', '/element.js', '/worker.js', '/client-worker.js']
const PATHS = ['/', ...SCRIPTS]
const COMPILE_MS_MAX = 60_000

async function withServer(run: (server: TestServer) => Promise<void>, settings = {}): Promise<void> {
  const server = await startServer(settings)
  try {
    await run(server)
  } finally {
    await server.stop()
  }
}

const hashOf = (html: string, tag: string): string => {
  const [, inside = ''] = new RegExp(`<${tag}[^>]*>(.*?)</${tag}>`, 's').exec(html) ?? []
  return `'sha256-${createHash('sha256').update(inside).digest('base64')}'`
}

describe('what is served', () => {
  test('[X4] the page runs its own script and styles, and nothing else', () =>
    withServer(async ({ url }) => {
      const answer = await fetch(url)
      const html = await answer.text()
      const policy = Object.fromEntries(
        answer.headers
          .get('content-security-policy')!
          .split('; ')
          .map((part) => [part.slice(0, part.indexOf(' ')), part.slice(part.indexOf(' ') + 1)]),
      )
      expect(policy).toEqual({
        'default-src': "'none'",
        'img-src': 'data:',
        'base-uri': "'none'",
        'form-action': "'none'",
        'frame-ancestors': "'none'",
        'script-src': hashOf(html, 'script'),
        'style-src': hashOf(html, 'style'),
        'connect-src': "'self'",
        'worker-src': "'self' blob:",
      })
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
      expect(answer.headers.get('x-frame-options')).toBe('DENY')
      expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(html.match(/<script/g)).toHaveLength(1)
      expect(html).toContain('data-mode="dev"')
      // An address that is not ours, in anything a browser would load.
      expect(html).not.toMatch(/(?:src|href|url)\s*[=(]\s*["']?https?:/)
    }))

  test('[X4] outside dev mode the page says so to itself', () =>
    withServer(async ({ url }) => expect(await (await fetch(url)).text()).toContain('data-mode="secured"'), {
      dev: false,
      jwt_secret: 'x'.repeat(32),
    }))

  test('[X4] what is kept already is not sent again, and what is sent is small', () =>
    withServer(async ({ url }) => {
      for (const path of PATHS) {
        const plain = await fetch(url + path, { headers: { 'accept-encoding': 'identity' } })
        const etag = plain.headers.get('etag')!
        const sizes = [Number(plain.headers.get('content-length'))]
        const packed = await fetch(url + path, { headers: { 'accept-encoding': 'gzip' }, decompress: false })
        sizes.push(Number(packed.headers.get('content-length')))
        expect([path, sizes[1]! < sizes[0]! / 2]).toEqual([path, true])
        expect(Bun.gunzipSync(await packed.bytes())).toEqual(await plain.bytes())
        const again = await fetch(url + path, { headers: { 'if-none-match': `"other", ${etag}` } })
        expect([again.status, await again.text()]).toEqual([304, ''])
        const head = await fetch(url + path, { method: 'HEAD' })
        expect([head.status, head.headers.get('etag')]).toEqual([200, etag])
        const posted = await fetch(url + path, { method: 'POST' })
        expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET'])
        expect(await posted.json()).toMatchObject({ code: 'method_not_allowed' })
      }
    }))

  test('[X3] the client is for pages of any origin', () =>
    withServer(async ({ url }) => {
      for (const path of SCRIPTS) {
        const { headers } = await fetch(url + path)
        expect(headers.get('access-control-allow-origin')).toBe('*')
        expect(headers.get('content-type')).toBe('text/javascript; charset=utf-8')
        expect(headers.get('cache-control')).toBe('public, max-age=300')
        expect(headers.get('cross-origin-resource-policy')).toBe('cross-origin')
      }
    }))

  test(
    '[X4, C1] the executable serves the very same, without any file beside it',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'greendot-executable-'))
      const program = join(folder, 'greendot')
      try {
        const made = Bun.spawnSync(
          [
            process.execPath,
            'build',
            '--compile',
            '--splitting',
            '--minify',
            join(ROOT, 'packages/server/src/cli.ts'),
            '--outfile',
            program,
          ],
          { cwd: folder },
        )
        expect([made.exitCode, made.exitCode === 0 ? '' : made.stderr.toString()]).toEqual([0, ''])
        const child = Bun.spawn(
          [program, 'serve', '--dev', '--port=0', '--grpc-port=0', '--database-url=sqlite://greendot.db'],
          {
            cwd: folder,
            env: { PATH: '' },
            stdout: 'pipe',
            stderr: 'ignore',
          },
        )
        let said = ''
        for await (const chunk of child.stdout) {
          said += new TextDecoder().decode(chunk)
          if (said.includes('grpc ready')) break
        }
        const url = /http:\S+/.exec(said)![0]
        const grpc = connectGrpc(/grpc ready (\S+)/.exec(said)![1]!, 'dev')
        expect(await grpc.call('GetPresence', { user_ids: ['alice'] })).toHaveProperty('presences')
        grpc.close()
        if (process.platform === 'linux') {
          const environment = readFileSync(`/proc/${child.pid}/environ`, 'utf8')
          for (const flag of Object.entries(RUNTIME_FLAGS)) expect(environment).toContain(flag.join('='))
        }
        await withServer(async (server) => {
          for (const path of PATHS) {
            const [compiled, fromSource] = await Promise.all([fetch(url + path), fetch(server.url + path)])
            expect(await compiled.text()).toBe(await fromSource.text())
          }
        })
        child.kill()
        await child.exited
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    },
    COMPILE_MS_MAX,
  )
})

describe.skipIf(isSkipped)(`the client in a browser, as it is served${reason}`, () => {
  const { serve, open, onEnd } = useWindows()

  /** Any page of that origin will do; this one has no policy and no script. */
  const pageOf = (server: TestServer) => open(`${server.url}/healthz`)

  test('[X3] is imported by a page of another origin, and connects from there', async () => {
    const [server, other] = [await serve(), await serve()]
    const page = await pageOf(other)
    const seen = await page.evaluate(async (url) => {
      const { connect } = await import(`${url}/client.js`)
      const dot = connect({ url, token: 'dev:alice' })
      return new Promise<string>((resolve) => dot.on('me', (me: { user_id: string }) => resolve(me.user_id)))
    }, server.url)
    expect(seen).toBe('alice')
  })

  test('[X3] the element is one line in a page of another origin', async () => {
    const server = await serve()
    const bob = await connect(server.url, 'bob')
    const site = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: () =>
        new Response(
          `<!doctype html><html lang="en"><title>People</title>
          <script type="module" src="${server.url}/element.js"></script>
          <green-dot user="bob" url="${server.url}" token="dev:alice"></green-dot>
          <green-dot user="carol" url="${server.url}" token="dev:alice"></green-dot></html>`,
          { headers: { 'content-type': 'text/html; charset=utf-8' } },
        ),
    })
    onEnd(() => site.stop(true))
    const page = await open(site.url.href)
    const says = (words: string) => page.getByRole('img', { name: words, exact: true }).waitFor()
    await says('bob: online')
    await says('carol: offline')
    bob.send({ type: 'set_availability', status: 'busy' })
    await says('bob: busy')
    // Two dots with the same attributes share one connection: bob's, and theirs.
    const stats = await fetch(`${server.url}/api/v1/stats`, { headers: { authorization: 'Bearer dev' } })
    expect(await stats.json()).toMatchObject({ connections: 2 })
  })

  test('[X3] has its worker beside it, in which two tabs share one connection', async () => {
    const server = await serve()
    const first = await pageOf(server)
    const second = await first.context().newPage()
    await second.goto(first.url())
    const sessions = (page: typeof first) =>
      page.evaluate(async (url) => {
        const { connect } = await import(`${url}/client.js`)
        const dot = connect({ url, token: 'dev:alice', worker: `${url}/worker.js` })
        return new Promise<number>((resolve) =>
          dot.on('me', (me: { sessions: unknown[] }) => resolve(me.sessions.length)),
        )
      }, server.url)
    expect([await sessions(first), await sessions(second)]).toEqual([1, 1])
    const stats = await fetch(`${server.url}/api/v1/stats`, { headers: { authorization: 'Bearer dev' } })
    expect(await stats.json()).toMatchObject({ connections: 1 })
  })
})
