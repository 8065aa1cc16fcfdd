// From flags, environment and file to one immutable Config. Pure: the caller passes the command line, the
// environment and a function that reads a file. Every problem is one line that says where the setting was
// given and how to fix it, without any secret.

import { POLICIES, type Policy, type PolicyName } from '../../presence/core/policy.ts'
import type { PrivacyRules } from '../../presence/core/privacy.ts'
import type { LogLevel } from '../logger.ts'
import { brokenRule } from './rules.ts'
import {
  DEFAULT_POLICY,
  type PageChoice,
  type Role,
  SETTING_NAMES,
  SETTINGS,
  type Setting,
  type Settings,
} from './settings.ts'
import { type ConfigSources, collectSettings, type GivenSettings, type GivenText } from './sources.ts'

export interface Config {
  readonly host: string
  readonly port: number
  /** Null when gRPC is off. */
  readonly grpcPort: number | null
  readonly roles: readonly Role[]
  readonly workers: number
  readonly reusePort: boolean
  readonly redisUrl: string | null
  readonly redisShards: number
  readonly readReplicas: boolean
  readonly readCacheMs: number
  readonly databaseUrl: string
  readonly databasePool: number
  readonly kafkaBrokers: readonly string[]
  readonly historyDays: number
  readonly webhookPrivateAddresses: boolean
  readonly webhookPendingMax: number
  readonly dev: boolean
  readonly jwtSecret: string | null
  readonly jwksUrl: string | null
  readonly jwtAudience: readonly string[]
  readonly jwtIssuer: readonly string[]
  /** One star, or origins as browsers write them. */
  readonly allowedOrigins: readonly string[]
  readonly pages: PageChoice
  readonly serverKeys: readonly string[]
  readonly policyName: PolicyName
  readonly policy: Readonly<Policy>
  readonly gatewayLeaseMs: number
  readonly flushMs: number
  readonly pacedAbove: number
  readonly queuedAbove: number
  readonly polledAbove: number
  readonly paceMsMax: number
  readonly watchLimit: number
  readonly rules: Readonly<PrivacyRules>
  readonly framesPerSecond: number
  readonly sessionsPerUser: number
  readonly pollBurst: number
  readonly pollEveryMs: number
  readonly writeBurst: number
  readonly writeEveryMs: number
  /** Null when nothing is traced. */
  readonly otlpEndpoint: string | null
  readonly traceOneIn: number
  readonly metricsOpen: boolean
  readonly drainMs: number
  readonly logLevel: LogLevel
}

export type LoadedConfig = { ok: true; config: Config } | { ok: false; problem: string }

/** Commands without a server need no way to check tokens. */
export type AuthNeed = 'required' | 'optional'

export function loadConfig(sources: ConfigSources, auth: AuthNeed = 'required'): LoadedConfig {
  const problems: string[] = []
  const report = (problem: string) => void problems.push(problem)
  const settings = resolveSettings(collectSettings(sources, report), report)
  // Rules between settings are checked only when each setting is valid.
  const problem = problems[0] ?? brokenRule(settings, auth)
  return problem === null ? { ok: true, config: toConfig(settings) } : { ok: false, problem }
}

function resolveSettings(given: GivenSettings, report: (problem: string) => void): Settings {
  const policyText = given.get('policy')?.text ?? DEFAULT_POLICY
  const policy = POLICIES[SETTINGS.policy.type.parse(policyText) ?? DEFAULT_POLICY]
  const isDev = SETTINGS.dev.type.parse(given.get('dev')?.text ?? 'off') ?? false
  const values = SETTING_NAMES.map((name) => {
    const setting: Setting<unknown> = SETTINGS[name]
    const text = given.get(name)
    return [name, text === undefined ? defaultOf(setting, policy, isDev) : parse(setting, text, report)]
  })
  return Object.fromEntries(values) as Settings
}

function defaultOf({ fallback }: Setting<unknown>, policy: Policy, isDev: boolean): unknown {
  switch (fallback.from) {
    case 'value':
      return fallback.value
    case 'policy':
      return policy[fallback.key]
    case 'dev':
      return isDev ? fallback.inDev : fallback.otherwise
  }
}

