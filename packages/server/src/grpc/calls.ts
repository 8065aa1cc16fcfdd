// Every call of the service, for every combination of roles: reading and settings always, sessions and watching where
// there is a gateway. It knows nothing of the library.
import type { ForeignRouting } from '../foreign/routing.ts'
import type { Gateway } from '../gateway/gateway.ts'
import type { Access } from '../http/access/access.ts'
import type { Clock } from '../platform/clock.ts'
import type { Tally } from '../platform/measuring/tally.ts'
import type { Policy } from '../presence/core/policy.ts'
import type { Actions } from '../presence/people/actions.ts'
import type { Disconnects } from '../presence/people/disconnects.ts'
import type { ViewerReader } from '../presence/reading/viewer-reader.ts'
import type { Calls } from './call.ts'
import { presenceCalls } from './calls/presence.ts'
import { selfCalls } from './calls/self.ts'
import { sessionCalls } from './calls/sessions.ts'
import { watchingCalls } from './calls/watching.ts'

export interface CallsParts {
  viewerReader: ViewerReader
  actions: Actions
  access: Pick<Access, 'throttle'>
  disconnects: Pick<Disconnects, 'isRefused'>
  foreign: Pick<ForeignRouting, 'record'>
  /** Null in a process without connections. */
  gateway: Pick<Gateway, 'httpSessions' | 'streams'> | null
  tally: Tally
  policy: Policy
  framesPerSecond: number
  sessionsPerUser: number
  clock: Clock
  /** For the instants in tokens. */
  tokenClock: Pick<Clock, 'now'>
}

export function createCalls(parts: CallsParts): Calls {
  const { gateway, access } = parts
  return {
    ...presenceCalls(parts),
    ...selfCalls(parts),
    ...(gateway === null
      ? {}
      : { ...sessionCalls({ ...parts, ...gateway, ...access }), ...watchingCalls({ ...parts, ...gateway }) }),
  }
}
