// Any process may receive any batch of a foreign gateway, and one process holds its sessions: the one whose name hashes
// highest with that of the foreign gateway. So what a session last said is remembered in one place, and an unchanged
// batch writes nothing. A holder says at once that it has a batch, and answers when its new sessions are committed. Only
// one that does not even say so is passed over; the next one holds from then on. A holder that is no longer the one for a
// gateway, because a process joined or this one leaves, hands its sessions to the next and then ends its own.
import type { Bus } from '../bus/port.ts'
import type { Clock, Timer } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import type { Tally } from '../platform/measuring/tally.ts'
import { within } from '../platform/within.ts'
import { createPendingAnswers } from '../presence/pending-answers.ts'
import { Unavailable } from '../presence/unavailable.ts'
import type { PresenceStore } from '../store/port.ts'
import {
  decodeBatch,
  encodeBatch,
  type ForeignBatch,
  type ForeignDevice,
  REJECTION_CODES,
  type Rejection,
} from './batch.ts'
import { createHolders } from './holders.ts'

const RENEWALS_PER_LEASE = 5
/** After this time without a sign that the holder has the batch another one is asked. */
const RECEIPT_MS_MAX = 3_000
/** How long a holder that has the batch may take to record it. */
const RECORDED_MS_MAX = 10_000
/** A process that goes away begins no further batch after this time. */
const HAND_OVER_MS_MAX = 10_000
/** Holders that are asked, one after the other. */
const ATTEMPTS_MAX = 3

const NO_HOLDER = 'no process with the role gateway takes sessions of foreign gateways now; try again soon'

/** The sessions that a process holds. */
export interface Holder {
  /** Resolves when the batch is recorded, with the entries that were refused. */
  record(batch: ForeignBatch): Promise<readonly Rejection[]>
  /** Everything that is held, as batches. */
  held(): ForeignBatch[]
  /** Another process holds these sessions now. */
  release(gatewayId: string, sessions: readonly ForeignDevice[]): void
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
  tally: Tally
  /** The name of this process among others, and how long leases last. Null when it is alone. */
  cluster: { name: string; leaseMs: number } | null
}

export async function startForeignRouting(parts: ForeignRoutingParts): Promise<ForeignRouting> {
  const { cluster, tally } = parts
  tally.foreignRejections.announce(REJECTION_CODES)
  return cluster === null ? routeAlone(parts) : routeAmong(parts, cluster)
}

type Route = ForeignRouting['record']

/** Counted where a batch comes in, not on its way between processes. */
function counted(tally: Tally, route: Route): Route {
  return async (batch) => {
    tally.foreignBatches++
    tally.foreignEntries += batch.sessions.length + batch.disconnected.length
    const rejections = await route(batch)
    for (const { code } of rejections) tally.foreignRejections.add(code)
    return rejections
  }
}

function routeAlone({ tally }: ForeignRoutingParts): ForeignRouting {
  let held: Holder | null = null
  return {
    record: counted(tally, async (batch) => {
      if (held === null) throw new Unavailable('no holder', { advice: NO_HOLDER })
      return held.record(batch)
    }),
    async hold(holder) {
      held = holder
    },
    handOver: async () => {},
    stop: async () => {},
  }
}

