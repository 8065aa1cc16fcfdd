// Settings of a user, the same over WebSocket and HTTP: checked against the clock, then applied, and durable
// before the promise resolves. The settings of one user carry strictly increasing stamps, so that of two in
// the same millisecond the later one wins.
import type { Availability, Failure } from '@greendot/protocol'
import type { Clock } from '../../platform/clock.ts'
import type { ChoiceEvent } from '../core/event.ts'
import type { Privacy } from '../core/privacy.ts'
import type { Tracked } from '../pipeline/tracker.ts'
import type { Choices } from './choices.ts'
import type { History } from './history.ts'

export type Outcome = { ok: true; tracked: Tracked } | { ok: false; failure: Failure }

export interface Actions {
  setAvailability(
    userId: string,
    choice: { status: Availability; expiresAt: number | null },
  ): Promise<Outcome>
  setCustomStatus(
    userId: string,
    status: { text: string | null; emoji: string | null; expiresAt: number | null },
  ): Promise<Outcome>
  /** Merges into the earlier settings. */
  changeSettings(userId: string, change: SettingsChange): Promise<Tracked>
}

/** Privacy, away time and history, set by the user or by the app for the user. */
export interface SettingsChange {
  privacy: Partial<Privacy>
  /** Null for the server's default; undefined to leave it. */
  awayAfterMs: number | null | undefined
  /** Undefined to leave it. */
  keepsHistory: boolean | undefined
}

export function createActions(
  choices: Pick<Choices, 'apply'>,
  clock: Clock,
  history: Pick<History, 'chosen'>,
): Actions {
  const stamp = createStamps(clock)

  async function applyUnlessExpired(
    userId: string,
    event: ChoiceEvent & { expiresAt: number | null },
  ): Promise<Outcome> {
    const failure = expiryFailure(event.expiresAt, clock.now())
    if (failure !== null) return { ok: false, failure }
    return { ok: true, tracked: await choices.apply(userId, event) }
  }
  return {
    setAvailability: (userId, choice) =>
      applyUnlessExpired(userId, { type: 'set_availability', at: stamp(userId), ...choice }),
    setCustomStatus: (userId, status) =>
      applyUnlessExpired(userId, { type: 'set_custom_status', at: stamp(userId), ...status }),
    async changeSettings(userId, change) {
      const tracked = await choices.apply(userId, ...settingsEvents(change, stamp(userId)))
      if (change.keepsHistory !== undefined) await history.chosen(userId, tracked.record)
      return tracked
    },
  }
}

function settingsEvents({ privacy, awayAfterMs, keepsHistory }: SettingsChange, at: number): ChoiceEvent[] {
  const events: ChoiceEvent[] = []
  if (Object.keys(privacy).length > 0) events.push({ type: 'set_privacy', at, change: privacy })
  if (awayAfterMs !== undefined) events.push({ type: 'set_away_after', at, awayAfterMs })
  if (keepsHistory !== undefined) events.push({ type: 'set_history', at, isKept: keepsHistory })
  return events
}

/** The time, but later than every stamp before of the same user. */
function createStamps(clock: Clock): (userId: string) => number {
  /** Only stamps that the clock has not passed yet. */
  const latest = new Map<string, number>()
  let prunedAt = 0
  return (userId) => {
    const now = clock.now()
    if (now !== prunedAt) {
      for (const [id, at] of latest) if (at < now) latest.delete(id)
      prunedAt = now
    }
    const at = Math.max(now, (latest.get(userId) ?? 0) + 1)
    latest.set(userId, at)
    return at
  }
}

/** An expiry must be in the future. */
function expiryFailure(expiresAt: number | null, now: number): Failure | null {
  if (expiresAt === null || expiresAt > now) return null
  return { code: 'invalid_expiry', message: 'expires_at lies in the past' }
}
