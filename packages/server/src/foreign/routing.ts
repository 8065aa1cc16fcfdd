// Any process may receive any batch of a foreign gateway, and one process holds its sessions: the one whose name hashes
// highest with that of the foreign gateway. So what a session last said is remembered in one place, and an unchanged
// batch writes nothing. A holder that does not answer is passed over for a lease, and its batches go to the process that
// hashes next. The sessions that the former holder has in its table get no more heartbeats and end by their time to
// live. Each process that can hold keeps a lease in the store, as gateways do; so all processes know the same holders.
import type { Bus } from '../bus/port.ts'
import type { Clock, Timer } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import { createPendingAnswers } from '../presence/pending-answers.ts'
import { HOLDER_PREFIX, ownerOf } from '../presence/pipeline/shard-owner.ts'
import { Unavailable } from '../presence/unavailable.ts'
import type { PresenceStore } from '../store/port.ts'
import { decodeBatch, encodeBatch, type ForeignBatch, type Rejection } from './batch.ts'

/** How old the list of holders may be. */
const NAMES_MS = 1_000
const RENEWALS_PER_LEASE = 5
/** After this time without an answer another holder is asked. */
const ANSWER_MS_MAX = 3_000
/** Holders that are asked, one after the other. */
const ATTEMPTS_MAX = 3

const NO_HOLDER = 'no process with the role gateway takes sessions of foreign gateways now; try again soon'

/** The sessions that a process holds. */
export interface Holder {
  /** Resolves when the batch is recorded, with the entries that were refused. */
  record(batch: ForeignBatch): Promise<readonly Rejection[]>
  /** Everything that is held, as batches. */
  held(): ForeignBatch[]
}

export interface ForeignRouting {
  /** Hands the batch to its holder. Fails with `Unavailable` when none answers. */
  record(batch: ForeignBatch): Promise<readonly Rejection[]>
  /** This process holds sessions from now on. */
  hold(holder: Holder): Promise<void>
  /** This process is going away: others hold its sessions from now on, so that none of them is missed. */
  handOver(): Promise<void>
  stop(): Promise<void>
}

export interface ForeignRoutingParts {
  store: PresenceStore
  bus: Bus
  clock: Clock
  logger: Logger
  /** The name of this process among others, and how long leases last. Null when it is alone. */
  cluster: { name: string; leaseMs: number } | null
}

export async function startForeignRouting(parts: ForeignRoutingParts): Promise<ForeignRouting> {
  const { cluster } = parts
  return cluster === null ? routeAlone() : routeAmong(parts, cluster)
}

function routeAlone(): ForeignRouting {
  let held: Holder | null = null
  return {
    async record(batch) {
      if (held === null) throw new Unavailable('no holder', { advice: NO_HOLDER })
      return held.record(batch)
    },
    async hold(holder) {
      held = holder
    },
    handOver: async () => {},
    stop: async () => {},
  }
}

async function routeAmong(
  { store, bus, clock, logger }: ForeignRoutingParts,
  { name, leaseMs }: { name: string; leaseMs: number },
): Promise<ForeignRouting> {
  const answers = createPendingAnswers<readonly Rejection[]>(clock)
  /** Until when each is passed over. */
  const silent = new Map<string, number>()
  let own: Holder | null = null
  let isLeaving = false
  let names: readonly string[] = []
  let namesAt = Number.NEGATIVE_INFINITY
  let looking: Promise<void> | null = null
  let renewing: Timer | null = null

  async function answer(from: string, ref: string, text: string): Promise<void> {
    if (own === null) return
    const rejections = await own.record(decodeBatch(text))
    await bus.publish(from, [{ kind: 'foreign_answer', ref, rejections }])
  }

  const unsubscribe = await bus.subscribe(name, (messages) => {
    for (const message of messages) {
      if (message.kind === 'foreign_answer') answers.resolve(message.ref, message.rejections)
      else if (message.kind === 'foreign')
        answer(message.from, message.ref, message.text).catch((error: unknown) =>
          logger.error({ err: error }, 'a batch of a foreign gateway failed'),
        )
    }
  })

  async function renew(): Promise<void> {
    const until = clock.now() + leaseMs
    // The store may have lost it with everything else.
    if (!(await store.renewLease(name, until))) await store.openLease(name, until)
  }

  /** One look for all that ask meanwhile. */
  function lookForNames(): Promise<void> {
    const now = clock.now()
    if (now - namesAt < NAMES_MS) return Promise.resolve()
    looking ??= store
      .liveLeases(now)
      .then((found) => {
        names = found.filter((one) => one.startsWith(HOLDER_PREFIX))
        namesAt = now
      })
      .finally(() => {
        looking = null
      })
    return looking
  }

  async function holderOf(gatewayId: string): Promise<string | null> {
    const isHolding = own !== null && !isLeaving
    try {
      await lookForNames()
    } catch {
      // Without the store no other process can be reached either.
      return isHolding ? name : null
    }
    const now = clock.now()
    for (const [other, until] of silent) if (until <= now) silent.delete(other)
    const others = names.filter((other) => other !== name && !silent.has(other))
    return ownerOf(gatewayId, isHolding ? [...others, name] : others)
  }

  function ask(holder: string, batch: ForeignBatch): Promise<readonly Rejection[]> {
    const { ref, answer } = answers.wait(ANSWER_MS_MAX)
    void bus.publish(holder, [{ kind: 'foreign', from: name, ref, text: encodeBatch(batch) }])
    return answer
  }

  async function record(batch: ForeignBatch): Promise<readonly Rejection[]> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const holder = await holderOf(batch.gatewayId)
      if (holder === null) break
      if (holder === name) return own!.record(batch)
      try {
        return await ask(holder, batch)
      } catch {
        silent.set(holder, clock.now() + leaseMs)
      }
    }
    throw new Unavailable('no holder', { advice: NO_HOLDER })
  }

  return {
    record,
    async hold(holder) {
      own = holder
      await renew()
      renewing = clock.every(leaseMs / RENEWALS_PER_LEASE, () => {
        // A renewal that fails is repeated long before the lease runs out.
        renew().catch(() => {})
      })
    },
    async handOver() {
      if (own === null) return
      isLeaving = true
      renewing?.stop()
      try {
        await store.dropGateway(name)
        namesAt = Number.NEGATIVE_INFINITY
        await Promise.all(own.held().map(record))
      } catch (error) {
        logger.info(
          { err: error },
          'sessions of foreign gateways were not handed over; their next batch begins anew',
        )
      }
    },
    async stop() {
      renewing?.stop()
      answers.stop()
      unsubscribe()
    },
  }
}
