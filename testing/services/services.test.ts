// The properties of test services that other tests do not show: ports, installation, and that no service outlives
// the process that started it.
import { describe, expect, test } from 'bun:test'
import { chmodSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { newFolder, removeFolder } from './child.ts'
import type { Found } from './found.ts'
import { findKafka } from './kafka.ts'
import { freePort, LOOPBACK, REDIS_BUS_OFFSET } from './ports.ts'
import { findPostgres } from './postgres.ts'
import { stillRunning } from './processes.ts'
import { findRedis, startRedis } from './redis.ts'
import { until, WAIT_MS } from './within.ts'

const redis = await findRedis()
const postgres = await findPostgres()
const kafka = await findKafka()
const reasonOf = (found: Found) => (found.state === 'missing' ? ` (${found.why})` : '')

describe('ports', () => {
  test('are free, distinct, and below those of outgoing connections', async () => {
    const ports = await Promise.all(Array.from({ length: 40 }, () => freePort({ withBus: true })))
    expect(new Set(ports).size).toBe(40)
    expect(Math.max(...ports) + REDIS_BUS_OFFSET).toBeLessThan(32_768)
    const [port] = ports
    for (const one of [port!, port! + REDIS_BUS_OFFSET]) {
      const server = createServer()
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject).listen(one, LOOPBACK, resolve)
      })
      server.close()
    }
  })
})

