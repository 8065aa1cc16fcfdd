// Rules between settings that are each valid by themselves. A rule returns one line that says what is wrong
// and how to fix it, and never repeats a secret.
import { isIPv4 } from 'node:net'
import { ROLES, type Settings } from './settings.ts'

type Rule = (settings: Settings) => string | null

const JWT_SECRET_BYTES_MIN = 32
const SERVER_KEY_CHARS_MIN = 16

const kafkaBesideRedis: Rule = ({ kafka_brokers: brokers, redis_url: redisUrl }) =>
  brokers.length > 0 && redisUrl === null
    ? 'kafka_brokers needs redis_url: the state of users is there, and Kafka carries what happens to them; ' +
      'set redis_url, or leave kafka_brokers out'
    : null

const sharedStateForMany: Rule = ({ redis_url: redisUrl, roles, workers, reuse_port: reusePort }) => {
  if (redisUrl !== null) return null
  if (workers > 1) return 'workers share their state through Redis; set redis_url, or leave workers out'
  if (reusePort) return 'processes that share a port share their state through Redis; set redis_url'
  return roles.length < ROLES.length
    ? 'a process without all of gateway, presence and fanout needs redis_url to share state with the others; ' +
        'set it, or run "greendot serve" without roles'
    : null
}

const ttlOutlivesInterval: Rule = ({ heartbeat_ttl_ms: ttlMs, heartbeat_interval_ms: intervalMs }) =>
  ttlMs > intervalMs
    ? null
    : `heartbeat_ttl_ms (${ttlMs}) must be larger than heartbeat_interval_ms (${intervalMs}), ` +
      'or every session is lost between two heartbeats; twice the interval is a good value'

const devStaysHome: Rule = ({ dev, host }) =>
  dev && !isLoopback(host)
    ? `dev accepts any user without a secret, so it is refused on ${host}; ` +
      'use host 127.0.0.1, or turn dev off and set jwt_secret'
    : null

const oneKindOfToken: Rule = (settings) =>
  settings.jwt_secret !== null && settings.jwks_url !== null
    ? 'jwt_secret and jwks_url are both set, but only one can check tokens; remove one'
    : null

const strongSecret: Rule = ({ jwt_secret: secret }) =>
  secret !== null && Buffer.byteLength(secret) < JWT_SECRET_BYTES_MIN
    ? `jwt_secret has fewer than ${JWT_SECRET_BYTES_MIN} bytes, which can be guessed from any one token; ` +
      'make one with: openssl rand -base64 48'
    : null

const strongServerKeys: Rule = ({ dev, server_keys: keys }) =>
  !dev && keys.some((key) => key.length < SERVER_KEY_CHARS_MIN)
    ? `server_keys has a key of fewer than ${SERVER_KEY_CHARS_MIN} characters, which can be guessed; ` +
      'make one with: openssl rand -hex 24'
    : null

const someAuth: Rule = (settings) =>
  settings.dev || settings.jwt_secret !== null || settings.jwks_url !== null
    ? null
    : 'there is no way to check user tokens; set jwt_secret or jwks_url, or on your own machine use --dev'

const ALWAYS = [
  kafkaBesideRedis,
  sharedStateForMany,
  ttlOutlivesInterval,
  devStaysHome,
  oneKindOfToken,
  strongSecret,
  strongServerKeys,
]

/** The first broken rule, or null. The last rule is only for commands that start a server. */
export function brokenRule(settings: Settings, auth: 'required' | 'optional'): string | null {
  const rules = auth === 'required' ? [...ALWAYS, someAuth] : ALWAYS
  for (const rule of rules) {
    const problem = rule(settings)
    if (problem !== null) return problem
  }
  return null
}

export function isLoopback(host: string): boolean {
  return (
    host === 'localhost' || host === '::1' || host === '[::1]' || (isIPv4(host) && host.startsWith('127.'))
  )
}
