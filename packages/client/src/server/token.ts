// User tokens: a JWT with `sub` and `exp`, signed with HS256 and the `jwt_secret` of the server. Uses only
// WebCrypto.
import { isId } from '@greendot/protocol'
import { GreendotError } from './error.ts'

export interface TokenOptions {
  /** An hour by default. Clients ask for a new token for every connection. */
  ttlMs?: number
}

export type Mint = (userId: string, options?: TokenOptions) => Promise<string>

const TTL_MS = 3_600_000
/** The server's minimum for its `jwt_secret`. */
const SECRET_BYTES_MIN = 32

/** Claims that the server asks for, where it asks for any. */
export interface TokenClaims {
  aud?: string
  iss?: string
}

export function createMint(secret: string, now: () => number, extra: TokenClaims = {}): Mint {
  const bytes = new TextEncoder().encode(secret)
  if (bytes.length < SECRET_BYTES_MIN) throw new TypeError(`jwtSecret has ${SECRET_BYTES_MIN} bytes or more`)
  let key: Promise<CryptoKey> | null = null

  return async (userId, { ttlMs = TTL_MS } = {}) => {
    if (!isId(userId)) throw notAnId()
    if (!(ttlMs >= 1000 && ttlMs < Number.POSITIVE_INFINITY)) throw new RangeError('ttlMs is 1000 or more')
    const issuedAt = now()
    const claims = { ...extra, sub: userId, iat: seconds(issuedAt), exp: seconds(issuedAt + ttlMs) }
    const signed = `${encoded({ alg: 'HS256', typ: 'JWT' })}.${encoded(claims)}`
    key ??= crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
    const signature = await crypto.subtle.sign('HMAC', await key, new TextEncoder().encode(signed))
    return `${signed}.${base64url(new Uint8Array(signature))}`
  }
}

/** For a server in dev mode, which accepts `dev:<user>` without a signature. */
export const mintForDev: Mint = async (userId) => {
  if (!isId(userId)) throw notAnId()
  return `dev:${userId}`
}

function notAnId(): GreendotError {
  const detail = 'a user id is 1 to 128 bytes without control characters, white space or commas'
  return new GreendotError({ code: 'invalid_id', status: 400, detail })
}

const seconds = (at: number): number => Math.floor(at / 1000)

const encoded = (part: object): string => base64url(new TextEncoder().encode(JSON.stringify(part)))

function base64url(bytes: Uint8Array): string {
  const text = btoa(String.fromCharCode(...bytes))
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}
