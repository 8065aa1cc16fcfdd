// Sends a tick to every user whose deadline has passed, and declares sessions lost whose gateway's lease ran
// out. It decides nothing, so sweepers that overlap are wasteful and harmless. Several sweepers share the
// shards by hashing their names. Each looks at its own shards for users that are due, and at the others'
// shards for users that are late, so a sweeper that died need not be noticed.
import type { Clock, Timer } from '../../platform/clock.ts'
import type { Logger } from '../../platform/logger.ts'
import type { PresenceStore } from '../../store/port.ts'
import { lookAtGatewayLeases } from '../cluster/gateway-leases.ts'
import { ownerOf, SWEEPER_PREFIX } from '../cluster/shard-owner.ts'
import type { DutySweep } from './duty-sweep.ts'
import { loseGateway } from './gateway-loss.ts'
import type { Tracker } from './tracker.ts'

/** Four rounds in the second that a visible change may be late. */
const SWEEP_EVERY_MS = 250
const DUE_BATCH_MAX = 1_000
/** Bounds a round on one shard, should ticks fail to move the queue. */
const BATCHES_MAX = 1_000
/** Past a deadline by this much, the sweeper of the shard is taken to be gone. */
const LATE_MS = 400
/** Dropping old records can wait, so it is not done in every round. */
const FORGET_EVERY_ROUNDS = 8
/** About once a second. */
const DUTIES_EVERY_ROUNDS = 4
const FORGET_BATCH_MAX = 20_000
/** After an outage gateways announce their sessions again; until then a missing session proves nothing. */
const ANNOUNCE_MS = 3_000
/** Renewals that may fail before the lease runs out. */
const RENEWALS_PER_LEASE = 5
/** Without a renewal for this share of a lease, leases may run out of processes that live. */
const HELD_UP_SHARE = 0.5

export interface Sweeper {
  stop(): Promise<void>
  /** How late the last round found the oldest deadline. */
  lagMs(): number
}

export interface SweeperParts {
  store: PresenceStore
  tracker: Tracker
  dutySweep: DutySweep
  clock: Clock
  logger: Logger
  /** The name of this sweeper among others, and how long leases last. Null when it is alone. */
  cluster: { name: string; leaseMs: number } | null
}

