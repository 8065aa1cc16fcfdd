// Whether this process can take connections and answer, for load balancers: the same answer over HTTP and gRPC.
import type { Archive } from '../archive/port.ts'
import type { PresenceStore } from '../store/port.ts'

/** Loading any user reaches the store. */
const PROBE_ID = 'readyz'

export interface ReadinessParts {
  store: PresenceStore
  archive: Archive
  /** The hot store dies with the process. */
  isStoreVolatile: boolean
  /** Whether writes to the archive fail, or rows wait to be written again. */
  isArchiveFailing(): boolean
  /** Whether the gateway, if there is one, has its lease and its subscription. */
  isHealthy(): boolean
  isDraining(): boolean
}

export interface Readiness {
  status: 'ready' | 'degraded' | 'not_ready'
  checks: {
    store: 'ok' | 'failing'
    archive: 'ok' | 'failing'
    gateway: 'ok' | 'healing'
    accepting: 'ok' | 'draining'
  }
}

export function createReadiness(parts: ReadinessParts): () => Promise<Readiness> {
  const { store, archive, isStoreVolatile, isArchiveFailing, isHealthy, isDraining } = parts
  const check = async (probe: () => Promise<unknown>): Promise<'ok' | 'failing'> =>
    probe().then(
      () => 'ok',
      () => 'failing',
    )

  return async () => {
    const [hot, cold] = await Promise.all([
      check(() => store.load([PROBE_ID])),
      check(async () => {
        await archive.ping()
        // A full disk still answers.
        if (isArchiveFailing()) throw new Error('rows cannot be written')
      }),
    ])
    const gateway = isHealthy() ? 'ok' : 'healing'
    const accepting = isDraining() ? 'draining' : 'ok'
    // With one of two shared stores users are still served; removing this process would end that. A process
    // whose memory is all there is must be able to write.
    const isServing = isStoreVolatile ? cold === 'ok' : hot === 'ok' || cold === 'ok'
    const isReady = accepting === 'ok' && isServing
    const isWhole = hot === 'ok' && cold === 'ok' && gateway === 'ok'
    const status = !isReady ? 'not_ready' : isWhole ? 'ready' : 'degraded'
    return { status, checks: { store: hot, archive: cold, gateway, accepting } }
  }
}
