// The app disconnects users. A disconnect is in the archive before anything else happens, so it is carried out by every
// process, whatever dies: each hears of it over the bus, reads those it may have missed, and reads all that are in force
// when it starts. Afterwards it refuses tokens that were issued before, for as long as the app said, and its gateway ends
// the connections. Carrying one out twice changes nothing: connections that began later are not meant, unless their token
// is refused.
import type { Failure } from '@greendot/protocol'
import type { Archive, DisconnectRow, KeptDisconnect } from '../../archive/port.ts'
import type { Bus, Disconnect } from '../../bus/port.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/logger.ts'
import type { Tracker } from '../pipeline/tracker.ts'
import { Unavailable } from '../unavailable.ts'

/** Every process listens here. */
const CHANNEL = 'disconnects'
/** A message that the bus lost is found that late. */
const CHECK_EVERY_MS = 5_000
/** Rows may become visible in another order than they were dated. */
const OVERLAP_MS = 30_000
const KEPT_MS = 600_000
const CHECKS_PER_TRIM = 12
const ROWS_PER_PAGE = 1_000
/** Users whose older tokens are refused at the same time. */
const REFUSED_MAX = 100_000

/** For a token that was issued before a disconnect. */
export const TOKEN_REFUSED: Failure = {
  code: 'unauthorized',
  message: 'The app disconnected this user, and the token was issued before that: get a new one',
}

export type DisconnectRequest = Pick<DisconnectRow, 'deviceId' | 'until' | 'reason'>

export interface Disconnects {
  /** Resolves when the sessions are over and the archive has it. */
  disconnect(userId: string, request: DisconnectRequest): Promise<Failure | null>
  /** Whether a token is refused. `issuedAt` is null for a token that does not say when it was issued. */
  isRefused(userId: string, issuedAt: number | null): boolean
  /** There is one listener: the gateway of this process. */
  listen(listener: (userId: string, disconnect: Disconnect) => void): void
  stop(): void
}

export interface DisconnectsParts {
  archive: Archive
  bus: Bus
  tracker: Tracker
  clock: Clock
  /** For the instants in tokens. */
  tokenClock: Pick<Clock, 'now'>
  logger: Logger
  /** No other process shares the archive, so nothing is missed. */
  isAlone: boolean
}

/** Resolves when those in force are known. */
export async function startDisconnects(parts: DisconnectsParts): Promise<Disconnects> {
  const { archive, bus, tracker, clock, tokenClock, logger, isAlone } = parts
  const refused = new Map<string, { issuedBefore: number; until: number }>()
  let listener: (userId: string, disconnect: Disconnect) => void = () => {}
  let checkedAt = tokenClock.now()
  let checks = 0
  let isChecking = false

  function learn(userId: string, disconnect: Disconnect): void {
    const { issuedBefore, until } = disconnect
    if (until !== null && until > tokenClock.now()) {
      const known = refused.get(userId)
      refused.set(userId, {
        issuedBefore: Math.max(issuedBefore, known?.issuedBefore ?? 0),
        until: Math.max(until, known?.until ?? 0),
      })
    }
    listener(userId, disconnect)
  }

  /** Those since an instant, and where it is given also those in force at another. */
  async function read(since: number, inForceAt: number | null): Promise<void> {
    let after: DisconnectRow | null = null
    for (;;) {
      const wanted = { since, inForceAt, after, limit: ROWS_PER_PAGE }
      const rows: KeptDisconnect[] = await archive.disconnects.page(wanted)
      for (const row of rows) for (const one of disconnectsIn(row)) learn(row.userId, one)
      after = rows.at(-1) ?? null
      if (rows.length < ROWS_PER_PAGE) return
    }
  }

  async function check(): Promise<void> {
    if (isChecking) return
    isChecking = true
    const now = tokenClock.now()
    for (const [userId, { until }] of refused) if (until <= now) refused.delete(userId)
    try {
      // Those in force were read at the start, and each one since then when it was new.
      if (!isAlone) await read(checkedAt - OVERLAP_MS, null)
      checkedAt = now
      if (++checks % CHECKS_PER_TRIM === 0) await archive.disconnects.trim(now - KEPT_MS, now)
    } catch (error) {
      logger.debug({ err: error }, 'disconnects cannot be read; tried again at the next check')
    } finally {
      isChecking = false
    }
  }

  const unsubscribe = await bus.subscribe(
    CHANNEL,
    (messages) => {
      for (const message of messages)
        if (message.kind === 'disconnect') learn(message.userId, message.disconnect)
    },
    () => void check(),
  )
  await read(checkedAt, checkedAt)
  const timer = clock.every(CHECK_EVERY_MS, () => void check())

  return {
    async disconnect(userId, { deviceId, until, reason }) {
      const issuedBefore = tokenClock.now()
      if (until !== null && until <= issuedBefore)
        return { code: 'invalid_expiry', message: 'until lies in the past' }
      if (until !== null && refused.size >= REFUSED_MAX && !refused.has(userId))
        return { code: 'overloaded', message: `tokens of ${REFUSED_MAX} users are refused already` }
      await archive.disconnects
        .write({ userId, deviceId, at: issuedBefore, until, reason })
        .catch((error: unknown) => {
          throw new Unavailable('the archive does not answer', { cause: error })
        })
      const disconnect: Disconnect = { deviceId, at: clock.now(), issuedBefore, until, reason }
      learn(userId, disconnect)
      await bus.publish(CHANNEL, [{ kind: 'disconnect', userId, disconnect }])
      const at = clock.now() + 1
      // Gateways end the sessions too. Where the store is away they do it when it is back.
      await tracker
        .apply(userId, deviceId === null ? { type: 'user_left', at } : { type: 'device_left', at, deviceId })
        .catch((error: unknown) => {
          if (!(error instanceof Unavailable)) throw error
        })
      return null
    },
    isRefused(userId, issuedAt) {
      if (refused.size === 0) return false
      const found = refused.get(userId)
      if (found === undefined || found.until <= tokenClock.now()) return false
      return issuedAt === null || issuedAt < found.issuedBefore
    },
    listen(next) {
      listener = next
    },
    stop() {
      timer.stop()
      unsubscribe()
    },
  }
}

/** A row is the last disconnect and the last one with `until`, which may be two. */
function disconnectsIn({ deviceId, at, until, issuedBefore, reason }: KeptDisconnect): Disconnect[] {
  if (until === null || issuedBefore === null)
    return [{ deviceId, at, issuedBefore: at, until: null, reason }]
  const refusing = { deviceId, at: issuedBefore, issuedBefore, until, reason }
  return at === issuedBefore ? [refusing] : [refusing, { ...refusing, at, issuedBefore: at, until: null }]
}