function parse(
  { type, secret }: Setting<unknown>,
  given: GivenText,
  report: (problem: string) => void,
): unknown {
  const value = type.parse(given.text)
  if (value === undefined) {
    const shown = secret ? 'the value given' : `"${withoutCredentials(given.text)}"`
    report(`${given.source}: ${shown} is not ${type.expects}`)
  }
  return value
}

function toConfig(settings: Settings): Config {
  return Object.freeze({
    host: settings.host,
    port: settings.port,
    grpcPort: settings.grpc_port,
    roles: Object.freeze(settings.roles),
    workers: settings.workers,
    reusePort: settings.reuse_port,
    redisUrl: settings.redis_url,
    redisShards: settings.redis_shards,
    readReplicas: settings.read_replicas,
    readCacheMs: settings.read_cache_ms,
    databaseUrl: settings.database_url,
    databasePool: settings.database_pool,
    kafkaBrokers: Object.freeze(settings.kafka_brokers),
    historyDays: settings.history_days,
    webhookPrivateAddresses: settings.webhook_private_addresses,
    webhookPendingMax: settings.webhook_pending_max,
    dev: settings.dev,
    jwtSecret: settings.jwt_secret,
    jwksUrl: settings.jwks_url,
    jwtAudience: Object.freeze(settings.jwt_audience),
    jwtIssuer: Object.freeze(settings.jwt_issuer),
    allowedOrigins: Object.freeze(settings.allowed_origins),
    pages: settings.pages,
    serverKeys: Object.freeze(settings.server_keys),
    policyName: settings.policy,
    policy: Object.freeze({
      heartbeatIntervalMs: settings.heartbeat_interval_ms,
      heartbeatTtlMs: settings.heartbeat_ttl_ms,
      awayAfterMs: settings.away_after_ms,
      onlineDelayMs: settings.online_delay_ms,
      offlineDelayMs: settings.offline_delay_ms,
      lingerMs: settings.linger_ms,
    }),
    gatewayLeaseMs: settings.gateway_lease_ms,
    flushMs: settings.flush_ms,
    pacedAbove: settings.paced_above,
    queuedAbove: settings.queued_above,
    polledAbove: settings.polled_above,
    paceMsMax: settings.pace_ms_max,
    watchLimit: settings.watch_limit,
    rules: Object.freeze({ hiddenAs: settings.hidden_as, defaultVisibility: settings.default_visibility }),
    framesPerSecond: settings.frames_per_second,
    sessionsPerUser: settings.sessions_per_user,
    pollBurst: settings.poll_burst,
    pollEveryMs: settings.poll_every_ms,
    writeBurst: settings.write_burst,
    writeEveryMs: settings.write_every_ms,
    otlpEndpoint: settings.otlp_endpoint,
    traceOneIn: settings.trace_one_in,
    metricsOpen: settings.metrics_open,
    drainMs: settings.drain_ms,
    logLevel: settings.log_level,
  })
}

export interface ConfigWarning {
  detail: string
  mend: string
}

/** What a valid configuration leaves open. It does not stop the start. */
export function warningsAbout({ jwksUrl, jwtAudience, jwtIssuer }: Config): ConfigWarning[] {
  if (jwksUrl === null || jwtAudience.length > 0 || jwtIssuer.length > 0) return []
  const detail =
    'jwks_url is set without jwt_audience and jwt_issuer, so tokens that its publisher signed for other apps are accepted'
  return [{ detail, mend: 'set at least one of the two' }]
}

/** The value of a setting as text; "(not set)" if there is none. */
export function describeValue({ secret, type }: Setting<unknown>, value: unknown): string {
  const text = Array.isArray(value) ? value.join(',') : String(value)
  const isSet = text !== '' && (value !== null || type.parse('null') === null)
  if (!isSet) return '(not set)'
  if (secret) return '(set)'
  return typeof value === 'boolean' ? (value ? 'on' : 'off') : withoutCredentials(text)
}

/** Hides everything before an @ except the scheme, also in a malformed URL, and all after a question mark. */
function withoutCredentials(text: string): string {
  return text.replace(/^([a-z-]+:\/{0,2})?.*@/is, '$1***@').replace(/\?.+/s, '?***')
}
