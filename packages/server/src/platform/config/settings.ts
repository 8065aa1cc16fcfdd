// The table of settings. Flags, environment variables, keys of the configuration file and the help are derived
// from it, so that a setting has one name in three spellings.

import { AUDIENCES } from '@greendot/protocol'
import { POLICY_NAMES, type Policy, type PolicyName } from '../../presence/core/policy.ts'
import { LOG_LEVELS } from '../logger.ts'
import {
  listOf,
  matching,
  milliseconds,
  oneOf,
  onOff,
  origins,
  orNull,
  orOff,
  type SettingType,
  webUrl,
  wholeNumber,
} from './setting-types.ts'

export interface Setting<T> {
  type: SettingType<T>
  fallback:
    | { from: 'value'; value: T }
    | { from: 'policy'; key: keyof Policy }
    | { from: 'dev'; inDev: T; otherwise: T }
  help: string
  /** Secrets are never printed, not even in error messages. */
  secret: boolean
}

export const ROLES = ['gateway', 'presence', 'fanout'] as const
export type Role = (typeof ROLES)[number]

const PAGE_CHOICES = ['all', 'dashboard', 'none'] as const
export type PageChoice = (typeof PAGE_CHOICES)[number]

/** The default in dev mode. Where it is taken, dev mode picks a free one instead of stopping. */
export const DEV_GRPC_PORT = 4401

export const DEFAULT_POLICY: PolicyName = 'instant'

const address = matching(/^[^\s/]+$/, '<address>', 'a host name or an IP address')
const redis = matching(
  /^rediss?(-cluster)?:\/\/[^\s/]+/,
  '<url>',
  'redis://host:port or redis-cluster://host:port,host:port',
)
const database = matching(
  /^(sqlite:|postgres(ql)?:\/\/)\S+$/,
  '<url>',
  'sqlite://path/to/file.db or postgres://…',
)
const broker = matching(/^[^\s,]+:\d+$/, '<host:port>', 'host:port')
const secretText = matching(/^\S(.*\S)?$/s, '<secret>', 'text without white space around it')
const claimText = matching(/^\S+$/, '<text>', 'text without white space')
const serverKey = matching(/^[\x21-\x7e]+$/, '<key>', 'printable ASCII without spaces')

function setting<T>(type: SettingType<T>, value: T, help: string): Setting<T> {
  return { type, fallback: { from: 'value', value }, help, secret: false }
}

function optional<T>(type: SettingType<T>, help: string): Setting<T | null> {
  return { type, fallback: { from: 'value', value: null }, help, secret: false }
}

/** The default depends on the policy. */
function preset(type: SettingType<number>, key: keyof Policy, help: string): Setting<number> {
  return { type, fallback: { from: 'policy', key }, help, secret: false }
}

/** The default depends on whether dev mode is on. */
function byMode<T>(type: SettingType<T>, inDev: T, otherwise: T, help: string): Setting<T> {
  return { type, fallback: { from: 'dev', inDev, otherwise }, help, secret: false }
}

function secret<T>(base: Setting<T>): Setting<T> {
  return { ...base, secret: true }
}

/** As many as a Redis Cluster of several hundred masters needs. */
const SHARDS_MAX = 4_096

