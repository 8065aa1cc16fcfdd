// The services that other tests stand on: they start, break, come back and end as they promise.
import { describe, expect, test } from 'bun:test'
import { chmodSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SQL } from 'bun'
import { newFolder, removeFolder } from './child.ts'
import { describeWithService } from './describe.ts'
import { freePort, LOOPBACK, REDIS_BUS_OFFSET } from './ports.ts'
import { findPostgres, startPostgres } from './postgres.ts'
import { stillRunning } from './processes.ts'
import { findRedis, startRedis } from './redis.ts'
import { startRedisCluster } from './redis-cluster.ts'
import { until, WAIT_MS } from './within.ts'

const redis = await findRedis()
const postgres = await findPostgres()

describe('ports', () => {
  test('are free, apart, and below those of outgoing connections', async () => {
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

describe('a service that cannot be had', () => {
  const FILE = `
    import { expect, test } from 'bun:test'
    import { describeWithService } from ${JSON.stringify(join(import.meta.dir, 'describe.ts'))}
    const start = () => { throw new Error('started') }
    describeWithService('thing', { state: 'missing', why: 'no thing here' }, start, (thing) => {
      test('[C2] uses it', () => expect(thing()).toBeDefined())
    })`

  async function runTests(env: Record<string, string>): Promise<{ exitCode: number; said: string }> {
    const folder = newFolder('skipped')
    try {
      writeFileSync(join(folder, 'thing.test.ts'), FILE)
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
  const before = new Set(readdirSync(tmpdir()))
  const child = Bun.spawn({
    cmd: [process.execPath, '-e', source],
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const pid = Number((await new Response(child.stdout).text()).trim())
  expect(pid).toBeGreaterThan(0)
  await until(WAIT_MS, 'the end of the service', async () => (await stillRunning([pid])).length === 0)
  const kind = start.replace('start', '').toLowerCase()
  const folders = () =>
    readdirSync(tmpdir()).filter((name) => name.startsWith(`greendot-${kind}-`) && !before.has(name))
  await until(WAIT_MS, 'the removal of its folder', async () => folders().length === 0)
}

describeWithService('Redis', redis, startRedis, (service) => {
  test('answers on its port, and says what is wrong', async () => {
    expect(service().url).toBe(`redis://${LOOPBACK}:${service().port}`)
    expect(await service().cli('SET', 'a', 'b c')).toBe('OK')
    expect(await service().cli('GET', 'a')).toBe('b c')
    await expect(service().cli('NONSENSE')).rejects.toThrow('unknown command')
  })

  test('is gone after a kill, and comes back empty in the same place', async () => {
    const { pid, port } = service()
    await service().cli('SET', 'a', '1')
    await service().kill('SIGKILL')
    await expect(service().cli('PING')).rejects.toThrow('Connection refused')
    await service().restart({ keepData: false })
    expect(service().pid).not.toBe(pid)
    expect(service().port).toBe(port)
    expect(await service().cli('EXISTS', 'a')).toBe('0')
  })

  test('keeps what it answered for, if asked to', async () => {
    const lasting = await startRedis({ appendOnly: true })
    await lasting.cli('SET', 'a', '1')
    await lasting.kill('SIGKILL')
    await lasting.restart({ keepData: true })
    expect(await lasting.cli('GET', 'a')).toBe('1')
    await lasting.restart({ keepData: false })
    expect(await lasting.cli('EXISTS', 'a')).toBe('0')
    await lasting.stop()
  })

  test('says why it does not start', async () => {
    await expect(startRedis({ settings: { maxmemory: 'plenty' } })).rejects.toThrow('maxmemory')
  })

  test('ends with the process that started it, however that ended', async () => {
    await expectNothingLeft('redis.ts', 'startRedis', 'process.exit(0)')
    await expectNothingLeft('redis.ts', 'startRedis', "process.kill(process.pid, 'SIGKILL')")
  })
})

describeWithService('Redis Cluster', redis, startRedisCluster, (service) => {
  const roles = () =>
    service()
      .nodes.map(({ role }) => role)
      .join()

  test('replaces a master that was killed, and takes it back as a replica', async () => {
    expect(roles()).toBe('master,master,master,replica,replica,replica')
    expect(service().url).toMatch(/^redis-cluster:\/\/(127\.0\.0\.1:\d+,?){6}$/)
    for (const key of ['a', 'b', 'c', 'd']) await service().cli(0, '-c', 'SET', key, '1')
    await service().cli(1, 'WAIT', '1', '2000')

    expect(await service().failover(1)).toBe(4)
    expect(roles()).toBe('master,down,master,replica,master,replica')
    for (const key of ['a', 'b', 'c', 'd']) expect(await service().cli(0, '-c', 'GET', key)).toBe('1')

    await service().restartNode(1)
    expect(roles()).toBe('master,replica,master,replica,master,replica')
  })

  test('can be emptied', async () => {
    await service().cli(0, '-c', 'SET', 'a', '1')
    await service().flushAll()
    expect(await service().cli(0, '-c', 'EXISTS', 'a')).toBe('0')
  })
})

describeWithService('PostgreSQL', postgres, startPostgres, (service) => {
  async function query<Row>(url: string, text: string): Promise<Row[]> {
    const sql = new SQL(url, { max: 1, connectionTimeout: 2 })
    try {
      return [...(await sql.unsafe<Row[]>(text))]
    } finally {
      await sql.close({ timeout: 0 })
    }
  }

  test('keeps its data through a kill, on the same port', async () => {
    const { pid, url } = service()
    await query(url, 'CREATE TABLE kept (a INT); INSERT INTO kept VALUES (1)')
    await service().kill('SIGKILL')
    await expect(query(url, 'SELECT 1')).rejects.toThrow()
    await service().restart()
    expect(service().pid).not.toBe(pid)
    expect(await query<{ a: number }>(url, 'SELECT a FROM kept')).toEqual([{ a: 1 }])
  })

  test('answers nobody while it is paused, and everybody after that', async () => {
    const sql = new SQL(service().url, { max: 1 })
    await sql`SELECT 1`
    await service().pause()
    let answered = false
    const asking = sql`SELECT 1`.then(() => {
      answered = true
    })
    await expect(query(service().url, 'SELECT 1')).rejects.toThrow('timeout')
    expect(answered).toBe(false)
    await service().resume()
    await asking
    await sql.close()
  })

  test('has schemas that know nothing of each other', async () => {
    const [one, two] = [await service().newSchema(), await service().newSchema()]
    await query(one, 'CREATE TABLE t (a INT)')
    await query(two, 'CREATE TABLE t (a INT)')
    await query(one, 'INSERT INTO t VALUES (1)')
    expect(await query(two, 'SELECT * FROM t')).toEqual([])
  })

  test('asks for a password, if it was given one', async () => {
    const guarded = await startPostgres({ password: 'open sesame' })
    expect(await query(guarded.url, 'SELECT 1 AS a')).toEqual([{ a: 1 }])
    const wrong = guarded.url.replace('sesame', 'barley')
    await expect(query(wrong, 'SELECT 1')).rejects.toThrow('password authentication failed')
    await guarded.stop()
  })

  test('ends with the process that started it, also when it is paused', async () => {
    const ending = "await service.pause(); process.kill(process.pid, 'SIGKILL')"
    // With this, Bun itself would kill it, and it would leave a piece of shared memory behind.
    const { BUN_FEATURE_FLAG_NO_ORPHANS: _, ...env } = process.env
    await expectNothingLeft('postgres.ts', 'startPostgres', ending, env)
  })
})
