// The part of a history that a request asks for, in its URL.
import type { Failure } from '@greendot/protocol'
import { z } from 'zod'
import { INSTANT_MAX, INSTANT_TEXT_SCHEMA } from './json-schema.ts'
import { ISO_8601, isCalendarDate, type Parsed, said } from './schemas.ts'

const DAY_MS = 86_400_000
const SPAN_DAYS = 7
const SPAN_DAYS_MAX = 92

function instantInUrl(name: 'from' | 'to', description: string) {
  return z
    .string()
    .transform((text, context) => {
      const at = /^\d{1,15}$/.test(text) ? Number(text) : instantOf(text)
      if (at !== null && at >= 0 && at <= INSTANT_MAX) return at
      context.addIssue(
        said('bad_request', `${name} is Unix milliseconds or an ISO 8601 instant of the years 1970 to 9999`),
      )
      return z.NEVER
    })
    .optional()
    .meta({
      type: undefined,
      anyOf: [
        { type: 'integer', minimum: 0, maximum: INSTANT_MAX },
        { type: 'string', ...INSTANT_TEXT_SCHEMA },
      ],
      description,
    })
}

const instantOf = (text: string): number | null =>
  ISO_8601.test(text) && isCalendarDate(text) ? Date.parse(text) : null

export const spanInUrl = {
  from: instantInUrl(
    'from',
    `Unix milliseconds or ISO 8601; by default ${SPAN_DAYS} days before \`to\`, and at most ${SPAN_DAYS_MAX}`,
  ),
  to: instantInUrl('to', `Unix milliseconds or ISO 8601, after \`from\`; now by default`),
}

export interface Span {
  from: number
  to: number
}

/** Fills in what was not sent. */
export function spanOf(
  sent: { from?: number | undefined; to?: number | undefined },
  now: number,
): Parsed<Span> {
  const to = sent.to ?? now
  const from = sent.from ?? Math.max(0, to - SPAN_DAYS * DAY_MS)
  const refusal = (message: string): { ok: false; failure: Failure } => ({
    ok: false,
    failure: { code: 'bad_request', message },
  })
  if (from >= to) return refusal('from must lie before to, which is now by default')
  if (to - from > SPAN_DAYS_MAX * DAY_MS)
    return refusal(`from and to are at most ${SPAN_DAYS_MAX} days apart; ask for one part after the other`)
  return { ok: true, value: { from, to } }
}