export const SETTINGS = {
  host: setting(address, '127.0.0.1', 'address to listen on'),
  port: setting(wholeNumber(0, 65_535), 4400, 'port to listen on; 0 picks a free one'),
  grpc_port: byMode<number | null>(
    orOff(wholeNumber(0, 65_535)),
    DEV_GRPC_PORT,
    null,
    'port for gRPC, on the same host; 0 picks a free one',
  ),
  roles: setting(listOf(oneOf(ROLES)), ROLES, 'what this process does'),
  workers: setting(wholeNumber(1, 64), 1, 'gateway processes on one port; more than one needs redis_url'),
  reuse_port: setting(onOff, false, 'share the port with other processes of this deployment'),
  redis_url: optional(redis, 'shared hot state; without it, memory'),
  redis_shards: setting(
    wholeNumber(1, SHARDS_MAX),
    64,
    'parts of the hot state in Redis; the same in all processes; to change it, empty Redis',
  ),
  read_replicas: setting(onOff, false, 'read from replicas of a Redis Cluster for queries'),
  read_cache_ms: setting(milliseconds(0, 5000), 1000, 'maximum age of answers to queries, with redis_url'),
  database_url: setting(database, 'sqlite://data/greendot.db', 'durable data: last seen, settings, contacts'),
  database_pool: setting(wholeNumber(1, 1000), 8, 'connections to PostgreSQL per process'),
  kafka_brokers: setting(
    listOf(broker),
    [],
    'Kafka between gateways and presence processes, and for changes',
  ),
  history_days: setting(
    wholeNumber(0, 3650),
    0,
    'days that a history of users who allow it is kept; 0 adds nothing to it',
  ),
  webhook_private_addresses: byMode(
    onOff,
    true,
    false,
    'send webhooks to private and loopback addresses too, and over http',
  ),
  webhook_pending_max: setting(
    wholeNumber(1_000, 100_000_000),
    1_000_000,
    'changes that may wait for one webhook; past it the webhook is disabled',
  ),
  dev: setting(onOff, false, 'accept the tokens dev:<user_id> and the server key dev; loopback only'),
  jwt_secret: secret(optional(secretText, 'shared secret of user tokens (HS256), 32 bytes or more')),
  jwks_url: optional(webUrl, 'public keys of user tokens; instead of jwt_secret'),
  jwt_audience: setting(listOf(claimText), [], 'accepted aud of user tokens; without it, any'),
  jwt_issuer: setting(listOf(claimText), [], 'accepted iss of user tokens; without it, any'),
  allowed_origins: setting(origins, ['*'], 'origins of pages that may call the API and open sockets'),
  pages: byMode(oneOf(PAGE_CHOICES), 'all', 'dashboard', 'pages that are served'),
  server_keys: secret(setting(listOf(serverKey), [], 'keys for backends, each 16 characters or more')),
  policy: setting(oneOf(POLICY_NAMES), DEFAULT_POLICY, 'preset for the next six'),
  heartbeat_interval_ms: preset(milliseconds(1), 'heartbeatIntervalMs', 'how often clients heartbeat'),
  heartbeat_ttl_ms: preset(milliseconds(1), 'heartbeatTtlMs', 'silence after which a session is lost'),
  away_after_ms: preset(milliseconds(1), 'awayAfterMs', 'inactivity after which a user is away'),
  online_delay_ms: preset(milliseconds(0), 'onlineDelayMs', 'delay before a user is shown online'),
  offline_delay_ms: preset(milliseconds(0), 'offlineDelayMs', 'grace before a user is shown offline'),
  linger_ms: preset(milliseconds(0), 'lingerMs', 'how long a user who is gone shows as away'),
  gateway_lease_ms: setting(milliseconds(100), 10_000, 'silence after which a gateway is lost'),
  flush_ms: setting(milliseconds(1, 1000), 50, 'how long changes are collected into one frame'),
  paced_above: setting(wholeNumber(0, 1_000_000), 5000, 'watchers of one user above which changes are paced'),
  queued_above: setting(
    wholeNumber(1, 1_000_000),
    10_000,
    'watchers of one user above which changes are queued',
  ),
  polled_above: setting(
    wholeNumber(0, 1_000_000),
    0,
    'watchers of one user above which new watchers poll; 0 for never',
  ),
  pace_ms_max: setting(milliseconds(100, 60_000), 10_000, 'longest delivery time of a paced change'),
  watch_limit: setting(wholeNumber(1, 10_000), 500, 'watched users per connection'),
  hidden_as: setting(orNull(oneOf(['offline'])), 'offline', 'how hidden users look: offline or null'),
  default_visibility: setting(oneOf(AUDIENCES), 'everyone', 'audience of users who chose none'),
  frames_per_second: setting(wholeNumber(1, 100_000), 100, 'frames a second before a connection is closed'),
  sessions_per_user: setting(wholeNumber(1, 1000), 32, 'sessions one user can have at a time'),
  poll_burst: setting(wholeNumber(1, 100_000), 5, 'reads over HTTP that one user can make at once'),
  poll_every_ms: setting(milliseconds(1), 30_000, 'interval of further reads'),
  write_burst: setting(wholeNumber(1, 100_000), 20, 'writes over HTTP that one user can make at once'),
  write_every_ms: setting(milliseconds(1), 200, 'interval of further writes'),
  otlp_endpoint: optional(
    webUrl,
    'collector that traces are sent to, by OTLP over HTTP; without it, none are',
  ),
  trace_one_in: setting(wholeNumber(1, 1_000_000), 100, 'events of which one is traced, with otlp_endpoint'),
  metrics_open: setting(onOff, false, 'serve /metrics without a key; for private networks'),
  drain_ms: setting(milliseconds(0, 600_000), 5000, 'time to move connections elsewhere when stopping'),
  log_level: setting(oneOf(LOG_LEVELS), 'info', 'lowest severity that is logged'),
}

export type SettingName = keyof typeof SETTINGS
export type Settings = {
  readonly [N in SettingName]: (typeof SETTINGS)[N] extends Setting<infer T> ? T : never
}

export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[]

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(SETTINGS, name)
}

export const VARIABLE_PREFIX = 'GREENDOT_'

/** `heartbeat_ttl_ms` as `heartbeat-ttl-ms`. */
export function optionOf(name: string): string {
  return name.replaceAll('_', '-')
}

/** `heartbeat_ttl_ms` as `--heartbeat-ttl-ms`. */
export function flagOf(name: string): string {
  return `--${optionOf(name)}`
}

/** `heartbeat_ttl_ms` as `GREENDOT_HEARTBEAT_TTL_MS`. */
export function variableOf(name: string): string {
  return VARIABLE_PREFIX + name.toUpperCase()
}
