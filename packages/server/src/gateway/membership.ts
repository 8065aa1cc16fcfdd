// A gateway's place among the others: one lease, and one way to heal. Whenever events or messages may
// have been lost (the store was away, was emptied, failed over, or took our lease), the gateway starts
// again under a new name: it announces its sessions and its interest anew, and once every other gateway
// had time to do the same, declares what is left under the old name lost and reads again what it
// watches. Nothing is visible of this to anybody whose connection lives on.
import type { Clock, Timer } from '../platform/clock.ts'
import { jittered, randomName } from '../platform/ids.ts'
import type { Logger } from '../platform/logger.ts'
import type { PresenceStore } from '../store/port.ts'

/** Renewals that may fail before the lease runs out, at least. */
const RENEWALS_PER_LEASE = 5
/** So often at least: an emptied store is noticed by the renewal that finds nothing. */
const RENEW_MS_MAX = 1_000
const RETRY_FIRST_MS = 250
const RETRY_MS_MAX = 4_000
/** What others need to announce themselves again, once they have noticed the same trouble. */
const ANNOUNCE_MS = 1_500

export interface Membership {
  /** The present name. */
  id(): string
  /** Names before it that have not been dealt with yet. */
  formerIds(): readonly string[]
  start(): Promise<void>
  /** Something may have been lost; heals as soon as the store answers. */
  doubt(why: string): void
  isHealthy(): boolean
  /** Leaves in order: what is still attached is lost from now on. */
  stop(): Promise<void>
}

export interface MembershipParts {
  store: PresenceStore
  clock: Clock
  logger: Logger
  leaseMs: number
  /** Listens under the new name and announces everything again. */
  announceAll(): Promise<void>
  /** Declares lost what is still attached to a former name. */
  abandon(formerId: string, lostAt: number): Promise<void>
  /** Reads again what is watched here. */
  refresh(): Promise<void>
}

export function createMembership(parts: MembershipParts): Membership {
  const { store, clock, logger, leaseMs } = parts
  let id = randomName('g-')
  let state: 'starting' | 'whole' | 'doubtful' | 'healing' | 'stopped' = 'starting'
  /** Names given up whose sessions have not been dealt with, and when they were last good. */
  const former = new Map<string, number>()
  let provenAt = clock.now()
  let renewal: Promise<void> | null = null
  let heartbeat: Timer | null = null
  let retry: Timer | null = null
  let settling: Timer | null = null
  const renewMs = Math.min(leaseMs / RENEWALS_PER_LEASE, RENEW_MS_MAX)
  let retryMs = RETRY_FIRST_MS

  // Ever later, and not all gateways at once: healing is work for a store that may have too much of it.
  function tickSoon(): void {
    retry?.stop()
    retry = clock.after(jittered(retryMs), () => void tick())
    retryMs = Math.min(retryMs * 2, RETRY_MS_MAX)
  }

  function keepAlive(): void {
    // Healing can take longer than a lease; the name that is being announced must outlive it.
    if (state === 'healing') store.renewLease(id, clock.now() + leaseMs).catch(() => 'healing will notice')
    else void tick()
  }

  async function renew(): Promise<void> {
    if (state === 'stopped' || state === 'starting' || state === 'healing') return
    if (state === 'doubtful') return heal()
    const now = clock.now()
    try {
      if (await store.renewLease(id, now + leaseMs)) provenAt = now
      else doubt('the store does not know our lease')
    } catch {
      doubt('the lease could not be renewed')
    }
  }

  function doubt(why: string): void {
    if (state === 'starting' || state === 'stopped') return
    if (state === 'whole') logger.warn({ gateway: id, why }, 'something may have been lost; starting again')
    state = 'doubtful'
    tickSoon()
  }

  async function heal(): Promise<void> {
    state = 'healing'
    const formerId = id
    const startedAt = clock.now()
    try {
      const next = randomName('g-')
      await store.openLease(next, startedAt + leaseMs)
      if (!former.has(formerId)) former.set(formerId, provenAt)
      id = next
      await parts.announceAll()
      provenAt = startedAt
      // Trouble that came meanwhile has changed the state, and healing begins again.
      if (isStill('healing')) {
        state = 'whole'
        logger.info({ gateway: id, formerly: formerId, tookMs: clock.now() - startedAt }, 'announced again')
        settling?.stop()
        const settleMs = renewMs + RETRY_FIRST_MS * 2 + ANNOUNCE_MS
        settling = clock.after(settleMs, () => void finish(next))
      }
    } catch (error) {
      logger.debug({ err: error }, 'healing did not get through; trying again')
      if (!isStill('stopped')) state = 'doubtful'
      tickSoon()
    }
  }

  const isStill = (expected: typeof state): boolean => state === expected

  async function finish(healedId: string): Promise<void> {
    if (healedId !== id || state !== 'whole') return
    try {
      for (const [formerId, goodUntil] of [...former]) {
        await parts.abandon(formerId, Math.min(clock.now(), goodUntil + leaseMs))
        former.delete(formerId)
      }
      await parts.refresh()
      retryMs = RETRY_FIRST_MS
    } catch (error) {
      logger.debug({ err: error }, 'healing did not finish')
      doubt('healing did not finish')
    }
  }

  function tick(): Promise<void> {
    renewal ??= renew().finally(() => {
      renewal = null
    })
    return renewal
  }

  return {
    id: () => id,
    formerIds: () => [...former.keys()],
    async start() {
      await store.openLease(id, clock.now() + leaseMs)
      provenAt = clock.now()
      state = 'whole'
      heartbeat = clock.every(renewMs, keepAlive)
    },
    doubt,
    isHealthy: () => state === 'whole',
    async stop() {
      state = 'stopped'
      for (const timer of [heartbeat, retry, settling]) timer?.stop()
      await renewal
      await store
        .retireGateway(id, clock.now())
        .catch((error) => logger.warn({ err: error }, 'the lease could not be given up; it will run out'))
    },
  }
}
