// The answers of the routes, as schemas. They describe, and tests check real answers against them; the server
// does not check them. The compiler checks each against the type that is answered.
import {
  AUDIENCES,
  type CustomStatus,
  ERRORS,
  type ErrorCode,
  LAST_SEEN_BUCKETS,
  LAST_SEEN_PRECISIONS,
  type OwnPresence,
  type OwnSession,
  type Problem,
  type QueriedPresence,
  type Settings,
  STATUSES,
} from '@greendot/protocol'
import { z } from 'zod'
import { ANSWERED_ID_SCHEMA } from '../../input/json-schema.ts'
import { activity, platform } from '../../input/schemas.ts'
import type { ProcessSummary } from '../../ops/process-directory.ts'
import { json } from '../route.ts'

const AVAILABILITIES = ['auto', 'away', 'busy', 'invisible'] as const

export const userId = z.string().meta({ ...ANSWERED_ID_SCHEMA, examples: ['alice'] })
export const deviceId = userId.meta({ description: 'Stable across reconnects', examples: ['phone'] })
export const instant = z.int().meta({ description: 'Unix milliseconds', examples: [1_893_456_000_123] })
const count = z.int().min(0)
const audience = z.enum(AUDIENCES).meta({ id: 'Audience' })
const status = z.enum(STATUSES).meta({ id: 'Status' })

export const customStatus = z
  .object({
    text: z
      .string()
      .nullable()
      .meta({ examples: ['In a meeting'] }),
    emoji: z
      .string()
      .nullable()
      .meta({ examples: ['📅'] }),
    expires_at: instant.nullable().meta({ description: 'When it disappears by itself; null for never' }),
  })
  .meta({ id: 'CustomStatus' }) satisfies z.ZodType<CustomStatus>

export const presenceFields = {
  user_id: userId,
  status: status
    .nullable()
    .meta({ description: 'Null only for hidden users, where the server is configured so' }),
  last_seen: instant.nullable().meta({
    description: 'The latest instant the user is known to have been active; null if never or hidden',
  }),
  last_seen_bucket: z
    .exactOptional(z.enum(LAST_SEEN_BUCKETS).nullable())
    .meta({ description: 'Instead of last_seen, for users who show it only approximately' }),
  custom_status: customStatus.nullable(),
  devices: z.array(platform).meta({ description: 'Platforms that are live now, most recently active first' }),
  version: count.meta({
    description: 'Grows with every visible change of this user; 0 means that nothing is known',
    examples: [42],
  }),
}

const queriedPresence = z
  .object({
    ...presenceFields,
    source: z.enum(['live', 'db']).meta({ description: 'live for users who are here, db for all others' }),
  })
  .meta({
    id: 'Presence',
    description: 'A user as others see them',
    examples: [
      {
        user_id: 'alice',
        status: 'busy',
        last_seen: 1_893_456_000_123,
        custom_status: { text: 'In a meeting', emoji: '📅', expires_at: 1_893_459_600_000 },
        devices: ['mobile', 'web'],
        version: 42,
        source: 'live',
      },
    ],
  }) satisfies z.ZodType<QueriedPresence>

const ownSession = z
  .object({
    session_id: z.string(),
    device_id: deviceId,
    platform,
    activity,
    connected_at: instant,
  })
  .meta({ id: 'Session' }) satisfies z.ZodType<OwnSession>

export const ownPresenceSchema = z
  .object({
    ...presenceFields,
    availability: z.enum(AVAILABILITIES).meta({ description: 'What the user set; auto for nothing' }),
    availability_expires_at: instant.nullable(),
    sessions: z.array(ownSession),
  })
  .meta({
    id: 'OwnPresence',
    description: 'A user as they see themselves',
  }) satisfies z.ZodType<OwnPresence>

export const problemDocument = z
  .object({
    type: z.string().meta({ examples: ['urn:greendot:error:bad_request'] }),
    title: z.string(),
    status: z.int(),
    code: z
      .enum(Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]])
      .meta({ description: 'Decide by this one; codes are added, never renamed' }),
    detail: z.string().meta({ description: 'What to correct, for humans' }),
  })
  .meta({ id: 'Problem', description: 'Why a request was refused (RFC 9457)' }) satisfies z.ZodType<Problem>

export const degraded = {
  'Greendot-Degraded': 'true when the hot store is down and the answer comes from the database',
}

export const presences = json(
  z.array(queriedPresence),
  'One object for each id, in the order asked',
  degraded,
)
export const onePresence = json(queriedPresence, 'The user', degraded)
export const statuses = json(
  z.record(z.string(), presenceFields.status).meta({ examples: [{ alice: 'online', bob: 'away' }] }),
  'From id to status',
  degraded,
)
export const ownPresence = json(ownPresenceSchema, 'The own view, after the change')

