// Records of `presence.updates`. A record of our own gateways is a session record with the events themselves beside it,
// so that other consumers can read it and nothing is lost on the way; what is no session event has the type
// `user_event`. A record without events is of a foreign gateway.
import {
  isId,
  RECORD_VERSION,
  SESSION_RECORD_TYPES,
  type SessionRecord,
  type SessionRecordType,
} from '@greendot/protocol'
import { z } from 'zod'
import type { ForeignDevice, ForeignSession } from '../foreign/batch.ts'
import { parseForeignSession } from '../input/foreign-schemas.ts'
import type { LogEntry } from '../log/port.ts'
import type { PresenceEvent } from '../presence/core/event.ts'
import { id, instant, presenceEvent } from './event-schema.ts'

/** Of one update. Our own gateways send a few. */
const EVENTS_MAX = 100

/** What a process asks the owner of a user to do. */
export interface Update {
  userId: string
  /** The process that asks. */
  from: string
  events: readonly PresenceEvent[]
  /** The present state is announced again, changed or not. */
  isRepeated: boolean
  /** The process that asks waits for the answer under this name. */
  ref: string | null
  sentAt: number
}

/** What a foreign gateway says of one session. */
export interface ForeignRecord {
  gatewayId: string
  device: ForeignDevice
  /** Null when the connection has closed. */
  session: ForeignSession | null
}

export type ReadUpdate =
  | { kind: 'update'; update: Update }
  | { kind: 'foreign'; record: ForeignRecord }
  | { kind: 'unreadable'; reason: string }

const own = z.object({
  v: z.literal(RECORD_VERSION),
  user_id: id,
  gateway_id: id,
  sent_at: instant,
  events: z.array(presenceEvent).min(1).max(EVENTS_MAX),
  repeated: z.literal(true).optional(),
  ref: id.optional(),
})

export function encodeUpdate({ userId, from, events, isRepeated, ref, sentAt }: Update): string {
  return JSON.stringify({
    ...publicPart(events[0]!, sentAt),
    v: RECORD_VERSION,
    user_id: userId,
    gateway_id: from,
    sent_at: sentAt,
    ...(isRepeated && { repeated: true }),
    ...(ref !== null && { ref }),
    events,
  })
}

/** What the record says to consumers that know the public format. */
function publicPart(event: PresenceEvent, sentAt: number): Record<string, unknown> {
  const type = typeOf(event)
  if (type === null) return { type: 'user_event', at: sentAt }
  const { deviceId, platform, activity, at } = event as Partial<Extract<PresenceEvent, { type: 'connected' }>>
  return { type, device_id: deviceId, platform, activity, at }
}

function typeOf({ type }: PresenceEvent): SessionRecordType | null {
  switch (type) {
    case 'connected':
      return 'session_connected'
    case 'active':
    case 'idle':
      return 'heartbeat'
    case 'left':
    case 'closed':
    case 'lost':
    case 'device_left':
    case 'user_left':
      return 'session_disconnected'
    default:
      return null
  }
}

/** A record counts only under the key of its user: under another one it may be in the partition of another owner. */
export function readUpdate({ userId: key, text }: Pick<LogEntry, 'userId' | 'text'>): ReadUpdate {
  const read = readText(text)
  const userId = userIdOf(read)
  if (userId === null || userId === key) return read
  return { kind: 'unreadable', reason: 'the key of the record is not its user_id' }
}

function userIdOf(read: ReadUpdate): string | null {
  switch (read.kind) {
    case 'update':
      return read.update.userId
    case 'foreign':
      return read.record.device.userId
    case 'unreadable':
      return null
  }
}

function readText(text: string): ReadUpdate {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return { kind: 'unreadable', reason: 'this is no JSON' }
  }
  const type = (parsed as { type?: unknown } | null)?.type
  const isKnown = type === 'user_event' || SESSION_RECORD_TYPES.some((known) => known === type)
  if (!isKnown) return { kind: 'unreadable', reason: `unknown type ${JSON.stringify(type)?.slice(0, 40)}` }
  if (!('events' in (parsed as object))) return readForeign(parsed as SentRecord)
  const read = own.safeParse(parsed)
  if (!read.success) return { kind: 'unreadable', reason: firstProblem(read.error) }
  const { user_id, gateway_id, sent_at, events, repeated, ref } = read.data
  return {
    kind: 'update',
    update: {
      userId: user_id,
      from: gateway_id,
      events: events as PresenceEvent[],
      isRepeated: repeated ?? false,
      ref: ref ?? null,
      sentAt: sent_at,
    },
  }
}

interface SentRecord extends Partial<Omit<SessionRecord, 'type'>> {
  type: SessionRecordType | 'user_event'
  v?: unknown
  /** Another name for `activity`. */
  activity_type?: unknown
}

/** Fields that are not known here are ignored. */
function readForeign(record: SentRecord): ReadUpdate {
  const {
    type,
    v = RECORD_VERSION,
    gateway_id: gatewayId,
    user_id,
    device_id,
    platform,
    activity_type,
    activity = activity_type === undefined ? 'active' : undefined,
    at,
  } = record
  if (type === 'user_event') return { kind: 'unreadable', reason: 'a user_event has events' }
  if (v !== RECORD_VERSION) return { kind: 'unreadable', reason: `v is ${RECORD_VERSION} or left out` }
  if (!isId(gatewayId)) return { kind: 'unreadable', reason: 'gateway_id is not a valid id' }
  const read = parseForeignSession({ user_id, device_id, platform, activity, activity_type, at })
  if (!read.ok) return { kind: 'unreadable', reason: read.failure.message }
  const { userId, deviceId } = read.value
  const session = type === 'session_disconnected' ? null : read.value
  return { kind: 'foreign', record: { gatewayId, device: { userId, deviceId }, session } }
}

function firstProblem({ issues }: z.ZodError): string {
  const [{ path, message }] = issues as [z.core.$ZodIssue]
  return `${path.join('.')}: ${message}`
}
