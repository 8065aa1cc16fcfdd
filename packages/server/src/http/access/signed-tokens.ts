// Tokens that a library checks: those of a key set, and those of the secret that hs256.ts did not accept, to tell what is
// wrong with them. A file apart from auth.ts, because the library takes memory that most servers need not spend.
import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose'
import type { Config } from '../../platform/config/config.ts'
import { type Refusal, refused } from './refusal.ts'
import type { RejectionReason } from './rejection-log.ts'

type SignedConfig = Pick<Config, 'jwtSecret' | 'jwksUrl' | 'jwtAudience' | 'jwtIssuer'>
type Outcome = { ok: true; claims: JWTPayload } | { ok: false; refusal: Refusal }
/** Never throws. */
export type VerifySigned = (token: string, currentDate: Date) => Promise<Outcome>
type Verify = (token: string, currentDate: Date) => Promise<JWTPayload>

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

export function createVerifySigned(config: SignedConfig): VerifySigned {
  const verify = createVerify(config)
  return async (token, currentDate) => {
    try {
      return { ok: true, claims: await verify(token, currentDate) }
    } catch (error) {
      return { ok: false, refusal: refusalFor(error) }
    }
  }
}

function createVerify({ jwtSecret, jwksUrl, jwtAudience, jwtIssuer }: SignedConfig): Verify {
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
  if (jwksUrl === null) throw new Error('neither a secret nor a key set is configured')
  const getKey = keysFrom(jwksUrl)
  return async (token, currentDate) => {
    const options = { ...required, algorithms: KEY_SET_ALGORITHMS, currentDate }
    return (await jwtVerify(token, getKey, options)).payload
  }
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
