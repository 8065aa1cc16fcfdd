// Merges the sessions of a user into one status. It looks only at votes, so the order of reports does not
// matter.
import { PLATFORMS, type Platform } from '@greendot/protocol'
import type { Policy } from './policy.ts'
import type { Session, UserRecord } from './record.ts'
import { voteOf } from './votes.ts'

export interface Merged {
  /** Platforms that count as live, most recently active first. */
  devices: readonly Platform[]
  /** By sessions alone: one is active, all are idle, some only linger, or none counts. */
  activity: 'active' | 'idle' | 'lingering' | 'none'
}

const NO_DEVICES: readonly Platform[] = []
// Nearly every user has one device: such records share these lists.
const ONE_DEVICE = new Map<Platform, readonly Platform[]>(PLATFORMS.map((platform) => [platform, [platform]]))

export function mergeSessions(sessions: UserRecord['sessions'], at: number, policy: Policy): Merged {
  const counted: Session[] = []
  let activity: Merged['activity'] = 'none'
  for (const session of sessions) {
    const vote = voteOf(session, at, policy)
    if (vote === 'active' || vote === 'idle') counted.push(session)
    if (vote === 'active') activity = 'active'
    else if (vote === 'idle' && activity !== 'active') activity = 'idle'
    else if (vote === 'lingering' && activity === 'none') activity = 'lingering'
  }
  if (counted.length === 0) return { devices: NO_DEVICES, activity }
  if (counted.length === 1) return { devices: ONE_DEVICE.get(counted[0]!.platform)!, activity }
  counted.sort(byRecency)
  return { devices: [...new Set(counted.map((session) => session.platform))], activity }
}

// An active session is active right now, whenever it last said so; the platform breaks ties so
// that equal instants still give one order.
export function byRecency(a: Session, b: Session): number {
  if (a.activity !== b.activity) return a.activity === 'active' ? -1 : 1
  return b.lastActiveAt - a.lastActiveAt || (a.platform < b.platform ? -1 : a.platform > b.platform ? 1 : 0)
}
