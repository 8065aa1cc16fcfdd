// The leases of gateways in Redis. They are stored together under one hash tag, apart from the shards of
// users, so a lease is renewed or taken in one atomic step. The clock of that node is the clock of the store.
import type { RedisClient } from '../redis/client.ts'
import type { PresenceStore } from './port.ts'
import { DROP_LEASE, RENEW_LEASE, RETIRE, TAKE_LOST, TIME } from './redis-scripts.ts'

type Leases = Pick<
  PresenceStore,
  'time' | 'openLease' | 'renewLease' | 'retireGateway' | 'liveLeases' | 'lostGateways'
> & { drop(gatewayId: string): Promise<void> }

export function createRedisLeases(client: RedisClient, prefix: string): Leases {
  const base = `${prefix}{leases}:`
  const held = `${base}held`

  return {
    async time() {
      const [seconds, microseconds] = (await client.run(TIME, base, [])) as [string, string]
      return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000)
    },
    async openLease(gatewayId, until) {
      await client.send('zadd', [held, until, gatewayId])
    },
    async renewLease(gatewayId, until) {
      return (await client.run(RENEW_LEASE, base, [gatewayId, until])) === 1
    },
    async retireGateway(gatewayId, at) {
      await client.run(RETIRE, base, [gatewayId, at])
    },
    async liveLeases(now) {
      return (await client.send('zrange', [held, `(${now}`, '+inf', 'BYSCORE'])) as string[]
    },
    async lostGateways(now) {
      const lost = (await client.run(TAKE_LOST, base, [now])) as string[]
      return Array.from({ length: lost.length / 2 }, (_, index) => ({
        gatewayId: lost[index * 2]!,
        lostAt: Number(lost[index * 2 + 1]),
      }))
    },
    async drop(gatewayId) {
      await client.run(DROP_LEASE, base, [gatewayId])
    },
  }
}
