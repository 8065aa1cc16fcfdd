// A fast check of tokens signed with the shared secret, because every connection needs it: one HMAC and no
// promise, where the library needs a thread. It only accepts, and only tokens without unusual headers or
// claims. Everything else goes to the library, which decides and names the error.
import { timingSafeEqual } from 'node:crypto'
import type { Config } from '../../platform/config/config.ts'

export interface Hs256Claims {
  sub: string
  /** Unix seconds. */
  exp: number
  iat?: number
}

/** Known good headers. Issuers use one or two; the limit keeps memory bounded. */
const HEADERS_MAX = 16
const TOKEN = /^([\w-]+)\.([\w-]+)\.([\w-]{43})$/

/** Null when the library has to decide. */
export type Hs256 = (token: string, now: number) => Hs256Claims | null

export type Accepted = Pick<Config, 'jwtAudience' | 'jwtIssuer'>

export function createHs256(secret: string, { jwtAudience, jwtIssuer }: Accepted): Hs256 {
  const keyed = new Bun.CryptoHasher('sha256', secret)
  const plainHeaders = new Set<string>()

  function isPlainHeader(header: string): boolean {
    if (plainHeaders.has(header)) return true
    const { alg, ...rest } = decode(header)
    const isPlain = alg === 'HS256' && Object.keys(rest).every((name) => name === 'typ')
    if (isPlain && plainHeaders.size < HEADERS_MAX) plainHeaders.add(header)
    return isPlain
  }

  return (token, now) => {
    const [, header, payload, signature] = TOKEN.exec(token) ?? []
    if (header === undefined || payload === undefined || signature === undefined) return null
    const digest = keyed
      .copy()
      .update(token.slice(0, -signature.length - 1))
      .digest()
    if (!timingSafeEqual(digest, Buffer.from(signature, 'base64url'))) return null
    // The signature is valid from here on: only now is anything parsed or remembered.
    if (!isPlainHeader(header)) return null
    const { sub, exp, nbf, iat, aud, iss } = decode(payload)
    if (jwtAudience.length > 0 && ![aud].flat().some((one) => isOneOf(jwtAudience, one))) return null
    if (jwtIssuer.length > 0 && !isOneOf(jwtIssuer, iss)) return null
    if (nbf !== undefined || (iat !== undefined && typeof iat !== 'number')) return null
    if (typeof sub !== 'string' || typeof exp !== 'number' || exp <= Math.floor(now / 1000)) return null
    return iat === undefined ? { sub, exp } : { sub, exp, iat }
  }
}

const isOneOf = (accepted: readonly string[], claim: unknown): boolean =>
  typeof claim === 'string' && accepted.includes(claim)

function decode(part: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString())
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}