export const settingsFields = {
  status_visibility: audience.meta({ description: 'Audience of the status; all others see nothing' }),
  last_seen_visibility: audience.meta({ description: 'Audience, within that, of the last seen' }),
  reciprocal: z.boolean().meta({ description: 'Visible only to users who are visible in return' }),
  last_seen_precision: z.enum(LAST_SEEN_PRECISIONS),
  allow: z.array(userId).meta({ description: 'Users who may see everything, whatever the audience' }),
  deny: z.array(userId).meta({
    description:
      'Users who may see nothing; wins over everything else. If it is not empty, public presence shows nothing',
  }),
  away_after_ms: count.meta({ description: 'Inactivity after which the user is away' }),
  history: z
    .boolean()
    .meta({ description: 'Whether a history may be kept, on a server with history_days above 0' }),
}

export const settingsSchema = z.object(settingsFields).meta({
  id: 'Settings',
  description: "With the server's defaults where the user set nothing",
}) satisfies z.ZodType<Settings>
export const settings = json(settingsSchema, 'The settings')

export const idArray = z.array(userId)
export const contactList = json(
  z.object({ user_ids: idArray }).meta({ id: 'ContactList' }),
  'All users on the list, ordered by id',
)

export const publicPresence = json(
  z.object(presenceFields).meta({ id: 'PublicPresence' }),
  'The user as anyone sees them',
  { ETag: 'changes with the answer', 'Cache-Control': 'public, max-age=30' },
)

export const heartbeatTimes = json(
  z.object({
    user_id: userId,
    heartbeat_interval_ms: count.meta({ description: 'Send the next one within this time' }),
    heartbeat_ttl_ms: count.meta({ description: 'Silence after which the session is lost' }),
    away_after_ms: count.meta({ description: 'Inactivity after which this user is away' }),
    server_time: instant,
    self: z
      .exactOptional(ownPresenceSchema)
      .meta({ description: 'The own view, when it is the first answer or has changed since the last' }),
  }),
  'How often to send the next ones',
)

export const health = json(z.object({ status: z.literal('ok'), version: z.string() }), 'The process runs')

const logLag = z.record(z.string(), count.nullable()).meta({
  description: 'Records that each consumer of a log has yet to handle; null where the log is away',
})

const readiness = z
  .object({
    status: z.enum(['ready', 'degraded', 'not_ready']),
    checks: z.object({
      store: z.enum(['ok', 'failing']),
      archive: z.enum(['ok', 'failing']),
      gateway: z.enum(['ok', 'healing']),
      accepting: z.enum(['ok', 'draining']),
    }),
    log_lag: logLag,
  })
  .meta({ id: 'Readiness' })
export const ready = json(readiness, 'It can take connections, perhaps with a part missing')
export const notReady = json(readiness, 'It must not get traffic now')

const perCounter = z
  .record(z.string(), z.number())
  .meta({ description: 'connections_opened, frames_in, changes and so on' })
const percentile = z.number().nullable()
const windowMs = count.meta({
  description: 'The length of the window: percentiles count no older delivery',
})

const processSummary = z
  .object({
    name: z.string(),
    roles: z.array(z.string()),
    connections: count,
    streams: count,
    watches: count,
    watched_users: count,
    slow_readers: count,
    changes_per_second: z.number(),
    deliveries_per_second: z.number(),
    frames_in_per_second: z.number(),
    propagation_p50_ms: percentile,
    propagation_p90_ms: percentile,
    propagation_p99_ms: percentile,
    archive_backlog: count,
    log_lag: logLag,
    resident_bytes: count,
    uptime_ms: count,
  })
  .meta({ id: 'Process' }) satisfies z.ZodType<Omit<ProcessSummary, 'roles'>>

export const history = json(
  z.object({
    propagation_window_ms: windowMs,
    samples: z.array(
      z.object({
        at: instant,
        users: z.record(status, count).nullable(),
        connections: count,
        watches: count,
        changes_per_second: z.number(),
        deliveries_per_second: z.number(),
        propagation_p50_ms: percentile,
        propagation_p90_ms: percentile,
        propagation_p99_ms: percentile,
      }),
    ),
  }),
  'Samples, oldest first',
)

export const stats = json(
  z
    .object({
      users: z
        .record(status, count)
        .nullable()
        .meta({ description: 'Users in the hot store by shown status; null while the store is down' }),
      connections: count,
      streams: count,
      watches: count,
      watched_users: count,
      slow_readers: count,
      gateways: z.array(z.object({ gateway_id: z.string(), connections: count, watches: count })),
      processes: z.array(processSummary).meta({ description: 'Every process of the deployment' }),
      log_lag: logLag,
      rates_per_second: perCounter,
      totals: perCounter,
      propagation_ms: z
        .object({ p50: percentile, p90: percentile, p99: percentile, count, window_ms: windowMs })
        .meta({ description: 'From a change to its frame, in the last minutes' }),
      uptime_ms: count,
    })
    .meta({ id: 'Stats' }),
  'The numbers; rates, totals and propagation are those of the process that answers',
)
