// The delays that turn sessions into a status, and the three presets. `instant` shows a change at once and
// allows for a reload; `calm` waits before it shows a change; `linger` shows a lost user as away before
// offline.

export interface Policy {
  heartbeatIntervalMs: number
  heartbeatTtlMs: number
  awayAfterMs: number
  onlineDelayMs: number
  offlineDelayMs: number
  lingerMs: number
}

export const POLICY_NAMES = ['instant', 'calm', 'linger'] as const
export type PolicyName = (typeof POLICY_NAMES)[number]

const instant: Policy = {
  heartbeatIntervalMs: 15_000,
  heartbeatTtlMs: 30_000,
  awayAfterMs: 300_000,
  onlineDelayMs: 0,
  offlineDelayMs: 5_000,
  lingerMs: 0,
}

export const POLICIES: Record<PolicyName, Policy> = {
  instant,
  calm: {
    ...instant,
    heartbeatIntervalMs: 30_000,
    heartbeatTtlMs: 90_000,
    onlineDelayMs: 5_000,
    offlineDelayMs: 30_000,
  },
  linger: { ...instant, lingerMs: 300_000 },
}
