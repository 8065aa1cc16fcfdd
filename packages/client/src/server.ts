// `@greendot/client/server`, for the app's backend in Node, Bun or Deno: mints the tokens its users connect
// with, keeps their contacts, and asks and says whatever a server key may. Never for a browser: whoever
// has the server key sees everybody.
import { ambientRuntime } from './platform.ts'
import { type Backend, createBackend } from './server/backend.ts'
import { createCall } from './server/call.ts'
import { createMint, type Mint, mintForDev } from './server/token.ts'

export type {
  Audience,
  CustomStatus,
  Explanation,
  OwnPresence,
  PersonData,
  Platform,
  Presence,
  Session,
  Settings,
  Stats,
  Status,
} from './server/api.ts'
export type { Backend, Eyes, People, SettingsChange, StatsHistory } from './server/backend.ts'
export { type BackendErrorCode, GreendotError } from './server/error.ts'
export type { TokenOptions } from './server/token.ts'
export type { AvailabilityChoice, CustomStatusInput, Expiring, InstantInput } from './types.ts'

export interface BackendOptions {
  /** Where the server is, like `http://127.0.0.1:4400`. */
  url: string | URL
  /** One of the server's `server_keys`; `dev` in dev mode. */
  serverKey: string
  /** The server's `jwt_secret`, to mint tokens. In dev mode it is not needed. */
  jwtSecret?: string | undefined
  /** How long a call may take, with everything that is tried again: 10 seconds, unless said. */
  timeoutMs?: number
  /** How often a call is tried again that the server put off or did not answer: 3 times, unless said. */
  retriesMax?: number
}

const TIMEOUT_MS = 10_000
const RETRIES_MAX = 3
const DEV_SERVER_KEY = 'dev'

export function greendot(options: BackendOptions): Backend {
  const { url, serverKey, timeoutMs = TIMEOUT_MS, retriesMax = RETRIES_MAX } = options
  // From environment variables that are not set, most of the time.
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

function mintOf({ serverKey, jwtSecret }: BackendOptions, now: () => number): Mint {
  if (jwtSecret !== undefined) return createMint(jwtSecret, now)
  if (serverKey === DEV_SERVER_KEY) return mintForDev
  return async () => {
    throw new TypeError('tokens are minted with the jwt_secret of the server: pass it as jwtSecret')
  }
}
