// The user that a call is about: the user of the token, or the one that a backend names.

import type { Caller } from '../http/access/auth.ts'
import { type Parsed, parse, userId } from '../input/schemas.ts'
import type { Message } from './call.ts'

export function subjectOf(caller: Caller, { user_id: named }: Message): Parsed<string> {
  const isNamed = named !== '' && named !== undefined
  if (caller.kind === 'server') {
    if (isNamed) return parse(userId, named)
    return { ok: false, failure: { code: 'bad_request', message: 'a server key names the user in user_id' } }
  }
  if (!isNamed || named === caller.userId) return { ok: true, value: caller.userId }
  const message = 'user_id is for server keys; a user token has its own user'
  return { ok: false, failure: { code: 'forbidden', message } }
}
