// From a failure to the status of a call: the code of gRPC, the sentence, and the details in which clients find our
// own code and how long to wait.
import type { ErrorCode } from '@greendot/protocol'
import { Metadata, status } from '@grpc/grpc-js'
import type { Refused } from './call.ts'
import { createDetailWriter } from './definitions.ts'

const DETAILS = 'grpc-status-details-bin'
const DOMAIN = 'greendot'
const TYPES = 'type.googleapis.com/google.rpc.'

/** Exhaustive, so that a new code gets its status. */
export const STATUS_OF = {
  bad_frame: status.INVALID_ARGUMENT,
  bad_request: status.INVALID_ARGUMENT,
  unknown_type: status.INVALID_ARGUMENT,
  invalid_status: status.INVALID_ARGUMENT,
  invalid_id: status.INVALID_ARGUMENT,
  invalid_expiry: status.INVALID_ARGUMENT,
  text_too_long: status.INVALID_ARGUMENT,
  too_many_ids: status.INVALID_ARGUMENT,
  watch_limit: status.INVALID_ARGUMENT,
  unauthorized: status.UNAUTHENTICATED,
  token_expired: status.UNAUTHENTICATED,
  forbidden: status.PERMISSION_DENIED,
  not_found: status.NOT_FOUND,
  method_not_allowed: status.UNIMPLEMENTED,
  too_large: status.RESOURCE_EXHAUSTED,
  rate_limited: status.RESOURCE_EXHAUSTED,
  overloaded: status.UNAVAILABLE,
  unavailable: status.UNAVAILABLE,
  internal: status.INTERNAL,
} as const satisfies Record<ErrorCode, status>

export type StatusWriter = (failure: Refused) => { code: status; details: string; metadata: Metadata }

export function createStatusWriter(): StatusWriter {
  const write = createDetailWriter()
  const detail = (type: string, message: object) => ({ type_url: TYPES + type, value: write(type, message) })

  return (failure) => {
    const { code: reason, message } = failure
    const code = STATUS_OF[reason]
    const details = [detail('ErrorInfo', { reason, domain: DOMAIN })]
    if ('retryAfterSeconds' in failure)
      details.push(detail('RetryInfo', { retry_delay: { seconds: failure.retryAfterSeconds } }))
    const metadata = new Metadata()
    metadata.set(DETAILS, write('Status', { code, message, details }))
    return { code, details: message, metadata }
  }
}
