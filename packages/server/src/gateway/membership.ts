// A gateway's place among the others: one lease, one inbound subscription, and one way to heal. Whenever
// events or messages may have been lost (the store was away, failed over, or took the lease), the
// gateway starts again under a new name: it announces its sessions and its interest anew. Once every other
// gateway had time to do the same, it declares what is left under the old name lost and reads its targets
// again. Where only some shards of the store lost their memory, what belongs there is announced again under the same
// name. Users whose connections live on see nothing of this.
import type { Bus } from '../bus/port.ts'
import type { Clock, Timer } from '../platform/clock.ts'
import { jittered } from '../platform/ids.ts'
import type { Logger } from '../platform/logger.ts'
import type { Tally } from '../platform/measuring/tally.ts'
import { HEALING_SHARE } from '../presence/cluster/gateway-leases.ts'
import { loseGateway } from '../presence/pipeline/gateway-loss.ts'
import type { Tracker } from '../presence/pipeline/tracker.ts'
import type { PresenceStore } from '../store/port.ts'
import type { Doubts } from './doubts.ts'
import { type ChangingIdentity, newGatewayId } from './identity.ts'
import type { Inbox } from './inbox.ts'
import type { Connections } from './sessions/connections.ts'
import type { Watching } from './watching/watching.ts'

/** Renewals that may fail before the lease runs out, at least. */
const RENEWALS_PER_LEASE = 5
/** An emptied store is noticed by the renewal that finds no lease, so renewals are at least this frequent. */
const RENEW_MS_MAX = 1_000
const RETRY_FIRST_MS = 250
const RETRY_MS_MAX = 4_000
/** Until targets are read again that could not be read: at first, and at most. It doubles, because there may be many. */
const REFRESH_FIRST_MS = 4_000
const REFRESH_MS_MAX = 32_000
/** What other gateways need to announce themselves again, once they have noticed the same trouble. */
const ANNOUNCE_MS = 1_500

export interface Membership {
  isHealthy(): boolean
  /** Leaves in order: what is still attached is lost from now on. */
  stop(): Promise<void>
}

export interface MembershipParts {
  identity: ChangingIdentity
  doubts: Doubts
  store: PresenceStore
  bus: Bus
  inbox: Inbox
  tracker: Tracker
  sessions: Pick<Connections['sessions'], 'announceAgain'>
  ownViews: Pick<Connections['ownViews'], 'forgetRevisions'>
  watching: Pick<Watching, 'registerAgain' | 'distrust' | 'refresh' | 'readUnsure'>
  clock: Clock
  logger: Logger
  tally: Tally
  leaseMs: number
}

const everyUser = () => true
const ignore = () => {}

