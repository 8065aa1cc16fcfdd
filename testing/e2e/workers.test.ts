// Several processes on one port over a real Redis: they share their state, one that dies is replaced,
// and a restart of all of them changes nothing visible.
import { expect, test } from 'bun:test'
import { join, resolve } from 'node:path'
import { type SettingsInput, spawnServer } from '../clients/server.ts'
import { connectGrpc } from '../grpc/client.ts'
import { describeWithService } from '../services/describe.ts'
import { findRedis, startRedis } from '../services/redis.ts'
import { until, WAIT_MS } from '../services/within.ts'
import { isOnline, useScene, watch } from './scene.ts'

const CLI = resolve(import.meta.dir, '../../packages/server/src/cli.ts')

describeWithService('workers', await findRedis(), startRedis, (redis) => {
  const scene = useScene()

  async function startWorkers(settings: SettingsInput = {}) {
    const server = await spawnServer({
      workers: 2,
      redis_url: redis().url,
      drain_ms: 200,
      offline_delay_ms: 2000,
      ...settings,
    })
    scene.onEnd(server.stop)
    return server
  }

  const childrenOf = (pid: number): number[] =>
    Bun.spawnSync(['pgrep', '-P', String(pid)])
      .stdout.toString()
      .trim()
      .split('\n')
      .map(Number)

  test('[C1] share one port and one truth', async () => {
    const server = await startWorkers()
    // The kernel spreads connections, so some of so many are on another worker than their watcher.
    const names = Array.from({ length: 8 }, (_, index) => `person-${index}`)
    const alice = await scene.person(server.url, 'alice')
    await watch(alice, names)
    for (const name of names) await scene.person(server.url, name)
    for (const name of names) await alice.sees(name, isOnline)
    expect(childrenOf(server.pid)).toHaveLength(2)
  })

  test('[C1, C5] share the port of gRPC', async () => {
    const { grpc, pid } = await startWorkers({ grpc_port: 0 })
    expect(childrenOf(pid)).toHaveLength(2)
    const users = Array.from({ length: 8 }, (_, index) => `person-${index}`)
    // Each has a connection of its own, so the kernel spreads them.
    const clients = users.map((user) => connectGrpc(grpc!, `dev:${user}`))
    const calls = clients.map((client) => client.open('SubscribePresence', { user_ids: users }))
    await Promise.all(calls.map((call) => call.next(() => true)))
    await clients[0]!.call('RecordHeartbeat', { device_id: 'd', activity: 'ACTIVITY_ACTIVE' })
    const isTold = (answer: object) => JSON.stringify(answer).includes('STATUS_ONLINE')
    for (const call of calls) await call.next(isTold)
    for (const call of calls) call.cancel()
    for (const client of clients) client.close()
  })

  test('[X8, C1] one scrape tells of all workers, each with its label', async () => {
    const server = await startWorkers()
    const names = Array.from({ length: 8 }, (_, index) => `person-${index}`)
    for (const name of names) await scene.person(server.url, name)
    const text = await (await fetch(`${server.url}/metrics`)).text()
    const sessions = Array.from(
      text.matchAll(/^greendot_sessions\{worker="(\d)"\} (\d+)$/gm),
      ([, worker, count]) => [worker!, Number(count)] as const,
    )
    expect(sessions.map(([worker]) => worker).sort()).toEqual(['0', '1'])
    expect(sessions.reduce((sum, [, count]) => sum + count, 0)).toBe(8)
    expect(text.match(/^# TYPE greendot_sessions /gm)).toHaveLength(1)
    expect(text).toMatch(/^greendot_workers_missing 0$/m)
  })

  test('[C7] one that is killed is replaced', async () => {
    const server = await startWorkers()
    const [victim, survivor] = childrenOf(server.pid) as [number, number]
    process.kill(victim, 'SIGKILL')
    const replaced = () => childrenOf(server.pid).filter((pid) => pid !== victim && pid !== survivor)
    await until(WAIT_MS, 'the replacement of a worker', async () => replaced().length > 0)
    expect(replaced()).toHaveLength(1)
  })

  test('[C2] doctor finds Redis and the processes that use it', async () => {
    const server = await startWorkers()
    const flags = ['--dev', '--port=0', `--redis-url=${redis().url}`]
    const database = `--database-url=sqlite://${join(server.folder, 'greendot.db')}`
    const doctor = Bun.spawnSync([process.execPath, CLI, 'doctor', ...flags, database], {
      cwd: server.folder,
    })
    expect(doctor.stdout.toString()).toMatch(/^ok +redis_url: \d+ gateways and \d+ sweepers run on it$/m)
    expect(doctor.exitCode).toBe(0)
  })
})
