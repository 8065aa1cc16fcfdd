// Faults of greendot processes: killed, frozen past their lease, paused for less than it, replaced one by one.
import type { Servers } from '../deployment/servers.ts'
import { FROZEN_MS_MAX } from '../deployment/times.ts'
import type { FaultRecord } from '../history/history.ts'
import type { PlannedFault } from '../plan/plan-faults.ts'

export async function breakServers(
  { kind, forMs, which }: PlannedFault,
  servers: Servers,
  record: FaultRecord,
): Promise<void> {
  const place = which % servers.count
  const server = servers.at(place)
  switch (kind) {
    case 'server killed':
      if (server !== null) record.servers.push(server.name)
      await servers.kill(place)
      await Bun.sleep(forMs)
      return servers.start(place)
    case 'server frozen':
    case 'server paused': {
      if (server === null) return
      const isLong = kind === 'server frozen'
      if (isLong) record.servers.push(server.name)
      server.process.signal('SIGSTOP')
      await Bun.sleep(isLong ? forMs + FROZEN_MS_MAX : Math.min(forMs, FROZEN_MS_MAX))
      server.process.signal('SIGCONT')
      return
    }
    case 'rolling restart':
      for (let each = 0; each < servers.count; each++) {
        await servers.stop(each)
        await servers.start(each)
      }
      return
    default:
      throw new Error(`${kind} is no fault of servers`)
  }
}
