// After all users have left, Redis holds only records of absent users (which it keeps for five minutes), the counts
// and epochs of shards, and the leases of running servers: no interest, no sessions, no deadlines, no open duties,
// no lost gateways. The servers hold no sessions and no watches.
import { redisCli } from '../../../services/redis.ts'
import { request } from '../clients/requests.ts'
import type { Servers } from '../deployment/servers.ts'
import type { Store } from '../deployment/store.ts'
import type { Violation } from './violation.ts'

const CHECK_EVERY_MS = 300
/** What may be left in a shard, after its hash tag. The change log is cut by its length only. */
const KEPT = /^\{s\d+\}:(u:.*|keep|c|n|e|log|log:.*)$/
/** A gateway, a holder of foreign sessions and a sweeper each; with Kafka these are apart, and no more. */
const LEASES_PER_SERVER = 3
const GAUGES = ['greendot_sessions', 'greendot_watches', 'greendot_watched_users', 'greendot_archive_backlog']

export async function checkLeftovers(store: Store, servers: Servers, until: number): Promise<Violation[]> {
  while (true) {
    const left = [...(await leftInStore(store, servers.running().length)), ...(await leftInServers(servers))]
    if (left.length === 0) return []
    if (performance.now() > until)
      return left.slice(0, 5).map((what) => ({ check: 'leftover', at: performance.now(), what }))
    await Bun.sleep(CHECK_EVERY_MS)
  }
}

async function leftInStore(store: Store, serverCount: number): Promise<string[]> {
  const ports =
    store.kind === 'redis'
      ? [store.redis.port]
      : store.cluster.nodes.filter(({ role }) => role === 'master').map(({ port }) => port)
  const left: string[] = []
  for (const port of ports) {
    const keys = (await redisCli(port, 'KEYS', '*')).split('\n').filter((key) => key !== '')
    for (const key of keys) {
      if (KEPT.test(key)) continue
      if (key.startsWith('{s')) left.push(`${key} is left in Redis`)
      else if (key.endsWith('lost'))
        left.push(`lost gateways are left in Redis: ${await redisCli(port, 'ZRANGE', key, '0', '-1')}`)
      else if (key.endsWith('held')) {
        const held = Number(await redisCli(port, 'ZCARD', key))
        if (held > serverCount * LEASES_PER_SERVER) left.push(`${held} leases of ${serverCount} servers`)
      }
    }
    for (const key of keys.filter((one) => /^\{s\d+\}:c$/.test(one))) {
      const counts = await redisCli(port, 'HMGET', key, 'online', 'away', 'busy')
      if (counts.split('\n').some((count) => Number(count) !== 0))
        left.push(`${key} counts users as here: online, away, busy ${counts.replaceAll('\n', ' ')}`)
    }
  }
  return left
}

async function leftInServers(servers: Servers): Promise<string[]> {
  const left: string[] = []
  for (const { name, process } of servers.running()) {
    const text = await request(`${process.url}/metrics`, 'GET', 'dev').then(
      (response) => response.text(),
      () => '',
    )
    for (const gauge of GAUGES) {
      const value = new RegExp(`^${gauge} (\\S+)$`, 'm').exec(text)?.[1]
      if (value !== '0') left.push(`${gauge} of ${name} is ${value}`)
    }
  }
  return left
}
