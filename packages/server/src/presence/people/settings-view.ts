// The settings of a user as the API returns them, with the server's defaults where the user chose nothing.
import type { Settings } from '@greendot/protocol'
import type { Policy } from '../core/policy.ts'
import { NO_PRIVACY_CHOSEN, type PrivacyRules } from '../core/privacy.ts'
import type { UserRecord } from '../core/record.ts'

export function toSettings(
  record: Pick<UserRecord, 'privacy' | 'awayAfter' | 'history'> | null,
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
    history: record?.history?.isKept ?? false,
  }
}
