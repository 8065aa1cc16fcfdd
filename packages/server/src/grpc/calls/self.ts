// What users set about themselves over gRPC, and what the app sets for them.
import type { z } from 'zod'
import { availabilityBody, customStatusBody, parse } from '../../input/schemas.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Policy } from '../../presence/core/policy.ts'
import { toOwnPresence } from '../../presence/core/view.ts'
import type { Actions, Outcome } from '../../presence/people/actions.ts'
import { type Call, type Calls, type Message, refused, replied } from '../call.ts'
import { toOwnMessage, wordOf } from '../messages.ts'
import { subjectOf } from '../subject.ts'

export interface SelfCallsParts {
  actions: Actions
  policy: Policy
  clock: Clock
}

export function selfCalls({ actions, policy, clock }: SelfCallsParts): Calls {
  function setting<T>(
    schema: z.ZodType<T>,
    bodyOf: (request: Message) => object,
    set: (userId: string, body: T) => Promise<Outcome>,
  ): Call {
    return {
      kind: 'unary',
      who: 'caller',
      limit: 'write',
      async run(caller, request) {
        const subject = subjectOf(caller, request)
        if (!subject.ok) return refused(subject.failure)
        const body = parse(schema, bodyOf(request))
        if (!body.ok) return refused(body.failure)
        const outcome = await set(subject.value, body.value)
        if (!outcome.ok) return refused(outcome.failure)
        const own = toOwnPresence(subject.value, outcome.tracked.record, clock.now(), policy)
        return replied({ self: toOwnMessage(own) })
      },
    }
  }

  return {
    SetAvailability: setting(
      availabilityBody,
      ({ availability, expires_at }) => ({ status: wordOf('AVAILABILITY', availability), expires_at }),
      actions.setAvailability,
    ),
    SetCustomStatus: setting(
      customStatusBody,
      ({ text, emoji, expires_at }) => ({ text, emoji, expires_at }),
      actions.setCustomStatus,
    ),
  }
}
