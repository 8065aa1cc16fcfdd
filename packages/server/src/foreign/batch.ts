// What a foreign gateway reports: which of its sessions are alive, and which are over. On its way between processes a
// batch is a short text, because most of it is the same as in the batch before.
import { ACTIVITIES, type Activity, type ErrorCode, PLATFORMS, type Platform } from '@greendot/protocol'

export interface ForeignDevice {
  userId: string
  deviceId: string
}

export interface ForeignSession extends ForeignDevice {
  platform: Platform
  activity: Activity
  /** When it was known to be alive; null for now. */
  at: number | null
}

export interface ForeignBatch {
  gatewayId: string
  sessions: readonly ForeignSession[]
  disconnected: readonly ForeignDevice[]
  /**
   * The answer does not wait until new sessions are committed. For batches that come from the log by which commits are
   * asked for: they would wait for each other.
   */
  isBrief?: boolean
  /** Handed on by a process that is not, or no longer, the holder: the process that gets it records it, so that it is not handed on again. */
  isHandedOn?: boolean
}

/** Why an entry is refused. */
export const REJECTION_CODES: readonly ErrorCode[] = [
  'bad_request',
  'forbidden',
  'invalid_id',
  'rate_limited',
  'unavailable',
]

/** An entry that was refused. The others were recorded. */
export interface Rejection {
  /** Its position in the batch: first the sessions, then those that are over. */
  index: number
  code: ErrorCode
  message: string
}

export function encodeBatch(batch: ForeignBatch): string {
  const { gatewayId, sessions, disconnected, isBrief, isHandedOn } = batch
  const entries: (string | number | null)[] = []
  for (const { userId, deviceId, platform, activity, at } of sessions)
    entries.push(userId, deviceId, PLATFORMS.indexOf(platform), ACTIVITIES.indexOf(activity), at)
  const over = disconnected.flatMap(({ userId, deviceId }) => [userId, deviceId])
  return JSON.stringify([gatewayId, entries, over, isBrief ?? false, isHandedOn ?? false])
}

/** The text is by `encodeBatch`, from another process of this deployment. */
export function decodeBatch(text: string): ForeignBatch {
  const [gatewayId, entries, over, isBrief, isHandedOn] = JSON.parse(text) as [
    string,
    (string & number)[],
    string[],
    boolean,
    boolean,
  ]
  const sessions: ForeignSession[] = []
  for (let from = 0; from < entries.length; from += 5)
    sessions.push({
      userId: entries[from]!,
      deviceId: entries[from + 1]!,
      platform: PLATFORMS[entries[from + 2]!]!,
      activity: ACTIVITIES[entries[from + 3]!]!,
      at: entries[from + 4]!,
    })
  const disconnected: ForeignDevice[] = []
  for (let from = 0; from < over.length; from += 2)
    disconnected.push({ userId: over[from]!, deviceId: over[from + 1]! })
  return { gatewayId, sessions, disconnected, isBrief, isHandedOn }
}
