// Authentication: a token becomes a user, the backend of the app, or a refusal. WebSocket, HTTP,
// server-sent events and gRPC all use it. Nothing is trusted before its signature is checked, and no bad token makes
// this throw.
import { timingSafeEqual } from 'node:crypto'
import { type Failure, isId } from '@greendot/protocol'
import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose'
import type { Clock } from '../../platform/clock.ts'
import type { Config } from '../../platform/config/config.ts'
import { TOKEN_REFUSED } from '../../presence/people/disconnects.ts'
import { createHs256 } from './hs256.ts'
import type { RejectionReason } from './rejection-log.ts'

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
/** `reason` is for the log, `message` for the client. Neither has anything from the token. */
export type Refusal = { kind: 'refused'; reason: RejectionReason } & Failure

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

// No symmetric algorithm: anyone with the public key could sign with it.
const KEY_SET_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
]

const REVOKED: Refusal = {
  kind: 'refused',
  reason: 'issued before a disconnect',
  ...TOKEN_REFUSED,
}

type Verify = (token: string, currentDate: Date) => Promise<JWTPayload>

export function createAuthenticator(
  config: AuthConfig,
  clock: Pick<Clock, 'now'>,
  onRefused: (reason: RejectionReason) => void = () => {},
  isRevoked: (userId: string, issuedAt: number | null) => boolean = () => false,
): Authenticator {
  const verify = createVerify(config)
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
    if (verify === null)
      return refused(
        'no way to check signed tokens',
        'This server checks no signed tokens: it has no jwt_secret or jwks_url',
      )
    let claims: JWTPayload
    try {
      claims = await verify(token, new Date(clock.now()))
    } catch (error) {
      return refusalFor(error)
    }
    return callerOf(claims)
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

function createVerify({ jwtSecret, jwksUrl, jwtAudience, jwtIssuer }: AuthConfig): Verify | null {
  const required = {
    requiredClaims: ['sub', 'exp'],
    ...(jwtAudience.length === 0 ? {} : { audience: [...jwtAudience] }),
    ...(jwtIssuer.length === 0 ? {} : { issuer: [...jwtIssuer] }),
  }
  if (jwtSecret !== null) {
    let imported: Promise<CryptoKey> | null = null
    return async (token, currentDate) => {
      imported ??= importSecret(jwtSecret)
      const options = { ...required, algorithms: ['HS256'], currentDate }
      return (await jwtVerify(token, await imported, options)).payload
    }
  }
  if (jwksUrl !== null) {
    const getKey = keysFrom(jwksUrl)
    return async (token, currentDate) => {
      const options = { ...required, algorithms: KEY_SET_ALGORITHMS, currentDate }
      return (await jwtVerify(token, getKey, options)).payload
    }
  }
  return null
}

function importSecret(secret: string): Promise<CryptoKey> {
  const bytes = new TextEncoder().encode(secret)
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
}

/** The key set could not be fetched or read, so the token could not be checked. */
class KeySetUnreachable extends Error {}

function keysFrom(jwksUrl: string): JWTVerifyGetKey {
  // Fetches at most twice a minute for unknown keys, whatever tokens arrive.
  const remote = createRemoteJWKSet(new URL(jwksUrl))
  return async (header, token) => {
    try {
      return await remote(header, token)
    } catch (error) {
      const isAboutToken =
        error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys
      throw isAboutToken ? error : new KeySetUnreachable('no key set', { cause: error })
    }
  }
}

function refusalFor(error: unknown): Refusal {
  if (error instanceof errors.JWTExpired) {
    const message = 'The token has expired: get a new one'
    return { kind: 'refused', reason: 'expired', code: 'token_expired', message }
  }
  if (error instanceof KeySetUnreachable) {
    const message = 'Tokens cannot be checked now, because the key set cannot be fetched: try again'
    return { kind: 'refused', reason: 'key set cannot be fetched', code: 'unavailable', message }
  }
  if (error instanceof errors.JWTClaimValidationFailed) return claimRefusal(error)
  if (error instanceof errors.JOSEAlgNotAllowed)
    return refused('algorithm not allowed', 'The token is signed with an algorithm not allowed here')
  return refused(formReason(error), 'The token is not a JWT signed for this server')
}

const CLAIM_REASONS: Readonly<Record<string, { missing: RejectionReason; wrong: RejectionReason }>> = {
  sub: { missing: 'no sub', wrong: 'invalid claim' },
  exp: { missing: 'no exp', wrong: 'invalid claim' },
  nbf: { missing: 'invalid claim', wrong: 'not valid yet' },
  aud: { missing: 'no audience', wrong: 'wrong audience' },
  iss: { missing: 'no issuer', wrong: 'wrong issuer' },
}

function claimRefusal({ claim, reason }: errors.JWTClaimValidationFailed): Refusal {
  const reasons = CLAIM_REASONS[claim]
  const isMissing = reason === 'missing'
  const isOfAnother = claim === 'aud' || claim === 'iss'
  const what = isMissing ? 'missing' : isOfAnother ? 'not one that this server accepts' : 'not valid now'
  return refused(
    reasons?.[isMissing ? 'missing' : 'wrong'] ?? 'invalid claim',
    `The ${claim} of the token is ${what}`,
  )
}

/** Told apart for the log only: the client is not told how near a forged token came. */
function formReason(error: unknown): RejectionReason {
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'bad signature'
  const isAboutKey =
    error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys
  return isAboutKey ? 'signed with an unknown key' : 'not a JWT and not a server key'
}

function refused(reason: RejectionReason, message: string): Refusal {
  return { kind: 'refused', reason, code: 'unauthorized', message }
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
