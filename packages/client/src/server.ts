// `@greendot/client/server`, for the app's backend in Node, Bun or Deno: mints user tokens, manages contacts
// and settings, and queries presence. Never for browsers: a server key can read every user.
import { ambientRuntime } from './platform.ts'
import { type Backend, createBackend } from './server/backend.ts'
import { createCall } from './server/call.ts'
import { createMint, type Mint, mintForDev } from './server/token.ts'

export type {
  AllHistory,
  Audience,
  CustomStatus,
  Explanation,
  OwnPresence,
  PersonData,
  Platform,
  Presence,
  RecordedBatch,
  Session,
  Settings,
  Stats,
  Status,
  UserHistory,
  Webhook,
} from './server/api.ts'
export type {
  Backend,
  DisconnectOptions,
  HeartbeatBatch,
  HistorySpan,
  NewWebhook,
  QueryResult,
  SettingsChange,
  StatsHistory,
  ViewerOptions,
  WebhookChange,
  WebhookFailures,
  WebhookTest,
} from './server/backend.ts'
export { type BackendErrorCode, GreendotError } from './server/error.ts'
export type { TokenOptions } from './server/token.ts'
export type { AvailabilityChoice, CustomStatusInput, Expiring, InstantInput } from './types.ts'

export interface BackendOptions {
  /** The server, like `http://127.0.0.1:4400`. */
  url: string | URL
  /** One of the server's `server_keys`; `dev` in dev mode. */
  serverKey: string
  /** The server's `jwt_secret`, to mint tokens. In dev mode it is not needed. */
  jwtSecret?: string | undefined
  /** One of the server's `jwt_audience`, where it is set. */
  jwtAudience?: string | undefined
  /** One of the server's `jwt_issuer`, where it is set. */
  jwtIssuer?: string | undefined
  /** Limit for a call, retries and pauses included: 10 seconds by default. */
  timeoutMs?: number
  /** How often a call that was put off or not answered is retried: 3 times by default. */
  retriesMax?: number
}

const TIMEOUT_MS = 10_000
const RETRIES_MAX = 3
const DEV_SERVER_KEY = 'dev'

export function greendot(options: BackendOptions): Backend {
  const { url, serverKey, timeoutMs = TIMEOUT_MS, retriesMax = RETRIES_MAX } = options
  // Often the value of an environment variable that is not set.
  if (!serverKey) throw new TypeError('serverKey is missing: one of the server_keys of the server')
  const baseUrl = baseOf(url)
  const runtime = ambientRuntime()
  const call = createCall({ baseUrl, serverKey, timeoutMs, retriesMax, runtime })
  return createBackend(call, mintOf(options, runtime.now))
}

function baseOf(url: string | URL): string {
  if (!URL.canParse(url)) throw new TypeError(`url is where the server is, not ${url}`)
  const { protocol, origin, pathname } = new URL(url)
  if (!/^https?:$/.test(protocol)) throw new TypeError(`url begins with http: or https:, not ${protocol}`)
  return origin + pathname.replace(/\/+$/, '')
}

function mintOf(options: BackendOptions, now: () => number): Mint {
  const { serverKey, jwtSecret, jwtAudience: aud, jwtIssuer: iss } = options
  const claims = { ...(aud === undefined ? {} : { aud }), ...(iss === undefined ? {} : { iss }) }
  if (jwtSecret !== undefined) return createMint(jwtSecret, now, claims)
  if (serverKey === DEV_SERVER_KEY) return mintForDev
  return async () => {
    throw new TypeError('tokens are minted with the jwt_secret of the server: pass it as jwtSecret')
  }
}
