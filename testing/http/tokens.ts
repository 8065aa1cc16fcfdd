// Signed tokens for tests of servers that check them, made by hand so that they can be wrong in ways a
// library would refuse.
import { createHmac } from 'node:crypto'

export const SECRET = 'a shared secret of more than 32 bytes'
export const SERVER_KEY = 'a-server-key-of-some-length'

/** Settings of a server that is not in development mode. */
export const securedSettings = { dev: false, jwt_secret: SECRET, server_keys: SERVER_KEY }

const encode = (part: unknown) => Buffer.from(JSON.stringify(part)).toString('base64url')

export interface TokenOptions {
  secret?: string
  header?: object
  hash?: string
}

/** A JWT with exactly these claims. */
export function sign(claims: unknown, options: TokenOptions = {}): string {
  const { secret = SECRET, header = { alg: 'HS256', typ: 'JWT' }, hash = 'sha256' } = options
  const signed = `${encode(header)}.${encode(claims)}`
  return `${signed}.${createHmac(hash, secret).update(signed).digest('base64url')}`
}

export const unsigned = (claims: unknown, alg = 'none') => `${encode({ alg })}.${encode(claims)}.`

export const secondsFromNow = (seconds: number) => Math.floor(Date.now() / 1000) + seconds

/** A good token of this user for an hour. */
export const userToken = (userId: string) => sign({ sub: userId, exp: secondsFromNow(3600) })
