// A heartbeat that comes as a call, over HTTP or gRPC: counted where it changes something, then recorded in the
// session of its device.
import type {
  HttpHeartbeat,
  HttpSessions,
  RecordedHeartbeat as Recorded,
} from '../gateway/sessions/connections.ts'
import type { RetriableFailure, Throttle } from './access/throttle.ts'

export type RecordedHeartbeat = Recorded | { ok: false; failure: RetriableFailure }

export interface Heartbeats {
  /** Those that a backend sends for its users do not count towards their limits. */
  record(heartbeat: HttpHeartbeat, by: 'user' | 'server'): Promise<RecordedHeartbeat>
}

export function createHeartbeats(parts: { httpSessions: HttpSessions; throttle: Throttle }): Heartbeats {
  const { httpSessions, throttle } = parts
  return {
    async record(heartbeat, by) {
      // A heartbeat that changes nothing is no write and costs no command of the store.
      if (by === 'user' && httpSessions.isTransition(heartbeat)) {
        const failure = await throttle.failureFor('write', heartbeat.userId)
        if (failure !== null) return { ok: false, failure }
      }
      return httpSessions.heartbeat(heartbeat)
    },
  }
}
