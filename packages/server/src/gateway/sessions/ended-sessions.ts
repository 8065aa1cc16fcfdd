// Sessions without a socket that the app disconnected. They cannot be told by a close, so their heartbeats are refused
// until they have been silent for the time to live. A token that was issued after the disconnect begins anew.
import type { Failure } from '@greendot/protocol'
import type { Clock } from '../../platform/clock.ts'
import { createRecentMap } from '../../platform/recent-map.ts'

/** Past it the oldest are forgotten, and begin anew with their next heartbeat. */
const ENDED_MAX = 100_000

export interface SessionKey {
  /** The foreign gateway that reports the session; null for our own. */
  foreign: string | null
  userId: string
  deviceId: string
}

export interface EndedSessions {
  end(key: SessionKey, issuedBefore: number, failure: Failure): void
  /** Null when the session may begin. Asking is a heartbeat. */
  failureFor(key: SessionKey, issuedAt: number | null): Failure | null
  /** The session is known to be over on the other side too. */
  forget(key: SessionKey): void
}

export function createEndedSessions(clock: Clock, ttlMs: number): EndedSessions {
  const ended = createRecentMap<{ issuedBefore: number; until: number; failure: Failure }>(ENDED_MAX, ttlMs)
  let isEmpty = true

  /** Ids have no white space. */
  const nameOf = ({ foreign, userId, deviceId }: SessionKey) => `${userId} ${deviceId} ${foreign ?? ''}`

  return {
    end(key, issuedBefore, failure) {
      const now = clock.now()
      isEmpty = false
      ended.set(nameOf(key), { issuedBefore, until: now + ttlMs, failure }, now)
    },
    failureFor(key, issuedAt) {
      if (isEmpty) return null
      const name = nameOf(key)
      const found = ended.get(name)
      if (found === undefined) return null
      const now = clock.now()
      if (found.until <= now || (issuedAt !== null && issuedAt >= found.issuedBefore)) {
        ended.delete(name)
        return null
      }
      ended.set(name, { ...found, until: now + ttlMs }, now)
      return found.failure
    },
    forget: (key) => ended.delete(nameOf(key)),
  }
}