export async function startMembership(parts: MembershipParts): Promise<Membership> {
  const { identity, doubts, store, bus, inbox, tracker, sessions, ownViews, watching } = parts
  const { clock, logger, tally, leaseMs } = parts
  tally.resyncs.announce(['gateway', 'shards'])
  let state: 'whole' | 'doubtful' | 'healing' | 'stopped' = 'whole'
  let provenAt = clock.now()
  let renewal: Promise<void> | null = null
  let retry: Timer | null = null
  let finishing: Timer | null = null
  const renewMs = Math.min(leaseMs / RENEWALS_PER_LEASE, RENEW_MS_MAX)
  let retryMs = RETRY_FIRST_MS
  let refreshMs = REFRESH_FIRST_MS
  /** Announcements of shards that are under way. */
  let announcing = 0
  /** Shards that lost their memory while the gateway healed. */
  const lostMeanwhile = new Set<number>()

  const subscribe = () =>
    bus.subscribe(
      identity.id(),
      inbox,
      () => doubts.report('messages may have been missed'),
      watching.distrust,
    )

  // Ever later, and not all gateways at once: healing is work for a store that may have too much of it.
  function tickSoon(): void {
    retry?.stop()
    retry = clock.after(jittered(retryMs), () => void tick())
    retryMs = Math.min(retryMs * 2, RETRY_MS_MAX)
  }

  function keepAlive(): void {
    // This process was stopped for so long that others take it for gone and tell it nothing.
    if (clock.now() - provenAt >= leaseMs) watching.distrust()
    if (state !== 'whole') keepNames()
    if (state !== 'healing') void tick()
  }

  // Healing can take longer than a lease, as long as a part of the store is away. Sessions that are not announced under
  // the new name yet are known by a former one, so all of these must outlive it. All are renewed for longer than usual: by
  // that, other processes see that a gateway heals. A failure here fails the healing too.
  function keepNames(): void {
    const until = clock.now() + leaseMs * HEALING_SHARE
    for (const id of [identity.id(), ...identity.formerIds()]) store.renewLease(id, until).catch(ignore)
  }

  async function renew(): Promise<void> {
    if (state === 'stopped' || state === 'healing') return
    if (state === 'doubtful') return heal()
    const now = clock.now()
    try {
      const heldMs = announcing > 0 ? leaseMs * HEALING_SHARE : leaseMs
      if (await store.renewLease(identity.id(), now + heldMs)) provenAt = now
      else return doubt('the store does not know our lease')
      await store.lookAtShards(now)
      // The lease must not wait for a slow archive.
      void watching.readUnsure()
    } catch {
      doubt('the lease could not be renewed')
    }
  }

  function doubt(why: string, shards?: readonly number[]): void {
    if (state === 'stopped') return
    watching.distrust()
    // Everything is announced while it heals, but perhaps these shards had their part already.
    if (shards !== undefined && state === 'healing') {
      for (const shard of shards) lostMeanwhile.add(shard)
      return
    }
    if (shards !== undefined && state === 'whole') return void announceShards(shards, why)
    if (state === 'whole')
      logger.warn({ gateway: identity.id(), why }, 'something may have been lost; starting again')
    state = 'doubtful'
    tickSoon()
  }

  async function heal(): Promise<void> {
    state = 'healing'
    tally.resyncs.add('gateway')
    const formerly = identity.id()
    const startedAt = clock.now()
    try {
      const next = newGatewayId()
      await store.openLease(next, startedAt + leaseMs * HEALING_SHARE)
      identity.rename(next, provenAt)
      // Shards that are empty already are announced with all others, and not once more after that.
      await store.lookAtShards(startedAt)
      lostMeanwhile.clear()
      await announceAll()
      provenAt = startedAt
      // Trouble that came meanwhile has changed the state, and healing begins again.
      if (!isStill('healing')) return
      state = 'whole'
      logger.info({ gateway: next, formerly, tookMs: clock.now() - startedAt }, 'announced again')
      finishing?.stop()
      finishing = clock.after(renewMs + RETRY_FIRST_MS * 2 + ANNOUNCE_MS, () => void finish(next))
      if (lostMeanwhile.size > 0) doubt('shards lost their memory meanwhile', [...lostMeanwhile])
    } catch (error) {
      logger.debug({ err: error }, 'healing did not get through; trying again')
      if (!isStill('stopped')) state = 'doubtful'
      tickSoon()
    }
  }

  /** What belongs to these shards is announced again; the rest of the store is as it was. */
  async function announceShards(shards: readonly number[], why: string): Promise<void> {
    logger.warn({ gateway: identity.id(), shards: shards.length }, `${why}; announcing again`)
    tally.resyncs.add('shards')
    const lost = new Set(shards)
    const isLost = (userId: string) => lost.has(store.shardOf(userId))
    const name = identity.id()
    announcing++
    try {
      await watching.registerAgain(isLost)
      await sessions.announceAgain(isLost)
      if (name !== identity.id() || !isStill('whole')) return
      finishing?.stop()
      finishing = clock.after(ANNOUNCE_MS, () => void finish(name))
    } catch {
      doubt('shards could not be announced again')
    } finally {
      announcing--
    }
  }

  const isStill = (expected: typeof state): boolean => state === expected

  /** Listens under the present name and announces everything again. */
  async function announceAll(): Promise<void> {
    const former = unsubscribe
    unsubscribe = await subscribe()
    former()
    ownViews.forgetRevisions()
    await watching.registerAgain(everyUser)
    await sessions.announceAgain(everyUser)
  }

  async function finish(healedId: string): Promise<void> {
    if (healedId !== identity.id() || state !== 'whole') return
    try {
      for (const [formerId, goodUntil] of [...identity.former()]) {
        const lostAt = Math.min(clock.now(), goodUntil + leaseMs)
        await loseGateway(tracker, formerId, await store.usersOf(formerId), lostAt, leaseMs)
        await store.dropGateway(formerId)
        identity.drop(formerId)
      }
      // What could not be read is read when the archive answers, or the store has settled.
      if (await watching.refresh()) refreshMs = REFRESH_FIRST_MS
      else {
        finishing = clock.after(refreshMs, () => void finish(healedId))
        refreshMs = Math.min(refreshMs * 2, REFRESH_MS_MAX)
      }
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

  let unsubscribe = await subscribe()
  await store.openLease(identity.id(), clock.now() + leaseMs)
  provenAt = clock.now()
  doubts.listen(doubt)
  const heartbeat = clock.every(renewMs, keepAlive)

  return {
    isHealthy: () => state === 'whole',
    async stop() {
      state = 'stopped'
      for (const timer of [heartbeat, retry, finishing]) timer?.stop()
      unsubscribe()
      await renewal
      await store
        .retireGateway(identity.id(), clock.now())
        .catch((error) => logger.warn({ err: error }, 'the lease could not be given up; it will run out'))
    },
  }
}
