// The settings of a user who chose nothing, on a server with its defaults.
import type { Settings } from '@greendot/protocol'

export const DEFAULT_SETTINGS: Settings = {
  status_visibility: 'everyone',
  last_seen_visibility: 'everyone',
  reciprocal: false,
  last_seen_precision: 'exact',
  allow: [],
  deny: [],
  away_after_ms: 300_000,
  history: false,
}