export function startSweeper(parts: SweeperParts): Sweeper {
  const { store, tracker, dutySweep, clock, logger, cluster } = parts
  let round: Promise<void> | null = null
  let lagMs = 0
  let isFailing = false
  let rounds = 0
  let names: readonly string[] = []
  let orphansLookedAt = 0
  let suspects = new Set<string>()
  let leaseUntil = 0
  let isRenewing = false
  /** Since when the store has answered, and updates got through, without a break. A start counts as a break. */
  let steadySince = clock.now()

  async function renewLease(name: string, leaseMs: number): Promise<void> {
    const now = clock.now()
    if (leaseUntil - now < leaseMs / 2) {
      const isKnown = leaseUntil > 0 && (await store.renewLease(name, now + leaseMs))
      if (!isKnown) {
        // Either this is the start, or the store has lost the lease and everything else.
        if (leaseUntil > 0) steadySince = now
        else if (await areGatewaysAnnounced(now, leaseMs)) steadySince = now - ANNOUNCE_MS
        await store.openLease(name, now + leaseMs)
      }
      renewed(now + leaseMs, leaseMs)
    }
    names = (await store.liveLeases(now)).filter((other) => other.startsWith(SWEEPER_PREFIX))
  }

  // As often as gateways renew theirs, and beside the rounds, which may take long: when it runs out all the same, the
  // store holds up renewals.
  async function keepLease(name: string, leaseMs: number): Promise<void> {
    if (isRenewing || leaseUntil === 0) return
    isRenewing = true
    const until = clock.now() + leaseMs
    const isKnown = await store.renewLease(name, until).catch(() => false)
    if (isKnown) renewed(until, leaseMs)
    isRenewing = false
  }

  // A renewal this late was delayed, and so were the renewals of gateways.
  function renewed(until: number, leaseMs: number): void {
    if (leaseUntil > 0 && until - leaseUntil > leaseMs * HELD_UP_SHARE) steadySince = clock.now()
    leaseUntil = Math.max(leaseUntil, until)
  }

  /** Whether there are gateways, and all of them have announced their sessions. */
  async function areGatewaysAnnounced(now: number, leaseMs: number): Promise<boolean> {
    const { held, fresh } = await lookAtGatewayLeases(store, now, leaseMs)
    return held > 0 && fresh === held
  }

  const isOurs = (shard: number): boolean => cluster === null || ownerOf(shard, names) === cluster.name

  async function sweepShard(shard: number): Promise<number> {
    let worstMs = 0
    // A user that is being looked up in the archive stays due after its tick. Other users come behind it.
    const ticked = new Map<string, number>()
    let staying = 0
    for (let batch = 0; batch < BATCHES_MAX; batch++) {
      const now = clock.now() - (isOurs(shard) ? 0 : LATE_MS)
      const limit = DUE_BATCH_MAX + staying
      const all = await store.due(shard, now, limit)
      const due = all.filter(({ userId, dueAt }) => ticked.get(userId) !== dueAt)
      staying = all.length - due.length
      for (const { userId, dueAt } of due) {
        worstMs = Math.max(worstMs, now - dueAt)
        ticked.set(userId, dueAt)
        tracker.report(userId, { type: 'tick' })
      }
      await tracker.catchUp()
      if (all.length < limit) break
    }
    return worstMs
  }

  // Sessions on a gateway without a lease that is not lost either would live for ever. The lease was lost with
  // a part of the store, or a session was committed after the gateway had been dropped.
  async function retireOrphans(leaseMs: number): Promise<void> {
    const now = clock.now()
    if (now < orphansLookedAt + leaseMs) return
    orphansLookedAt = now
    const leased = new Set(await store.liveLeases(0))
    const lost = new Set((await store.lostGateways(now)).map(({ gatewayId }) => gatewayId))
    const orphans = (await store.attachedGateways()).filter((name) => !leased.has(name) && !lost.has(name))
    // A gateway that heals has sessions before its lease is seen, so only a name found twice is an orphan.
    for (const name of orphans) if (suspects.has(name)) await store.retireGateway(name, now)
    suspects = new Set(orphans)
  }

  /** Not before all gateways have announced their sessions again. */
  async function lookAtRows(leaseMs: number): Promise<void> {
    const now = clock.now()
    const settled = Array.from({ length: store.shardCount }, (_, shard) => store.settlesAt(shard))
    const since = Math.max(steadySince, ...settled)
    if (now - since < 2 * leaseMs || !(await areGatewaysAnnounced(now, leaseMs))) return
    await dutySweep.staleRows.look(since, isOurs)
  }

  /** False while renewals of leases were held up less than a lease ago, by the store or by a pause of this process. */
  function areLeasesProof(leaseMs: number): boolean {
    const now = clock.now()
    // The store may be well: this process may have been paused.
    if (now - (leaseUntil - leaseMs) > leaseMs * HELD_UP_SHARE) steadySince = now
    return now - steadySince >= leaseMs
  }

  async function declareLost(leaseMs: number): Promise<void> {
    if (!areLeasesProof(leaseMs)) return
    await retireOrphans(leaseMs)
    // That may have taken long.
    if (!areLeasesProof(leaseMs)) return
    for (const { gatewayId, lostAt } of await store.lostGateways(clock.now())) {
      const userIds = await store.usersOf(gatewayId)
      if (userIds.length > 0) logger.warn({ gateway: gatewayId, users: userIds.length }, 'a gateway is lost')
      await loseGateway(tracker, gatewayId, userIds, lostAt, leaseMs)
      await store.dropGateway(gatewayId)
    }
  }

  async function sweep(): Promise<void> {
    if (cluster !== null) await renewLease(cluster.name, cluster.leaseMs)
    if (rounds % DUTIES_EVERY_ROUNDS === 0) await store.lookAtShards(clock.now())
    if (!tracker.isReachable()) steadySince = clock.now()
    const steadyMs = clock.now() - steadySince
    if (cluster === null || steadyMs >= ANNOUNCE_MS) {
      const now = clock.now()
      const shards = Array.from({ length: store.shardCount }, (_, shard) => shard).filter(
        (shard) => now >= store.settlesAt(shard) - (cluster?.leaseMs ?? 0),
      )
      lagMs = Math.max(0, ...(await Promise.all(shards.map(sweepShard))))
      if (rounds % DUTIES_EVERY_ROUNDS === 0) {
        await Promise.all(shards.map((shard) => dutySweep.sweep(shard, now, isOurs(shard))))
        if (cluster !== null) await lookAtRows(cluster.leaseMs)
      }
    }
    if (cluster !== null) await declareLost(cluster.leaseMs)
    if (rounds++ % FORGET_EVERY_ROUNDS === 0) await store.forget(clock.now(), FORGET_BATCH_MAX)
  }

  function nextRound(): void {
    // Rounds do not overlap.
    round ??= sweep()
      .then(() => {
        isFailing = false
      })
      .catch((error) => {
        steadySince = clock.now()
        if (!isFailing) logger.error({ err: error }, 'sweeping fails; every round tries again')
        isFailing = true
      })
      .finally(() => {
        round = null
      })
  }
  nextRound()
  const timers: Timer[] = [clock.every(SWEEP_EVERY_MS, nextRound)]
  if (cluster !== null) {
    const { name, leaseMs } = cluster
    timers.push(clock.every(leaseMs / RENEWALS_PER_LEASE, () => void keepLease(name, leaseMs)))
  }

  return {
    async stop() {
      for (const timer of timers) timer.stop()
      await round
      if (cluster !== null) await store.dropGateway(cluster.name).catch(ignore)
    },
    lagMs: () => lagMs,
  }
}

/** The lease of a sweeper that could not be dropped runs out by itself. */
const ignore = () => {}
