// Why a token was not accepted.
import type { Failure } from '@greendot/protocol'
import type { RejectionReason } from './rejection-log.ts'

/** `reason` is for the log, `message` for the client. Neither has anything from the token. */
export type Refusal = { kind: 'refused'; reason: RejectionReason } & Failure

export function refused(reason: RejectionReason, message: string): Refusal {
  return { kind: 'refused', reason, code: 'unauthorized', message }
}
