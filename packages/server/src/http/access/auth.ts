// Authentication: a token becomes a user, the backend of the app, or a refusal. WebSocket, HTTP,
// server-sent events and gRPC all use it. Nothing is trusted before its signature is checked, and no bad token makes
// this throw.
import { timingSafeEqual } from 'node:crypto'
import { isId } from '@greendot/protocol'
import type { JWTPayload } from 'jose'
import type { Clock } from '../../platform/clock.ts'
import type { Config } from '../../platform/config/config.ts'
import { TOKEN_REFUSED } from '../../presence/people/disconnects.ts'
import { createHs256 } from './hs256.ts'
import { type Refusal, refused } from './refusal.ts'
import type { RejectionReason } from './rejection-log.ts'
import type { VerifySigned } from './signed-tokens.ts'

export type { Refusal }
export type Caller =
  | {
      kind: 'user'
      userId: string
      /** Null for tokens that never expire, which only dev mode has. */
      expiresAt: number | null
      /** Null for tokens that do not say so. */
      issuedAt: number | null
    }
  | { kind: 'server' }

export interface Authenticator {
  /** Synchronous where nothing must be fetched or computed by another thread. */
  authenticate(token: string | null): Caller | Refusal | Promise<Caller | Refusal>
}

export type AuthConfig = Pick<
  Config,
  'dev' | 'jwtSecret' | 'jwksUrl' | 'jwtAudience' | 'jwtIssuer' | 'serverKeys'
>

const TOKEN_CHARS_MAX = 8 * 1024
const DEV_SERVER_KEY = 'dev'
const DEV_USER_PREFIX = 'dev:'

const REVOKED: Refusal = {
  kind: 'refused',
  reason: 'issued before a disconnect',
  ...TOKEN_REFUSED,
}

export function createAuthenticator(
  config: AuthConfig,
  clock: Pick<Clock, 'now'>,
  onRefused: (reason: RejectionReason) => void = () => {},
  isRevoked: (userId: string, issuedAt: number | null) => boolean = () => false,
): Authenticator {
  const checksSigned = config.jwtSecret !== null || config.jwksUrl !== null
  const loadVerify = async () => (await import('./signed-tokens.ts')).createVerifySigned(config)
  // With a secret it is loaded for the first token that is not good: its library takes 2 MB.
  let loading: Promise<VerifySigned> | null = checksSigned && config.jwtSecret === null ? loadVerify() : null
  const verifyHs256 = config.jwtSecret === null ? null : createHs256(config.jwtSecret, config)
  const serverKeyDigests = config.serverKeys.map(digest)

  // Digests have equal lengths and the loop has no early exit, so timing reveals nothing about the keys.
  function isServerKey(token: string): boolean {
    const tokenDigest = digest(token)
    let found = false
    for (const keyDigest of serverKeyDigests) found = timingSafeEqual(keyDigest, tokenDigest) || found
    return found
  }

  async function authenticateJwt(token: string): Promise<Caller | Refusal> {
    if (!checksSigned)
      return refused(
        'no way to check signed tokens',
        'This server checks no signed tokens: it has no jwt_secret or jwks_url',
      )
    loading ??= loadVerify()
    const verify = await loading
    const outcome = await verify(token, new Date(clock.now()))
    return outcome.ok ? callerOf(outcome.claims) : outcome.refusal
  }

  function decide(token: string | null): Caller | Refusal | Promise<Caller | Refusal> {
    if (!token) return refused('no token', 'A token is needed: send Authorization: Bearer <token>')
    if (token.length > TOKEN_CHARS_MAX)
      return refused('too long', `The token is longer than ${TOKEN_CHARS_MAX} characters`)
    if (serverKeyDigests.length > 0 && isServerKey(token)) return { kind: 'server' }
    if (config.dev && token === DEV_SERVER_KEY) return { kind: 'server' }
    if (config.dev && token.startsWith(DEV_USER_PREFIX)) return devUser(token.slice(DEV_USER_PREFIX.length))
    const claims = verifyHs256?.(token, clock.now())
    return claims ? callerOf(claims) : authenticateJwt(token)
  }

  function reported(decided: Caller | Refusal): Caller | Refusal {
    const isOld = decided.kind === 'user' && isRevoked(decided.userId, decided.issuedAt)
    const outcome = isOld ? REVOKED : decided
    if (outcome.kind === 'refused') onRefused(outcome.reason)
    return outcome
  }

  return {
    authenticate(token) {
      const outcome = decide(token)
      return outcome instanceof Promise ? outcome.then(reported) : reported(outcome)
    },
  }
}

/**
 * The token of a request: the Authorization header, or where a query is given, its `token`
 * parameter. Pass the query only where browsers cannot set headers: WebSocket and server-sent events.
 */
export function bearerToken(headers: Headers, query?: URLSearchParams): string | null {
  return tokenInHeader(headers.get('authorization')) ?? query?.get('token') ?? null
}

/** The token in an Authorization header, or in the metadata of that name. */
export function tokenInHeader(authorization: string | null): string | null {
  return /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1] ?? null
}

function devUser(userId: string): Caller | Refusal {
  if (!isId(userId)) return refused('sub is not a valid user id', 'What follows dev: is not a valid user id')
  return { kind: 'user', userId, expiresAt: null, issuedAt: null }
}

function callerOf(claims: Pick<JWTPayload, 'sub' | 'exp' | 'iat'>): Caller | Refusal {
  if (!isId(claims.sub))
    return refused('sub is not a valid user id', 'The sub of the token is not a valid user id')
  // JSON allows anything in its place. What is no instant does not say when the token was issued.
  const issuedAt = Number.isFinite(claims.iat) ? Math.floor(claims.iat! * 1000) : null
  return { kind: 'user', userId: claims.sub, expiresAt: expiryOf(claims), issuedAt }
}

function expiryOf(claims: Pick<JWTPayload, 'exp'>): number {
  // The verifier requires `exp`, but JSON allows numbers that are no valid instant.
  return Math.min(Math.floor((claims.exp ?? 0) * 1000), Number.MAX_SAFE_INTEGER)
}

function digest(text: string): Buffer {
  return Bun.CryptoHasher.hash('sha256', text) as Buffer
}
