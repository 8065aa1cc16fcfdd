// Who calls and how often, for every door: one authenticator with one log of rejected tokens, and one throttle. HTTP
// and gRPC are handed the same, so a limit holds for a user whichever way they come in.
import type { RateLimiter } from '../limits/port.ts'
import type { Clock } from '../platform/clock.ts'
import type { Config } from '../platform/config/config.ts'
import type { Logger } from '../platform/logger.ts'
import type { Disconnects } from '../presence/people/disconnects.ts'
import { type Authenticator, createAuthenticator } from './auth.ts'
import { createRejectionLog } from './rejection-log.ts'
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
  disconnects: Pick<Disconnects, 'isRefused'>
}

export function createAccess(parts: AccessParts): Access {
  const { config, rateLimiter, clock, tokenClock, logger, disconnects } = parts
  const rejections = createRejectionLog({ clock, logger })
  return {
    authenticator: createAuthenticator(config, tokenClock, rejections.report, disconnects.isRefused),
    throttle: createThrottle({ rateLimiter, config, clock }),
    stop: rejections.stop,
  }
}
