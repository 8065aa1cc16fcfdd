import { createRedisBus } from '../packages/server/src/bus/redis.ts'
import { systemClock } from '../packages/server/src/platform/clock.ts'
import { createRedisStore } from '../packages/server/src/store/redis.ts'
import { connect } from './contracts/redis-under-test.ts'
import { aCommit, aRecordOn } from './records.ts'
import { startRedis } from './services/redis.ts'
import { startRedisCluster } from './services/redis-cluster.ts'

const t0 = performance.now()
const say = (...a: unknown[]) => console.log(((performance.now() - t0) / 1000).toFixed(2), ...a)
async function drive(url: string, act: () => Promise<void>, ms: number) {
  const connection = await connect(url, {
    onTrouble: (why) => say('TROUBLE', why),
    onBack: () => say('BACK'),
  })
  const store = createRedisStore({ client: connection, clock: systemClock })
  const bus = createRedisBus({ connection, clock: systemClock })
  let received = 0,
    gaps = 0
  await bus.subscribe(
    'g1',
    (m) => {
      received += m.length
    },
    () => {
      gaps++
      say('GAP')
    },
  )
  let ok = 0,
    bad = 0,
    worst = 0,
    lastErr = ''
  const revs = new Map<string, number>()
  let stop = false
  let v = 0
  const loop = (async () => {
    let failing = false
    while (!stop) {
      const ids = Array.from({ length: 20 }, (_, i) => `u${i}`)
      const s = performance.now()
      try {
        const res = await store.commit(
          ids.map((id) => aCommit(id, { expectedRevision: revs.get(id) ?? 0, record: aRecordOn('g1') })),
        )
        let conflicts = 0
        res.forEach((r, i) => {
          if (r.outcome === 'committed') revs.set(ids[i]!, r.revision)
          else conflicts++
        })
        if (conflicts) {
          const loaded = await store.load(ids)
          loaded.forEach((l, i) => revs.set(ids[i]!, l?.revision ?? 0))
          say('conflicts', conflicts)
        }
        if (failing) say('commits work again')
        failing = false
        ok++
      } catch (e) {
        bad++
        worst = Math.max(worst, performance.now() - s)
        if (!failing || lastErr !== String(e))
          say('commit fails', String(e), (performance.now() - s).toFixed(0) + 'ms')
        failing = true
        lastErr = String(e)
      }
      bus.publish('g1', [{ kind: 'change', userId: 'a', version: ++v, at: 1, json: '{}' }])
      await Bun.sleep(20)
    }
  })()
  await Bun.sleep(300)
  say('received before', received)
  await act()
  await Bun.sleep(ms)
  const r = received
  await Bun.sleep(200)
  say('receiving', received - r, 'gaps', gaps)
  stop = true
  await loop
  say({ ok, bad, worst: Math.round(worst) })
  await connection.close()
}
const what = process.argv[2]
if (what === 'kill') {
  const r = await startRedis()
  await drive(
    r.url,
    async () => {
      say('kill')
      await r.kill('SIGKILL')
      await Bun.sleep(1500)
      await r.restart({ keepData: false })
      say('restarted')
    },
    2000,
  )
  await r.stop()
}
if (what === 'hang') {
  const r = await startRedis()
  await drive(
    r.url,
    async () => {
      say('stop')
      await r.kill('SIGSTOP')
      await Bun.sleep(4000)
      await r.kill('SIGCONT')
      say('cont')
    },
    2500,
  )
  await r.stop()
}
if (what === 'failover') {
  const c = await startRedisCluster()
  await drive(
    c.url,
    async () => {
      const i = 0
      say('failover')
      await c.failover(i)
      say('promoted')
    },
    3000,
  )
  await c.stop()
}
if (what === 'manual') {
  const c = await startRedisCluster()
  await drive(
    c.url,
    async () => {
      say('manual failover')
      for (const i of [3, 4, 5]) await c.cli(i, 'CLUSTER', 'FAILOVER')
      say('asked')
    },
    3000,
  )
  await c.stop()
}
if (what === 'hangmaster') {
  const c = await startRedisCluster()
  await drive(
    c.url,
    async () => {
      say('stop all masters, one at a time')
      await c.killNode(1, 'SIGSTOP')
      await Bun.sleep(5000)
      await c.killNode(1, 'SIGCONT')
      say('cont')
    },
    3000,
  )
  await c.stop()
}
if (what === 'all') {
  const c = await startRedisCluster()
  await drive(
    c.url,
    async () => {
      say('kill all')
      for (let i = 0; i < 6; i++) await c.killNode(i)
      await Bun.sleep(1500)
      await Promise.all([0, 1, 2, 3, 4, 5].map((i) => c.restartNode(i).catch(() => {})))
      say('restarted')
    },
    5000,
  )
  await c.stop()
}
process.exit(0)
