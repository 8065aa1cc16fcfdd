// What it comes to in money, to rank what drives it: every resource that is used, at a price, with the
// headroom and the replicas that go with it. Prices are assumptions; the order is what matters.
import { type Gateways, GB } from './gateways.ts'
import type { Figure, Sheet } from './sheet.ts'
import type { PostgresPlan, RedisPlan } from './stores.ts'
import type { Traffic } from './traffic.ts'
import type { Workload } from './workload.ts'

const MONTH_SECONDS = 30 * 86_400

interface Parts {
  traffic: Traffic
  gateways: Gateways
  redis: RedisPlan
  postgres: PostgresPlan
}

/** US dollars a month by what they are spent on, most first. */
export function costDrivers(workload: Workload, parts: Parts, sheet: Sheet): Figure[] {
  const { traffic, gateways, redis, postgres } = parts
  const { utilisation, replicas } = workload
  const { figure, constant } = sheet
  const copies = 1 + replicas
  const cpu = (figure: Figure) => (figure.value / utilisation) * constant('core_month_usd')
  const memory = (figure: Figure) => (figure.value / GB / utilisation) * constant('memory_month_usd')
  const usd = (label: string, formula: () => number) => figure(label, 'USD a month', formula)
  const drivers = [
    usd('heartbeats', () => cpu(gateways.cpu.beats)),
    usd('deliveries: CPU of gateways', () => cpu(gateways.cpu.deliveries)),
    usd('traffic out', () => {
      const bytes = traffic.bytesOut.value * MONTH_SECONDS * constant('average_share')
      return (bytes / GB) * constant('traffic_usd')
    }),
    usd('connects and snapshots', () => cpu(gateways.cpu.connects)),
    usd('loads and commits', () => cpu(gateways.cpu.commits) + copies * cpu(redis.cpu.commits)),
    usd('messages between gateways', () => cpu(gateways.cpu.messages) + cpu(redis.cpu.messages)),
    usd('interest: memory of gateways', () => memory(gateways.memory.watched)),
    usd('interest: memory of Redis', () => copies * memory(redis.memory.interest)),
    usd('interest: CPU', () => cpu(gateways.cpu.interest) + copies * cpu(redis.cpu.watches)),
    usd('connections: memory', () => {
      return memory(gateways.memory.connections) + memory(gateways.memory.kernel)
    }),
    usd('users in Redis', () => copies * memory(redis.memory.users)),
    usd('queries', () => cpu(gateways.cpu.queries)),
    usd('database: disk', () => copies * (postgres.bytes.value / GB) * constant('disk_month_usd')),
  ]
  return drivers.filter(({ value }) => value > 0).sort((a, b) => b.value - a.value)
}
