// The container image, without a container engine: built from what .dockerignore admits, and run with its user,
// its command and its health check on a read-only root. Where npm cannot fetch packages it is skipped.
import { afterAll, describe, expect, test } from 'bun:test'
import { readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { loadConfig } from '../../packages/server/src/platform/config/config.ts'
import { VERSION } from '../../packages/server/src/platform/version.ts'
import { newFolder, removeFolder } from '../services/child.ts'
import { isCI } from '../services/found.ts'
import { freePort } from '../services/ports.ts'
import { WAIT_MS, within } from '../services/within.ts'
import { buildImage, type Image } from './build.ts'
import { isolationHere, startContainer } from './container.ts'
import { readContext } from './context.ts'
import { commandOf, lastOf, pairsOf, parseDockerfile, textsOf } from './dockerfile.ts'

const ROOT = resolve(import.meta.dir, '../..')
const DOCKERFILE = 'deploy/Dockerfile'
const stages = parseDockerfile(readFileSync(join(ROOT, DOCKERFILE), 'utf8'))
const last = stages.at(-1)!

describe('the Dockerfile', () => {
  test('[X8] gets no secret, database, local build or dependency from the repository', () => {
    const { has } = readContext(ROOT)
    const kept = ['deploy/.env', 'packages/server/.env', 'packages/server/my.env', '.git/config', '.npmrc']
    const local = ['data/greendot.db', 'packages/server/data/a.db', 'dist/greendot', 'packages/a/dist/b.js']
    const dependencies = ['node_modules/a/b.js', 'packages/server/node_modules/a.js']
    expect([...kept, ...local, ...dependencies].filter(has)).toEqual([])
    expect(
      ['packages/server/src/cli.ts', 'package-lock.json', 'LICENSE'].filter((path) => !has(path)),
    ).toEqual([])
  })

  test('[X8] ends in a plain system with one executable, which root does not run', () => {
    expect([...textsOf(last, 'RUN'), last.base].join()).not.toMatch(/npm|node|bun|curl/)
    expect(lastOf(last, 'USER')).toMatch(/^[1-9]\d*:[1-9]\d*$/)
    const [uid, gid] = lastOf(last, 'USER').split(':')
    const volume = lastOf(last, 'VOLUME')
    // The image gives the folder to the user; a new volume takes over the owner.
    expect(textsOf(last, 'RUN')).toEqual([`install -d -o ${uid} -g ${gid} -m 0750 ${volume}`])
    expect([lastOf(last, 'WORKDIR'), lastOf(last, 'STOPSIGNAL')]).toEqual([volume, 'SIGTERM'])
    const loaded = loadConfig({ argv: ['--dev'], env: {}, readFile: () => null })
    expect(loaded).toMatchObject({ ok: true, config: { port: Number(lastOf(last, 'EXPOSE')) } })
    expect(commandOf(lastOf(last, 'HEALTHCHECK')).join(' ')).not.toMatch(/curl|wget/)
  })

  test('[X8] labels what it makes', () => {
    expect(pairsOf(last, 'LABEL')).toMatchObject({
      'org.opencontainers.image.title': 'greendot',
      'org.opencontainers.image.licenses': 'MIT',
      'org.opencontainers.image.version': VERSION,
      'org.opencontainers.image.base.name': `docker.io/library/${last.base}`,
    })
  })
})

const folder = newFolder('image')
afterAll(() => removeFolder(folder))
const built = await buildImage(ROOT, DOCKERFILE, folder)
const isolation = isolationHere()
const note = isolation.kind === 'none' ? ` (not checked here: ${isolation.unchecked})` : ''
const skipped = built.state === 'missing' && !isCI()

function imageOf(): Image {
  if (built.state !== 'built') throw new Error(built.why)
  return built.image
}

describe.skipIf(skipped)(`the image${skipped ? ` (${built.why})` : ''}`, () => {
  test('[X8, X9] builds from what reaches the builder, and has only the program and its licence', () => {
    const files = [...new Bun.Glob('**/*').scanSync({ cwd: imageOf().root, dot: true })]
    const [program = ''] = commandOf(lastOf(last, 'ENTRYPOINT'))
    expect(files.sort().map((path) => `/${path}`)).toEqual([program, '/usr/share/doc/greendot/LICENSE'])
    // Executable for a user who owns nothing in the image.
    expect(statSync(join(imageOf().root, program)).mode & 0o005).toBe(0o005)
  })

  test(`[X8, X9] starts as its user on a read-only root, is healthy, and stops in order${note}`, async () => {
    const port = await freePort()
    const secret = 'a secret of the test of the image, of 32 bytes or more'
    const settings = { GREENDOT_PORT: String(port), GREENDOT_JWT_SECRET: secret }
    const container = startContainer(imageOf(), folder, isolation, settings)
    expect(await within(WAIT_MS, 'the start of the image', container.ready)).toMatch(
      /^greendot ready http:\S+\n$/,
    )

    const url = `http://127.0.0.1:${port}`
    expect(await (await fetch(`${url}/readyz`)).json()).toMatchObject({ status: 'ready' })
    expect(await (await fetch(url)).text()).toContain('<!doctype html>')
    const token = await container.exec(['greendot', 'token', '--user', 'alice'])
    const answer = await fetch(`${url}/api/v1/presence/status`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${token.out.trim()}` },
      body: '{"text":"kept in the volume"}',
    })
    expect([token.exitCode, answer.status]).toEqual([0, 200])
    expect(await container.exec(commandOf(lastOf(last, 'HEALTHCHECK')))).toMatchObject({
      exitCode: 0,
      err: '',
    })

    const [uid] = lastOf(last, 'USER').split(':').map(Number)
    const { uid: owner, size } = statSync(join(container.data, 'data/greendot.db'))
    expect(size).toBeGreaterThan(0)
    if (process.getuid?.() === 0) expect(owner).toBe(uid!)
    if (isolation.kind === 'namespace') {
      const status = readFileSync(`/proc/${container.pid}/status`, 'utf8')
      expect(status).toMatch(new RegExp(`^Uid:\\t${uid}\\t${uid}\\t`, 'm'))
      expect(status).toMatch(/^CapEff:\t0+$/m)
      // Even root writes only to the volume.
      for (const place of ['/', '/tmp', '/usr/local/bin', '/var/lib']) {
        const written = await container.exec(['bash', '-c', `: > ${join(place, 'written')}`], 'root')
        expect([place, written.exitCode, written.err]).toEqual([
          place,
          1,
          expect.stringContaining('Read-only'),
        ])
      }
      const inVolume = join(lastOf(last, 'VOLUME'), 'written')
      expect(await container.exec(['bash', '-c', `: > ${inVolume}`])).toMatchObject({ exitCode: 0 })
    }

    const ended = await container.stop(lastOf(last, 'STOPSIGNAL'))
    expect(ended.exitCode).toBe(0)
    // No warning and no error: a read-only root is no surprise to the program.
    expect(ended.err.split('\n').filter((line) => /"level":"(warn|error|fatal)/.test(line))).toEqual([])
    expect(ended.err).not.toContain(secret)
  })
})