async function routeAmong(
  { store, bus, clock, logger, tally }: ForeignRoutingParts,
  { name, leaseMs }: { name: string; leaseMs: number },
): Promise<ForeignRouting> {
  const answers = createPendingAnswers<readonly Rejection[]>(clock)
  const holders = createHolders({ store, clock, name, leaseMs })
  /** Batches that their holder has, and has not recorded yet. */
  const received = new Set<string>()
  /** Batches of other processes that this one has not answered yet. */
  const answering = new Set<Promise<void>>()
  let own: Holder | null = null
  let isLeaving = false
  let renewing: Timer | null = null
  /** When this process last looked whether it is still the holder of what it holds. */
  let lastLook = { isRunning: false, edition: '' }
  /** Foreign gateways whose sessions this process is handing on, and whether their batch came back to it. */
  const handedOn = new Map<string, { isBack: boolean }>()

  // The next holder may be leaving or silent, and then the batch may come back: these sessions stay here.
  function recordHere(holder: Holder, batch: ForeignBatch): Promise<readonly Rejection[]> {
    const handing = handedOn.get(batch.gatewayId)
    if (handing !== undefined) handing.isBack = true
    return holder.record(batch)
  }

  async function answer(from: string, ref: string, text: string): Promise<void> {
    const holder = own
    if (holder === null) return
    await bus.publish(from, [{ kind: 'foreign_answer', ref, rejections: null }])
    const batch = decodeBatch(text)
    // A process that has not heard yet that this one leaves, or that another one has joined, may send it here.
    const isHere = batch.isHandedOn && !isLeaving
    const rejections = await (isHere ? recordHere(holder, batch) : route({ ...batch, isHandedOn: true }))
    await bus.publish(from, [{ kind: 'foreign_answer', ref, rejections }])
  }

  const unsubscribe = await bus.subscribe(name, (messages) => {
    for (const message of messages) {
      if (message.kind === 'foreign_answer') {
        const { ref, rejections } = message
        if (rejections !== null) answers.resolve(ref, rejections)
        else if (answers.postpone(ref, RECORDED_MS_MAX)) received.add(ref)
      } else if (message.kind === 'foreign') {
        const answered = answer(message.from, message.ref, message.text)
          .catch((error: unknown) => logger.error({ err: error }, 'a batch of a foreign gateway failed'))
          .finally(() => answering.delete(answered))
        answering.add(answered)
      }
    }
  })

  async function renew(): Promise<void> {
    const until = clock.now() + leaseMs
    // The store may have lost it with everything else.
    if (!(await store.renewLease(name, until))) await store.openLease(name, until)
  }

  /** Null when the holder is silent. */
  async function ask(holder: string, batch: ForeignBatch): Promise<readonly Rejection[] | null> {
    const { ref, answer } = answers.wait(RECEIPT_MS_MAX)
    void bus.publish(holder, [{ kind: 'foreign', from: name, ref, text: encodeBatch(batch) }])
    try {
      return await answer
    } catch (error) {
      // It lives and is slow. Another holder would open the same sessions once more.
      if (received.has(ref)) throw error
      return null
    } finally {
      received.delete(ref)
    }
  }

  async function route(batch: ForeignBatch): Promise<readonly Rejection[]> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const here = isLeaving ? null : own
      const holder = await holders.of(batch.gatewayId, here !== null)
      if (holder === null) break
      if (holder === name) return recordHere(here!, batch)
      const rejections = await ask(holder, batch)
      if (rejections !== null) return rejections
      holders.passOver(holder)
      tally.foreignHoldersPassedOver++
    }
    throw new Unavailable('no holder', { advice: NO_HOLDER })
  }

  /** Sessions whose gateway has another holder now go there. One batch at a time, so that none is late by the others. */
  async function handOn(until: number): Promise<void> {
    for (const batch of own?.held() ?? []) {
      if (clock.now() >= until) return
      const holder = await holders.of(batch.gatewayId, !isLeaving)
      if (holder === null || holder === name) continue
      const handing = { isBack: false }
      handedOn.set(batch.gatewayId, handing)
      const rejections = await route({ ...batch, isHandedOn: true }).finally(() =>
        handedOn.delete(batch.gatewayId),
      )
      const refused = new Set(rejections.map(({ index }) => index))
      const taken = batch.sessions.filter((_, index) => !refused.has(index))
      // At a stop they end with this gateway.
      if (!isLeaving && !handing.isBack) own?.release(batch.gatewayId, taken)
    }
  }

  /** After a process joined, or one that was silent is back. What is not handed on ends by its time to live. */
  async function look(): Promise<void> {
    if (own === null || isLeaving || lastLook.isRunning) return
    const edition = await holders.edition()
    if (edition === lastLook.edition) return
    lastLook = { isRunning: true, edition }
    await handOn(Number.POSITIVE_INFINITY).finally(() => {
      lastLook = { ...lastLook, isRunning: false }
    })
  }

  return {
    record: counted(tally, route),
    async hold(holder) {
      own = holder
      await renew()
      renewing = clock.every(leaseMs / RENEWALS_PER_LEASE, () => {
        // What fails is repeated long before the lease runs out.
        renew().catch(() => {})
        look().catch(() => {})
      })
    },
    async handOver() {
      if (own === null) return
      isLeaving = true
      renewing?.stop()
      try {
        await store.dropGateway(name)
        holders.lookAgain()
        await handOn(clock.now() + HAND_OVER_MS_MAX)
      } catch (error) {
        logger.info(
          { err: error },
          'sessions of foreign gateways were not handed over; their next batch begins anew',
        )
      }
    },
    async stop() {
      renewing?.stop()
      // No more are accepted. Those that were are answered: the process that sent them would wait for it.
      own = null
      await within(clock, RECEIPT_MS_MAX, Promise.all(answering), () => [])
      answers.stop()
      unsubscribe()
    },
  }
}
