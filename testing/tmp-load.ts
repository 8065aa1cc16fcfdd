import { systemClock } from '../packages/server/src/platform/clock.ts'
import { createRedisStore } from '../packages/server/src/store/redis.ts'
import { connect } from './contracts/redis-under-test.ts'
import { aCommit, aRecordOn } from './records.ts'
import { startRedis } from './services/redis.ts'
import { startRedisCluster } from './services/redis-cluster.ts'

const c = process.argv[2] === 'cluster' ? await startRedisCluster() : await startRedis()
const connection = await connect(c.url)
const store = createRedisStore({ client: connection, clock: systemClock })
const ids = Array.from({ length: 20000 }, (_, i) => `user-${i}`)
for (let i = 0; i < ids.length; i += 1000)
  await store.commit(ids.slice(i, i + 1000).map((id) => aCommit(id, { record: aRecordOn('g1') })))
const pick = (n: number) => Array.from({ length: n }, () => ids[Math.floor(Math.random() * ids.length)]!)
async function storm(
  count: number,
  width: number,
  n: number,
  fn: (ids: string[]) => Promise<unknown>,
  label: string,
) {
  const t = performance.now(),
    cpu = process.cpuUsage()
  let next = 0
  await Promise.all(
    Array.from({ length: width }, async () => {
      while (next++ < count) await fn(pick(n))
    }),
  )
  const s = (performance.now() - t) / 1000
  const u = process.cpuUsage(cpu)
  console.log(label, Math.round(count / s), '/s, cpu us per call', Math.round((u.user + u.system) / count))
}
for (let k = 0; k < 2; k++) {
  await storm(3000, 100, 18, (x) => store.load(x), 'load 18, 100 at a time:')
  await storm(3000, 100, 18, (x) => store.addInterest('g1', x), 'addInterest 18, 100 at a time:')
}
const lat: number[] = []
for (let i = 0; i < 1000; i++) {
  const x = pick(200)
  const t = performance.now()
  await store.load(x)
  lat.push(performance.now() - t)
}
lat.sort((a, b) => a - b)
console.log(
  'load 200 alone: p50',
  lat[500]!.toFixed(2),
  'p99',
  lat[990]!.toFixed(2),
  'max',
  lat[999]!.toFixed(2),
)
await connection.close()
await c.stop()
process.exit(0)
