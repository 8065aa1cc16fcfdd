// The closed registry of error codes, shared by WebSocket errors and HTTP problem documents.
// Codes are added, never reused or renamed.

export const ERRORS = {
  bad_frame: { status: 400, title: 'The frame is not a JSON object with a type' },
  bad_request: { status: 400, title: 'The request is not well formed' },
  unknown_type: { status: 400, title: 'No such frame type' },
  invalid_status: { status: 400, title: 'No such status' },
  invalid_id: { status: 400, title: 'Not a valid id' },
  invalid_expiry: { status: 400, title: 'Not a valid expiry' },
  text_too_long: { status: 400, title: 'The text is too long' },
  too_many_ids: { status: 400, title: 'Too many ids' },
  watch_limit: { status: 400, title: 'Too many watched users' },
  unauthorized: { status: 401, title: 'No valid token' },
  token_expired: { status: 401, title: 'The token has expired' },
  forbidden: { status: 403, title: 'Not allowed with this token' },
  not_found: { status: 404, title: 'No such resource' },
  method_not_allowed: { status: 405, title: 'Not this method here' },
  too_large: { status: 413, title: 'Too large' },
  rate_limited: { status: 429, title: 'Too many requests' },
  overloaded: { status: 503, title: 'The server has too much to do' },
  unavailable: { status: 503, title: 'The server cannot answer now' },
  internal: { status: 500, title: 'Something broke on our side' },
} as const satisfies Record<string, { status: number; title: string }>

export type ErrorCode = keyof typeof ERRORS

/** An expected failure: a registered code and a sentence that says what to fix. */
export interface Failure {
  code: ErrorCode
  message: string
}

export const CLOSE = {
  left: 1000,
  shuttingDown: 1001,
  frameTooLarge: 1009,
  badFrames: 4400,
  badToken: 4401,
  disconnected: 4403,
  noHeartbeat: 4408,
  tooManyFrames: 4429,
} as const

/** RFC 9457 problem document. */
export interface Problem {
  type: string
  title: string
  status: number
  code: ErrorCode
  detail: string
}

export function problem(failure: Failure): Problem {
  const { status, title } = ERRORS[failure.code]
  return {
    type: `urn:greendot:error:${failure.code}`,
    title,
    status,
    code: failure.code,
    detail: failure.message,
  }
}
