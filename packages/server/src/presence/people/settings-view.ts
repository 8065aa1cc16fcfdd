// What a person chose about who sees them, as they read it back: the server's defaults are filled in
// where they chose nothing.
import type { Settings } from '@greendot/protocol'
import type { Policy } from '../core/policy.ts'
import { NO_PRIVACY_CHOSEN, type PrivacyRules } from '../core/privacy.ts'
import type { UserRecord } from '../core/record.ts'

export function toSettings(
  record: Pick<UserRecord, 'privacy' | 'awayAfter'> | null,
  policy: Policy,
  { defaultVisibility }: PrivacyRules,
): Settings {
  const { statusVisibility, lastSeenVisibility, reciprocal, lastSeenPrecision, allow, deny } =
    record?.privacy ?? NO_PRIVACY_CHOSEN
  return {
    status_visibility: statusVisibility ?? defaultVisibility,
    last_seen_visibility: lastSeenVisibility ?? defaultVisibility,
    reciprocal,
    last_seen_precision: lastSeenPrecision,
    allow: [...allow],
    deny: [...deny],
    away_after_ms: record?.awayAfter?.awayAfterMs ?? policy.awayAfterMs,
  }
}
