// As whom a call reads presence: a user reads as themselves, a backend as the app or on behalf of a viewer.
import type { Parsed } from '../input/schemas.ts'
import type { ReadAs } from '../presence/reading/viewer-reader.ts'
import type { Caller } from './access/auth.ts'

/** A backend sees every user, unless it asks on behalf of a viewer. */
export function readAsOf(caller: Caller, viewerId: string | undefined): Parsed<ReadAs> {
  if (caller.kind === 'server')
    return { ok: true, value: viewerId === undefined ? { kind: 'app' } : { kind: 'user', userId: viewerId } }
  if (viewerId === undefined) return { ok: true, value: { kind: 'user', userId: caller.userId } }
  const message = 'viewer_id is for server keys; a user token has its own viewer'
  return { ok: false, failure: { code: 'forbidden', message } }
}
