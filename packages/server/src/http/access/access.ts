// Who calls and how often, for HTTP and gRPC: one authenticator with one log of rejected tokens, and one throttle. HTTP
// and gRPC are handed the same, so a limit holds for a user whichever way they come in.
import type { RateLimiter } from '../../limits/port.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Config } from '../../platform/config/config.ts'
import type { Logger } from '../../platform/logger.ts'
import type { Tally } from '../../platform/measuring/tally.ts'
import type { Disconnects } from '../../presence/people/disconnects.ts'
import { type Authenticator, createAuthenticator } from './auth.ts'
import { createRejectionLog, REJECTION_REASONS, type RejectionReason } from './rejection-log.ts'
import { createThrottle, type Throttle } from './throttle.ts'

export interface Access {
  authenticator: Authenticator
  throttle: Throttle
  stop(): void
}

export interface AccessParts {
  config: Config
  rateLimiter: RateLimiter
  clock: Clock
  /** For the instants in tokens. */
  tokenClock: Pick<Clock, 'now'>
  logger: Logger
  tally: Tally
  disconnects: Pick<Disconnects, 'isRefused'>
}

export function createAccess(parts: AccessParts): Access {
  const { config, tokenClock, tally, disconnects } = parts
  const rejections = createRejectionLog(parts)
  tally.tokensRefused.announce(REJECTION_REASONS)
  const onRefused = (reason: RejectionReason) => {
    tally.tokensRefused.add(reason)
    rejections.report(reason)
  }
  return {
    authenticator: createAuthenticator(config, tokenClock, onRefused, disconnects.isRefused),
    throttle: createThrottle(parts),
    stop: rejections.stop,
  }
}
