// Causes one planned fault and ends it. What was broken and when is in the history; a part that is broken already
// by another fault stays usable for the next, so errors of the tools are remarks and no failures.
import type { Postgres } from '../../../services/postgres.ts'
import type { Peer } from '../clients/peer.ts'
import type { Servers } from '../deployment/servers.ts'
import type { Store } from '../deployment/store.ts'
import {
  ARCHIVE_HEALS_MS,
  CLIENTS_HEAL_MS,
  KAFKA_HEALS_MS,
  OWNER_HEALS_MS,
  SERVER_HEALS_MS,
  STORE_HEALS_MS,
} from '../deployment/times.ts'
import type { FaultRecord, FaultScope, History } from '../history/history.ts'
import type { FaultKind, PlannedFault } from '../plan/plan-faults.ts'
import { breakArchive } from './archive-faults.ts'
import { breakServers } from './server-faults.ts'
import { breakStore } from './store-faults.ts'
import { breakStreaming, type Streaming } from './streaming-faults.ts'

export interface Breakable {
  servers: Servers
  store: Store
  postgres: Postgres
  databaseUrl: string
  /** Null but for the streaming deployment. */
  streaming: Streaming | null
  /** The devices of all users. */
  devices: readonly Peer[]
  history: History
}

const SCOPES: Record<FaultKind, FaultScope> = {
  'store restarted empty': 'store',
  'store restarted': 'store',
  'store frozen': 'store',
  'store paused': 'store',
  'store flushed': 'store',
  'subscriptions killed': 'store',
  failover: 'store',
  'one master flushed': 'store',
  'master paused': 'store',
  'archive stopped': 'archive',
  'archive frozen': 'archive',
  'table locked': 'archive',
  'archive full': 'archive',
  'server killed': 'server',
  'server frozen': 'server',
  'server paused': 'server',
  'rolling restart': 'server',
  'kafka stopped': 'kafka',
  'kafka killed': 'kafka',
  'kafka frozen': 'kafka',
  'owner killed': 'owner',
  'mass reconnect': 'clients',
}
const HEAL_MS: Record<FaultScope, number> = {
  store: STORE_HEALS_MS,
  archive: ARCHIVE_HEALS_MS,
  server: SERVER_HEALS_MS,
  kafka: KAFKA_HEALS_MS,
  owner: OWNER_HEALS_MS,
  clients: CLIENTS_HEAL_MS,
}

export async function causeFault(fault: PlannedFault, broken: Breakable): Promise<void> {
  const { history, servers, devices } = broken
  const scope = SCOPES[fault.kind]
  const record: FaultRecord = {
    name: fault.kind,
    scope,
    from: performance.now(),
    to: Number.POSITIVE_INFINITY,
    healMs: HEAL_MS[scope],
    servers: [],
  }
  history.faults.push(record)
  try {
    if (scope === 'store') await breakStore(fault, broken.store)
    else if (scope === 'archive') await breakArchive(fault, broken)
    else if (scope === 'server') await breakServers(fault, servers, record)
    else if (scope === 'kafka' || scope === 'owner') await breakStreaming(fault, broken.streaming!)
    else {
      const server = servers.at(fault.which % servers.count)?.name
      for (const device of devices) if (device.server() === server) device.reconnect()
    }
  } catch (error) {
    history.remark(`${fault.kind}: ${error instanceof Error ? error.message : error}`)
  } finally {
    record.to = performance.now()
  }
}