describe('installing', () => {
  const isRoot = process.getuid?.() === 0

  /** Asks twice for a package in a process of its own, where `script` is apt-get. */
  async function install(script: string): Promise<{ answers: unknown; said: string; calls: string[] }> {
    const folder = newFolder('apt')
    try {
      const apt = join(folder, 'apt-get')
      const log = join(folder, 'calls')
      writeFileSync(
        apt,
        `#!/bin/sh\nwhile [ "$1" = -q ] || [ "$1" = -o ]; do
        if [ "$1" = -o ]; then shift; fi; shift; done
        echo "$@" >> ${log}; calls=$(wc -l < ${log})\n${script}`,
      )
      chmodSync(apt, 0o755)
      const source = `import { installPackage } from ${JSON.stringify(join(import.meta.dir, 'install.ts'))}
        console.log(JSON.stringify(await Promise.all([installPackage('thing'), installPackage('thing')])))`
      const child = Bun.spawn({
        cmd: [process.execPath, '-e', source],
        env: { PATH: `${folder}:/usr/bin:/bin` },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      const [answers, said] = await Promise.all([
        new Response(child.stdout).json(),
        new Response(child.stderr).text(),
      ])
      return { answers, said, calls: (await Bun.file(log).text()).trim().split('\n') }
    } finally {
      removeFolder(folder)
    }
  }

  test.skipIf(!isRoot)(
    'asks for new package lists when it has to, waits for locks (needs root)',
    async () => {
      const { answers, said, calls } = await install(`case $calls in
      1) echo 'E: Unable to locate package thing' >&2; exit 100;;
      2) echo 'E: Could not get lock /var/lib/apt/lists/lock' >&2; exit 100;;
    esac`)
      const installing = 'install -y --no-install-recommends thing'
      expect({ answers, calls }).toEqual({
        answers: [null, null],
        calls: [installing, 'update', 'update', installing],
      })
      expect(said).toMatch(/^thing is missing: installing it .*\nthing is installed, in \d+ s\n$/)
    },
  )

  test.skipIf(!isRoot)('says why it could not (needs root)', async () => {
    const { answers } = await install(`echo 'W: something' >&2; echo 'E: No route' >&2; exit 100`)
    const why = 'apt-get update failed: E: No route'
    expect(answers).toEqual([why, why])
  })
})

describe('a missing service', () => {
  const fileWith = (found: Found) => `
    import { expect, test } from 'bun:test'
    import { describeWithService } from ${JSON.stringify(join(import.meta.dir, 'describe.ts'))}
    const start = () => { throw new Error('started') }
    describeWithService('thing', ${JSON.stringify(found)}, start, (thing) => {
      test('[C2] uses it', () => expect(thing()).toBeDefined())
    })`

  async function runTests(
    env: Record<string, string>,
    isOptional = false,
  ): Promise<{ exitCode: number; said: string }> {
    const folder = newFolder('skipped')
    try {
      const found: Found = { state: 'missing', why: 'no thing here', isOptional }
      writeFileSync(join(folder, 'thing.test.ts'), fileWith(found))
      const child = Bun.spawn({
        cmd: [process.execPath, 'test', './thing.test.ts'],
        cwd: folder,
        env: { PATH: process.env.PATH ?? '', ...env },
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      const said = await new Response(child.stderr).text()
      return { exitCode: await child.exited, said }
    } finally {
      removeFolder(folder)
    }
  }

  test('skips its tests with the reason in their titles', async () => {
    const { exitCode, said } = await runTests({})
    expect(exitCode).toBe(0)
    expect(said).toContain('(skip) thing (no thing here) > [C2] uses it')
  })

  test('skips them where CI=true as well if it is optional', async () => {
    const { exitCode, said } = await runTests({ CI: 'true' }, true)
    expect(exitCode).toBe(0)
    expect(said).toContain('(skip) thing (no thing here) > [C2] uses it')
  })

  test('fails them where CI=true', async () => {
    const { exitCode, said } = await runTests({ CI: 'true' })
    expect(exitCode).toBe(1)
    expect(said).toContain('no thing here')
  })
})

/** Starts a service in a process of its own, which `ending` then ends; what was left has to go. */
async function expectNothingLeft(
  file: string,
  start: string,
  ending: string,
  env = process.env,
): Promise<void> {
  const source = `
    import { ${start} } from ${JSON.stringify(join(import.meta.dir, file))}
    const service = await ${start}()
    process.stdout.write(String(service.pid) + '\\n', async () => { ${ending} })`
  // A place of its own, because other tests start services meanwhile.
  const place = newFolder('place')
  // PostgreSQL runs as another user.
  chmodSync(place, 0o755)
  const child = Bun.spawn({
    cmd: [process.execPath, '-e', source],
    env: { ...env, TMPDIR: place },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const pid = Number((await new Response(child.stdout).text()).trim())
  expect(pid).toBeGreaterThan(0)
  await until(WAIT_MS, 'the end of the service', async () => (await stillRunning([pid])).length === 0)
  await until(WAIT_MS, 'the removal of its folder', async () => readdirSync(place).length === 0)
  removeFolder(place)
}

describe.skipIf(redis.state === 'missing')(`Redis${reasonOf(redis)}`, () => {
  test('says why it does not start', async () => {
    await expect(startRedis({ settings: { maxmemory: 'plenty' } })).rejects.toThrow('maxmemory')
  })

  test('ends with the process that started it, however that ended', async () => {
    await expectNothingLeft('redis.ts', 'startRedis', 'process.exit(0)')
    await expectNothingLeft('redis.ts', 'startRedis', "process.kill(process.pid, 'SIGKILL')")
  })
})

describe.skipIf(kafka.state === 'missing')(`Kafka${reasonOf(kafka)}`, () => {
  test('ends with the process that started it, also when it is frozen', async () => {
    const ending = "service.freeze(); process.kill(process.pid, 'SIGKILL')"
    await expectNothingLeft('kafka.ts', 'startKafka', ending)
  })
})

describe.skipIf(postgres.state === 'missing')(`PostgreSQL${reasonOf(postgres)}`, () => {
  test('ends with the process that started it, also when it is paused', async () => {
    const ending = "await service.pause(); process.kill(process.pid, 'SIGKILL')"
    // With this, Bun itself would kill it, and it would leave a piece of shared memory behind.
    const { BUN_FEATURE_FLAG_NO_ORPHANS: _, ...env } = process.env
    await expectNothingLeft('postgres.ts', 'startPostgres', ending, env)
  })
})
